import type { Tokenizer } from "./text.js";
/** Cut a text into words and structure as a policy takes its words: `cut_texts` of Python. */
export declare function cutText(text: string, tokenizer: Tokenizer): string[];
/** Read the references of a gap as the characters that they stand for. */
export declare function readReferences(gap: string): string;
/** Read a word that may be an ending with its reference. */
export declare function readEnding(word: string): string;
