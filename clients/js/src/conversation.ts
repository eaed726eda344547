/** Conversations: words are hidden and put back in this page, and the map stays in it. */
import { type Artifact, parse } from "./artifact.js";
import { argumentError } from "./errors.js";
import { PolicyLookup } from "./lookup.js";
import { isKey } from "./noise.js";
import { Policy } from "./policy.js";
import { Restorer } from "./restore.js";
import { Surrogates } from "./surrogates.js";
import { Tokenizer } from "./text.js";
import { Unicode } from "./unicode.js";
import { type Format, Units } from "./units.js";

export { MondegreenError } from "./errors.js";

const KEY = 32;

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

export interface BeginOptions {
  /** SHA-256 that the artifact must have, in hex. */
  readonly digest?: string;
  /** 32 random bytes, of this conversation alone; drawn if not given. */
  readonly key?: Uint8Array;
  /** PUBLIC texts, such as system prompts. Their words are never surrogates. */
  readonly public?: readonly string[];
}

/**
 * Begin a conversation under the policy of an artifact of `mondegreen policy export --device`.
 *
 * The same words get the same surrogates as in Python, under the same key and policy.
 */
export function begin(bytes: Uint8Array | ArrayBuffer, options: BeginOptions = {}): Conversation {
  const { digest, key, public: texts = [], ...unknown } = options;
  if (Object.keys(unknown).length) throw argumentError("options", "digest, key and public");
  if (key !== undefined && !(isKey(key) && key.length === KEY)) throw argumentError("key", "32 random bytes");
  const artifact = parse(bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes, digest);
  if (!artifact.header.policy) throw argumentError("artifact", "one of a policy, with ordinary words");
  return new Conversation(artifact, key ?? globalThis.crypto.getRandomValues(new Uint8Array(KEY)), texts);
}

/**
 * Hides the sensitive words of one conversation, and puts them back. Made by `begin`.
 *
 * Disclosed are which sensitive words are the same, their kind, and all ordinary words.
 * Which of the candidates a word was is disclosed by nothing but context and counts.
 */
export class Conversation {
  private readonly policy: Policy;
  private readonly tokenizer: Tokenizer;
  private readonly lookup: PolicyLookup;
  private readonly surrogates: Surrogates;
  private readonly units = new Units();
  private readonly longest: number;

  /** @internal */
  constructor(artifact: Artifact, key: Uint8Array, texts: readonly string[]) {
    const { header, part, words } = artifact;
    const unicode = new Unicode(part);
    this.tokenizer = new Tokenizer(header.text, unicode);
    this.policy = new Policy(words, artifact, unicode);
    this.lookup = new PolicyLookup(this.policy, this.tokenizer, part);
    this.longest = header.text.longest;
    const barred = texts.flatMap((text) => this.tokenizer.cut(text).filter((_, i) => i % 2));
    this.surrogates = new Surrogates(this.policy, this.tokenizer, header.space.digest, key.slice(), barred);
  }

  /** Replace each sensitive word of a text by its surrogate. */
  hide(text: string): string {
    return this.pieces(text).map(({ sent }) => sent).join("");
  }

  /** Hide a text, part by part. */
  pieces(text: string): Piece[] {
    if (typeof text !== "string") throw argumentError("text", "a string");
    const parts = this.tokenizer.cut(text);
    const formats: Format[] = [];
    const kinds: string[] = [];
    const sent = [...parts];
    this.lookup.codes(parts).forEach((symbol, i) => {
      if (!this.policy.isGroup(symbol)) {
        formats.push(null);
        return;
      }
      const output = this.surrogates.hide(parts[2 * i + 1]!, symbol);
      sent[2 * i + 1] = this.policy.print(output);
      const { class: kind, form } = this.policy.describe(output.symbol);
      formats.push(kind === "format" ? form : "");
      kinds[2 * i + 1] = kind === "format" ? form : kind.replaceAll("_", " ");
    });
    this.units.learn(parts, sent, formats);
    return parts.map((original, i) => ({ original, sent: sent[i]!, kind: kinds[i] ?? null }));
  }

  /** Put the original words back into an answer. Links and images keep surrogates. */
  restore(answer: string): string {
    if (typeof answer !== "string") throw argumentError("answer", "a string");
    const restorer = this.restorer();
    return restorer.feed(answer) + restorer.end();
  }

  /** What restores an answer that comes in pieces. */
  restorer(): AnswerRestorer {
    return new Restorer(this.surrogates, this.units, this.policy, this.tokenizer, this.longest);
  }
}
