/** A hidden date as it may be written otherwise, and the original in the same notation. */
export interface Notation {
    readonly sent: string;
    readonly original: string;
    /** What the notation leaves out of the date. */
    readonly missing: Missing;
}
/** Where only the year is left, it is the rest. */
export type Missing = "" | "year" | "day" | "rest";
/** List other notations of a date: `list_notations` of `mondegreen.prompts.dates`. */
export declare function notations(sent: string, original: string): Notation[];
/** The number of a month by its English name, full or short; 0 for others. */
export declare function findMonth(name: string): number;
