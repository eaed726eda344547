/** A format: its name, how many tokens have it, and the token of a number. */
export interface Shape {
    readonly name: string;
    readonly size: number;
    readonly print: (number: number) => string;
}
/** Patterns of dates and times, and the names of their formats; the first one counts. */
export declare const WRITTEN_DATES: (readonly [string, string])[];
/** Whether a word is a date or a time, valid or not. */
export declare function isWrittenDate(word: string): boolean;
/** The formats, in the order of their symbols: `SHAPES` of `mondegreen.policy.shapes`. */
export declare const SHAPES: readonly Shape[];
/** The place of each format, by its name. */
export declare const PLACES: ReadonlyMap<string, number>;
/** Name the format of a run of ASCII digits; in a date, a slash touches it. */
export declare function numberShape(run: string, inDate: boolean): string;
/** Name the format of a token with digits and other characters. */
export declare function mixedShape(folded: string): string;
