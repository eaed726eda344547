/** A text of a record, or null, and where its value stands in the line. */
export interface Value {
    readonly start: number;
    readonly end: number;
    readonly text: string | null;
}
/** What one line of JSON Lines holds: its id, and its texts in order. */
export interface Found {
    readonly id: string | null;
    readonly values: readonly Value[];
}
/** Whether a line holds white space alone, as Python sees it. */
export declare function isBlank(line: string): boolean;
/**
 * Find the texts at one key of the object in a line, and the id at another.
 *
 * A text is a string, null, or each of a list of these. Whatever else is in the line is
 * checked to be JSON, as Python's parser does it, and left as it is.
 */
export declare function scan(line: string, column: string, idKey: string | null): Found;
