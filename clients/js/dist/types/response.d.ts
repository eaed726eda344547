import type { Artifact, Setting } from "./artifact.js";
import { type Law } from "./law.js";
import type { Stream } from "./stream.js";
/** Keep a symbol of a policy, or draw one of the targets, all alike: `krr` and `urr`. */
export declare class Response implements Law {
    readonly loss: number;
    private readonly size;
    private readonly first;
    private readonly count;
    private readonly stray;
    private readonly kept;
    constructor({ header }: Artifact, setting: Setting);
    draw(inputs: readonly number[], stream: Stream): number[];
    /** The chance of each symbol. */
    chances(input: number): Float64Array;
}
