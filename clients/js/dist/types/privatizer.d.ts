import { type Guarantee, type Measured } from "./artifact.js";
import { type Keyed } from "./noise.js";
import { type Protection } from "./protection.js";
import { type Explanation } from "./way.js";
/** Where a word is: code units `start..end-1`, of the release or of the input. */
export interface Span {
    readonly start: number;
    readonly end: number;
}
/** One privatized text; it holds nothing of the input but what the guarantee says. */
export interface Release {
    readonly text: string;
    readonly spans: readonly Span[];
    readonly guarantee: Guarantee;
}
export interface LoadOptions {
    /** One of the artifact; needed where it has several. */
    readonly epsilon?: number;
    /** SHA-256 that the artifact must have, in hex, as the command printed that wrote it. */
    readonly digest?: string;
}
/**
 * Read an artifact of `mondegreen policy export --device`, or of `space export`.
 *
 * One that is cut off or changed, asks for what this client does not know, or promises
 * more than its law gives, is refused. Its own digest guards against damage. Somebody who
 * writes a whole new one can still choose its words and what it says was measured: give
 * the digest that you trust.
 */
export declare function load(bytes: Uint8Array | ArrayBuffer, options?: LoadOptions): Privatizer;
/** Replaces every word of texts by a draw, as the Python package does. Made by `load`. */
export declare class Privatizer {
    private readonly tables;
    private readonly chosen;
    private prepared;
    /** The epsilons of the artifact, in the order of its maker. */
    get epsilons(): readonly number[];
    get epsilon(): number;
    /** SHA-256 of the artifact, in hex. */
    get digest(): string;
    /**
     * What every release promises, in the fields of the Python package.
     *
     * Without a digest, only the fields that this client checks or computes.
     */
    get guarantee(): Guarantee;
    /**
     * The guarantee in a few lines, for people: those of Python, if the digest was given.
     *
     * If not, only what this client has computed itself, and that no digest was given.
     */
    get summary(): string;
    /** What the integers of the law say, whoever wrote the artifact. */
    private get computed();
    /**
     * What was measured of public words, and of an attacker: no guarantee, and not checked here.
     *
     * Null without a digest, since anybody may have written it.
     */
    get preview(): Measured | null;
    /** The attacker of the preview, in words; null without a digest. */
    get adversary(): string | null;
    /**
     * The worst of what is proved and of what was measured, in one word.
     *
     * Without a digest it is no better than the loss that this client computed.
     */
    get protection(): Protection;
    /** The same words with another epsilon of the artifact. */
    withEpsilon(epsilon: number): Privatizer;
    /**
     * Privatize a text: with fresh noise, or with that of a record, which repeats itself.
     *
     * Each call with fresh noise is another release: what several tell adds up. Draw once
     * what is sent.
     */
    privatize(text: string, record?: Keyed): Release;
    /** Where the words of a text are. */
    words(text: string): Span[];
    /** What this setting does to a word, as it stands before another one. */
    explain(word: string, following?: string): Explanation;
    private get setting();
    /** The setting, whose law is checked before anything is told of it. */
    private get promised();
    private get law();
}
