/** What a function gives for words met before. It is bounded, and holds no long word. */
export declare class Memo {
    private readonly codeOf;
    private readonly held;
    constructor(codeOf: (word: string) => number);
    get(word: string): number;
}
