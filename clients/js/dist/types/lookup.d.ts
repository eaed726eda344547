import type { Policy } from "./policy.js";
import type { Tokenizer } from "./text.js";
import type { Parts } from "./unicode.js";
declare const NOWHERE: {
    starts: boolean;
    inAddress: boolean;
    inDate: boolean;
};
/** Whether a sentence ends at what stands between two words. */
export declare function endsSentence(gap: string): boolean;
/**
 * Turns the words of a text into symbols of a policy.
 *
 * The symbol of a word is a function of its own spelling and of the structure around it,
 * which passes in clear: `PolicyLookup` of `mondegreen.policy.lookup`.
 */
export declare class PolicyLookup {
    private readonly policy;
    private readonly tokenizer;
    private readonly letters;
    private readonly flags;
    /** Inside of sentences, four times the symbol of a word, and how it is written. */
    private readonly inside;
    private readonly start;
    constructor(policy: Policy, tokenizer: Tokenizer, part: Parts);
    /** Cut a text into words and structure. */
    cut(text: string): string[];
    /** The symbol of each word of a text that was cut. */
    codes(parts: readonly string[]): number[];
    /** Look up anew what a marked gap touches; gap i is behind word i, gap -1 before the first. */
    private recode;
    /** The symbol of one token, by its own spelling and what stands around it. */
    symbolOf(word: string, { starts, inAddress, inDate }: typeof NOWHERE): number;
    /** The symbol of the same word without marks; none that shows, but of a list. */
    private unmarked;
    /** The symbol of a word that is known under its folded form. */
    private listed;
    /** The symbol of a word with a capital where a name is likely. */
    private likelyName;
    /** The symbol of a token that no list has, by its shape. */
    private unknown;
    private caseOf;
    private shape;
}
export {};
