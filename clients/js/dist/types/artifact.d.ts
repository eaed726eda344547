import { type Protection } from "./protection.js";
import type { Lists } from "./text.js";
import type { Parts } from "./unicode.js";
/**
 * What is promised, in the fields of `Guarantee.to_dict()` of the Python package.
 *
 * Without a digest, only what this client checks or computes: fields that are sentences, names or
 * measurements of the artifact are missing, and `disclosed` has names alone.
 */
export interface Guarantee {
    readonly mechanism: string;
    readonly epsilon: number;
    readonly certified: number | null;
    readonly metric: string;
    readonly certified_how?: string;
    readonly scale?: Readonly<Record<string, number>>;
    readonly hides_among: number | null;
    readonly disclosed: readonly string[];
    readonly conditions: readonly string[];
    readonly noise?: string;
    readonly noise_is_secret: boolean;
    readonly protection: Protection;
    readonly [field: string]: unknown;
}
/** A guarantee as an artifact has it, with all fields. */
export type Told = Required<Guarantee>;
/** The guarantee without what anybody may have written, and with the protection that was computed. */
export declare function checkedOf(guarantee: Told, word: Protection): Guarantee;
/** What was measured of a setting, in the fields of `Preview.to_dict()`; no guarantee. */
export interface Measured {
    /** Whose words these are. */
    readonly of: string;
    readonly words: number;
    /** Share of words that are unchanged. */
    readonly unchanged: number;
    /** Share that is unchanged or becomes a word of near meaning; null without vectors. */
    readonly near: number | null;
    /** Share that the `adversary` recovers; null where nobody has tried. */
    readonly recovered: number | null;
    /** Under a policy: share of words that are ordinary and shown; all others are of the rest. */
    readonly shown?: number;
    /**
     * Under a shipped policy: the least and the largest share of sensitive words that an attacker
     * with other texts of the same domain recovered, and in how many kinds of texts.
     */
    readonly in_domain?: readonly [number, number, number] | null;
}
/** One epsilon of an artifact. */
export interface Setting {
    readonly epsilon: number;
    /** Integers over 2^62, of each level of the tree, words first. */
    readonly weights?: readonly string[];
    /** Of 2^64: how often a bit flips, under brr. */
    readonly threshold?: string;
    /** Of 2^62: the weight of each symbol of a policy that comes out for another one. */
    readonly stray?: string;
    /** SHA-256 of all that shapes a draw, for keyed releases. */
    readonly digest: string;
    readonly guarantee: Told;
    readonly summary: string;
    readonly preview: Measured;
    /** The worst of what is proved and of what was measured, in one word. */
    readonly protection: Protection;
}
/** What an artifact says of a policy beside its words. */
export interface PolicyHeader {
    readonly rules: number;
    /** Number of ordinary words, which are the first. */
    readonly ordinary: number;
    /** Class, form and number of printed words of each group. */
    readonly groups: readonly (readonly [string, string, number])[];
    /** The group of unknown words of each form, and of unknown names. */
    readonly rest: Readonly<Record<string, number>>;
    readonly name: number;
    /** Words that are ordinary in addresses too. */
    readonly address: readonly string[];
    /** Ordinary words that each ending is joined to; behind others it is spelled out. */
    readonly hosts: Readonly<Record<string, readonly string[]>>;
}
export interface Header {
    readonly format: string;
    readonly mechanism: string;
    readonly space: {
        readonly name: string;
        readonly digest: string;
    };
    readonly public: Readonly<Record<string, string>>;
    readonly words: number;
    readonly policy?: PolicyHeader;
    readonly unicode: {
        readonly tokenizer: string;
        readonly lookup: string;
    };
    readonly text: Lists;
    readonly policies: Readonly<Record<string, string>>;
    readonly noise: {
        readonly fresh: string;
        readonly keyed: string;
    };
    readonly adversary: string;
    readonly settings: readonly Setting[];
    readonly sections: readonly (readonly [string, number])[];
}
/** An artifact that is whole, and asks for nothing that this client does not know. */
export interface Artifact {
    readonly header: Header;
    /** SHA-256 of all before it, in hex. */
    readonly digest: string;
    /** The words, each at its place. */
    readonly words: readonly string[];
    /** What is printed at each place: the word itself, unless it is never printed. */
    readonly printed: readonly string[];
    readonly part: Parts;
}
/** Read an artifact; one that is not whole, or has another digest, is refused. */
export declare function parse(bytes: Uint8Array, expected?: string): Artifact;
