import { type Missing } from "./dates.js";
/** What was sent, what it stands for, and what must stand beside it, or must not. */
export interface Unit {
    readonly sent: string;
    readonly original: string;
    readonly before: string;
    readonly after: string;
    readonly isAddress: boolean;
    readonly missing: Missing;
    /** A surrogate that stands somewhere before it. */
    readonly near: string;
    /** Whether it is another way to write what was sent; it may be written like what was sent of something else. */
    readonly isRewritten: boolean;
    /** Of a weekday or month in another language: as inside a sentence or in capitals, or as at the beginning of one. */
    readonly translated: "" | "plain" | "capital";
    /** Whether an address names no server by itself, such as a handle: it is never put into a link. */
    readonly isText: boolean;
    /** Whether it is a part of a longer number, and none beside other digits. */
    readonly isPart: boolean;
}
/** A word of an answer. Scripts without spaces separate words of other scripts. */
export declare const WORD: RegExp;
/** The name of the format of a word that was replaced; "" for a name; null for an ordinary word. */
export type Format = string | null;
/** The rest of a label behind a word: of a host, or of a user before a host. */
export declare const LABEL = "(?:(?![0-9A-Za-z])[-_+%~0-9A-Za-z\\u00a1-\\u1fff\\u2070-\\u2fff\\u3040-\\uff00\\uff10-\\uff19\\uff21-\\u{10ffff}][-_+%~0-9A-Za-z\\u00a1-\\u1fff\\u2070-\\u2fff\\u3040-\\uff00\\uff10-\\uff19\\uff21-\\u{10ffff}]{0,62})?";
/** What follows a word that is part of a host or of a user; it matches at `lastIndex`. */
export declare const JOINED: RegExp;
export declare const BEFORE_TAG: string[];
/** Characters from a surrogate to a number of one digit that it tells to be meant. */
export declare const NEAR = 60;
/** Units of a conversation, by their first word: `Units` of `mondegreen.prompts.units`. */
export declare class Units {
    private readonly byFirst;
    private readonly forms;
    /** What something else is rewritten to as well: which one is meant cannot be told. */
    private readonly unclear;
    private readonly lines;
    /** Note the units of a text; structure and words come in turn in its parts. */
    learn(parts: readonly string[], sent: readonly string[], formats: readonly Format[]): void;
    /** Note a line that was sent; tell whether it is a new one. */
    noteLine(sent: string): boolean;
    /** Note a piece of a text that comes back as a whole, in text; tell whether it is a new one. */
    addPiece(sent: string, original: string): boolean;
    private add;
    /** The units that start with a word: long before short, sent before rewritten, a whole before its beginning. */
    startingWith(word: string): Unit[];
}
