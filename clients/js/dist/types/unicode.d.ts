/** Classes of characters, as the tokenizer sees them. */
export declare const OTHER: 0, LETTER: 1, MARK: 2, DIGIT: 3, FORMAT: 4;
/** Any part of an artifact, by its name. */
export type Parts = (name: string) => Uint8Array;
/** What an artifact knows of Unicode. Nothing is asked of the engine. */
export declare class Unicode {
    /** The class of every code point. */
    readonly classes: Uint8Array;
    private readonly removed;
    private readonly combining;
    private readonly sigma;
    private readonly parts;
    private readonly small;
    private readonly whole;
    constructor(part: Parts);
    /** NFKC, no format characters, small letters, and NFKC again. */
    folded(text: string): string;
    /** Small letters, and no more. */
    smallLetters(text: string): string;
    /** Without combining marks: the letters that are left. */
    withoutMarks(text: string): string;
    private lowered;
    /** Whether a sigma ends a word: a letter with case before it, and none behind it. */
    private isFinal;
    private composed;
    private decomposed;
    private partsOf;
    private pair;
}
/** Values as runs, one for each code point or for each place of another table. */
export declare function runs(bytes: Uint8Array): Uint8Array;
export declare function runs(bytes: Uint8Array, found: Uint32Array): Uint32Array;
