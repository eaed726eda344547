import type { Artifact, Setting } from "./artifact.js";
import { type Law } from "./law.js";
import type { Stream } from "./stream.js";
/** Choose a level; draw uniformly from the words of the node there. */
export declare class Tree implements Law {
    readonly loss: number;
    private readonly count;
    private readonly levels;
    constructor(artifact: Artifact, setting: Setting);
    draw(inputs: readonly number[], stream: Stream): number[];
    chances(input: number): Float64Array;
    /** The node of each word, and of the unknown one, which is in the root everywhere. */
    private nodes;
}
