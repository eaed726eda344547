import type { Artifact, Setting } from "./artifact.js";
import type { Stream } from "./chacha20.js";
/** A law over the words, prepared for one setting. The unknown word is the last input. */
export interface Law {
    /** The place of a word for each input, drawn in the order of the Python package. */
    draw(inputs: readonly number[], stream: Stream): number[];
    /** The chance of each word, by its place; null where it is not known. */
    chances(input: number): Float64Array | null;
}
export declare function lawOf(artifact: Artifact, setting: Setting): Law;
