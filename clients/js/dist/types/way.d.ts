import type { Artifact } from "./artifact.js";
import type { Law } from "./law.js";
import { type Described } from "./policy.js";
import type { Stream } from "./stream.js";
import type { Tokenizer } from "./text.js";
import type { Unicode } from "./unicode.js";
/** What one setting does to one word. */
export interface Explanation {
    readonly word: string;
    /** The word of the lists that it is looked up as; null where it is unknown. */
    readonly lookedUpAs: string | null;
    /** Under a policy: the class of the word, its form, and how many may be printed for it. */
    readonly group: Described | null;
    /** The chance that the same word is drawn; null where the law is not known. */
    readonly stay: number | null;
    /** The words that are printed most often, and how often; some of those that are alike. */
    readonly likeliest: readonly {
        readonly word: string;
        readonly chance: number;
    }[];
}
/** From the words of a text to inputs of a law, and from its outputs back to a text. */
export interface Way<Drawn = unknown> {
    /** Cut a text into words and structure. */
    cut(text: string): string[];
    /** The input of each word of a text that was cut. */
    inputs(parts: readonly string[]): number[];
    /** What is printed for words, in order, and their inputs. */
    draw(words: readonly string[], inputs: readonly number[], law: Law, stream: Stream): Drawn[];
    /** A text in pieces, words at odd places. */
    print(parts: readonly string[], drawn: readonly Drawn[]): string[];
    /** Explain the first word of a text that was cut. */
    explain(parts: readonly string[], law: Law): Explanation;
}
export declare function wayOf(artifact: Artifact, tokenizer: Tokenizer, unicode: Unicode): Way;
