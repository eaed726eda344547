/** A surrogate in another language, and the original in its place. */
export interface Translation {
    readonly sent: string;
    readonly original: string;
    /** Whether it begins with a capital that it has not inside a sentence. */
    readonly isCapitalized: boolean;
    /** What must stand before it, because it is another word too. */
    readonly before?: string;
}
export declare const MONTHS_SHORT: readonly (readonly string[])[];
/** List what a weekday or month may become: `list_translations` of `mondegreen.prompts.calendar`. */
export declare function translations(sent: string, original: string): Translation[];
/** List the short forms of a weekday or month: `list_short_forms` of `mondegreen.prompts.calendar`. */
export declare function shortForms(sent: string, original: string): Translation[];
/** Whether a word is the name of a month in one of the languages, or a short form. */
export declare function isMonthOfAny(word: string): boolean;
