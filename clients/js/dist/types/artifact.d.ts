import type { Lists } from "./text.js";
import type { Parts } from "./unicode.js";
/** What is promised, in the fields of `Guarantee.to_dict()` of the Python package. */
export interface Guarantee {
    readonly mechanism: string;
    readonly epsilon: number;
    readonly certified: number | null;
    readonly metric: string;
    readonly strata: readonly string[];
    readonly conditions: readonly string[];
    readonly scale: Readonly<Record<string, number>>;
    readonly ordinary_text: Readonly<Record<string, unknown>>;
    readonly noise: string;
    readonly is_private: boolean;
    readonly [field: string]: unknown;
}
/** One epsilon of an artifact. */
export interface Setting {
    readonly epsilon: number;
    /** Integers over 2^62, of each level of the tree, words first. */
    readonly weights?: readonly string[];
    /** Of 2^64: how often a bit flips, under brr. */
    readonly threshold?: string;
    /** SHA-256 of all that shapes a draw, for keyed releases. */
    readonly digest: string;
    /** Share of words that `adversary` recovers; null where nobody has computed it. */
    readonly reader: number | null;
    readonly guarantee: Guarantee;
    readonly summary: string;
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
