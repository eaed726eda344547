import type { Output, Policy } from "./policy.js";
import type { Tokenizer } from "./text.js";
/** A surrogate that was given out, and the word that it stands for in its first spelling. */
export interface Given {
    readonly original: string;
    readonly output: Output;
}
/**
 * One surrogate for each sensitive word of one conversation, and the way back.
 *
 * The law is that of `Surrogates` of `mondegreen.policy.scope`, for a word's own group.
 */
export declare class Surrogates {
    private readonly policy;
    private readonly tokenizer;
    private readonly digest;
    private readonly key;
    private readonly outputs;
    private readonly originals;
    private readonly members;
    private readonly public;
    constructor(policy: Policy, tokenizer: Tokenizer, digest: string, key: Uint8Array, barred: readonly string[]);
    /** The surrogate of a sensitive word. */
    hide(word: string, symbol: number): Output;
    find(word: string): Given | undefined;
    /** Whether a word was declared public, in whatever case. */
    isPublic(word: string): boolean;
    private draw;
    private form;
    /** Whether a form is public, an ordinary word's, or given away already. */
    private isBarred;
}
