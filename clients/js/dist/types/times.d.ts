/** `am` or `pm` as it stands behind a time; "" if it does not. */
export declare function findHalf(behind: string): string;
/** List other notations of a time, and the original in each: `list_times` of `mondegreen.prompts.times`. */
export declare function times(sent: string, original: string): Map<string, string>;
