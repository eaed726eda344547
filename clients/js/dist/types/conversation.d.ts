export { MondegreenError } from "./errors.js";
/** A part of a text: as it was written, and as it leaves. */
export interface Piece {
    readonly original: string;
    readonly sent: string;
    /** Of a surrogate: what kind of word it stands for. Null for what passes unchanged. */
    readonly kind: string | null;
}
/** What restores one answer, piece by piece. */
export interface AnswerRestorer {
    /** Take a piece of the answer; return what is certain by now. */
    feed(text: string): string;
    /** Return the rest. */
    end(): string;
}
export interface LoadOptions {
    /** SHA-256 that the artifact must have, in hex, as the command printed that wrote it. Without it, `load` warns. */
    readonly digest?: string;
}
export interface BeginOptions {
    /** 32 random bytes, of this conversation alone; drawn if not given. */
    readonly key?: Uint8Array;
    /** PUBLIC texts, such as system prompts. Their words are never surrogates. */
    readonly public?: readonly string[];
}
/** Read an artifact of `mondegreen policy export --device`, once for all conversations. */
export declare function load(bytes: Uint8Array | ArrayBuffer, options?: LoadOptions): Conversations;
/** What all conversations under one policy share. Made by `load`. */
export declare class Conversations {
    private readonly tables;
    /** SHA-256 of the artifact, in hex. */
    readonly digest: string;
    /** What to tell the user if no digest was given; empty otherwise. */
    readonly warning: string;
    /**
     * Begin a conversation, which has a key and surrogates of its own.
     *
     * The same words get the same surrogates as in Python, under the same key and policy.
     */
    begin(options?: BeginOptions): Conversation;
}
/**
 * Hides the sensitive words of one conversation, and puts them back. Made by `Conversations`.
 *
 * Disclosed are which sensitive words are the same, their kind, and all ordinary words.
 * Only context and counts can show which candidate a word was.
 */
export declare class Conversation {
    private readonly tables;
    private readonly surrogates;
    private readonly units;
    /** Replace each sensitive word of a text by its surrogate. */
    hide(text: string): string;
    /** Hide a text, part by part. */
    pieces(text: string): Piece[];
    /** Put the original words back into an answer. Links, images, tags and square brackets keep surrogates. */
    restore(answer: string): string;
    /** What restores an answer that comes in pieces. */
    restorer(): AnswerRestorer;
    private begin;
}
