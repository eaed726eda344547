import type { Output, Policy } from "./policy.js";
import { type Stream } from "./stream.js";
/** Draws a symbol for each symbol. */
export type Sample = (symbols: readonly number[]) => number[];
/** Every place is an entity of its own: nothing tells which words are equal. */
export declare function drawPlaces(policy: Policy, symbols: readonly number[], sample: Sample, stream: Stream): Output[];
/**
 * A sensitive word has one output throughout a text, and no other of its group has.
 *
 * `keys` are the words in canonical form: equal ones of one symbol are one entity.
 */
export declare function drawRecord(policy: Policy, symbols: readonly number[], keys: readonly string[], sample: Sample, stream: Stream): Output[];
