import { type Parts } from "./unicode.js";
/** What a policy asks of the characters of a word, as Python's strings answer it. */
export declare class Letters {
    private readonly kinds;
    constructor(part: Parts);
    hasLetter(word: string): boolean;
    hasDigit(word: string): boolean;
    /** Whether a word is made of digits, of any script. */
    isDigits(word: string): boolean;
    /** Whether a word has a small letter, and no capital. */
    isSmall(word: string): boolean;
    /** Whether a word has a capital, and no small letter. */
    isUpper(word: string): boolean;
    /** Whether a word of several characters begins with a letter; and with a capital. */
    startOf(word: string): {
        isLetter: boolean;
        isCapital: boolean;
    };
    private some;
}
