import type { Output, Policy } from "./policy.js";
/** Between two words: nothing, or the 's of the first; the second would go on as part of it. */
export declare const TOUCHING: RegExp;
/** Prints released outputs of a policy: a function of them and of the structure. */
export declare class PolicyPrinter {
    private readonly policy;
    private readonly structure;
    /** Of each ending: the word that it stands for, and the ordinary words it is joined to. */
    private readonly endings;
    private readonly articles;
    /** Of each format of days, its rule. */
    private readonly days;
    constructor(policy: Policy, endings: Readonly<Record<string, string>>, structure: string, same: string);
    /** The text in pieces, `[structure, word, ..., structure]`. */
    print(given: readonly string[], outputs: readonly Output[]): string[];
    private word;
    /** The member that is printed as a day beside a month. */
    private dayOf;
    /** Print "a" or "an" as the sensitive word asks that is printed behind it. */
    private chooseArticle;
    /** Join an ending to a word that takes it; set apart what else would touch. */
    private joinEnding;
}
