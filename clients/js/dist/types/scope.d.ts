import type { Output, Policy } from "./policy.js";
import { type Stream } from "./stream.js";
/** Draws a symbol for each symbol. */
export type Sample = (symbols: readonly number[]) => number[];
/** Draw a member of each symbol: all inputs share this law, whatever bias it has. */
export declare function drawMembers(policy: Policy, symbols: readonly number[], stream: Stream): Output[];
/** Every place is an entity of its own: nothing tells which words are equal. */
export declare function drawPlaces(policy: Policy, symbols: readonly number[], sample: Sample, stream: Stream): Output[];
/**
 * A sensitive word has one output throughout a text, and no other of its group has.
 *
 * `keys` are the words in canonical form: equal ones of one symbol are one entity.
 */
export declare function drawRecord(policy: Policy, symbols: readonly number[], keys: readonly string[], sample: Sample, stream: Stream): Output[];
/** Gives away the members of groups, each once in a lap; `isBarred` tells what nobody may get. */
export declare class Members {
    private readonly policy;
    private readonly isBarred;
    private readonly laps;
    private firsts;
    constructor(policy: Policy, isBarred?: (output: Output) => boolean);
    /** Give away an output if it is free, else a free one that the stream draws. */
    take({ symbol, member: drawn }: Output, stream: Stream): Output;
    /** Whether the number of an output exceeds 63 bits, as Python counts them. */
    private isBeyond;
    /** The first output of each symbol, and behind them the number of all outputs. */
    private sumSizes;
}
