/** A surrogate in another language, and the original in its place. */
export interface Translation {
    readonly sent: string;
    readonly original: string;
    /** Whether it begins with a capital that it has not inside a sentence. */
    readonly isCapitalized: boolean;
}
/** List what a weekday or month may become: `list_translations` of `mondegreen.prompts.calendar`. */
export declare function translations(sent: string, original: string): Translation[];
