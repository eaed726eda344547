import type { Artifact, Setting } from "./artifact.js";
import { type Law } from "./law.js";
import type { Stream } from "./stream.js";
/** Flip every bit of the code of a word; draw one of the words whose codes are nearest. */
export declare class Brr implements Law {
    readonly loss: number;
    private readonly size;
    private readonly bits;
    private readonly count;
    private readonly codes;
    private readonly unknown;
    private readonly starts;
    private readonly codeOf;
    private readonly upper;
    private readonly lower;
    constructor(artifact: Artifact, setting: Setting);
    draw(inputs: readonly number[], stream: Stream): number[];
    chances(): null;
    private block;
    /** How many bits of the code that begins at a place differ from those of another one. */
    private distance;
    /** The distance of the unknown word to the farthest code: no diameter is smaller. */
    private farthest;
    /** One of the words whose codes are nearest, each with the same chance. */
    private nearest;
}
