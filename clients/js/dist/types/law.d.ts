import type { Guarantee, Setting } from "./artifact.js";
import type { Stream } from "./stream.js";
/** A law over the words, prepared for one setting. The unknown word is the last input. */
export interface Law {
    /** What two words lose at most, in nats, computed from the integers and rounded up. */
    readonly loss: number;
    /** The place of a word for each input, drawn in the order of the Python package. */
    draw(inputs: readonly number[], stream: Stream): number[];
    /** The chance of each word, by its place; null where it is not known. */
    chances(input: number): Float64Array | null;
}
/** The logarithm of `over / under`, which is at least 1, rounded up. */
export declare function logAbove(over: bigint, under: bigint): number;
/** Refuse a setting that claims less than its law loses for words that far apart. */
export declare function checkClaim(setting: Setting, loss: number, distance: number): void;
/** The figures in the name of a metric, which must be the one of its mechanism. */
export declare function figures({ metric }: Guarantee, form: RegExp): number[];
