/** One word for how much a release protects, as `mondegreen.protection` in Python finds it. */
export type Protection = "strong" | "moderate" | "weak" | "vacuous";
/** Nats of the largest loss that is called weak. */
export declare const WEAK: number;
interface Limits {
    /** Of any two words, in nats. */
    readonly loss: number;
    /** Share of words that are unchanged, or that an attacker recovers. */
    readonly recovered: number;
    /** Share of words that are unchanged or become a word of near meaning. */
    readonly near: number;
}
/** The word for a loss in nats, and for shares of words, where measured. */
export declare function protection({ loss, recovered, near }: Partial<Limits>): Protection;
/** The word of less protection. */
export declare function worse(one: Protection, other: Protection): Protection;
/** Whether a word is known and promises no more than another one. */
export declare function isAtMost(word: unknown, limit: Protection): boolean;
export {};
