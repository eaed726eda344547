/** Conversations: words are hidden and put back in this page, and the map stays in it. */
import { type Artifact, parse } from "./artifact.js";
import { learnEchoes } from "./echoes.js";
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
const WARNING = "WARNING: no digest was given, so anybody may have written this artifact.";

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
export function load(bytes: Uint8Array | ArrayBuffer, options: LoadOptions = {}): Conversations {
  const { digest, ...unknown } = options;
  if (Object.keys(unknown).length) throw argumentError("options", "digest");
  const artifact = parse(bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes, digest);
  if (!artifact.header.policy) throw argumentError("artifact", "one of a policy, with ordinary words");
  if (digest === undefined) console.warn(WARNING);
  return new Conversations(artifact, digest === undefined ? WARNING : "");
}

/** What all conversations under one policy share. Made by `load`. */
export class Conversations {
  private readonly tables: Tables;

  /** @internal */
  constructor({ header, part, words, digest }: Artifact, warning: string) {
    const unicode = new Unicode(part);
    const tokenizer = new Tokenizer(header.text, unicode);
    const policy = new Policy(words, { header, part }, unicode);
    const lookup = new PolicyLookup(policy, tokenizer, part);
    this.tables = { policy, tokenizer, lookup, policyDigest: header.space.digest, longest: header.text.longest };
    this.digest = digest;
    this.warning = warning;
  }

  /** SHA-256 of the artifact, in hex. */
  readonly digest: string;

  /** What to tell the user if no digest was given; empty otherwise. */
  readonly warning: string;

  /**
   * Begin a conversation, which has a key and surrogates of its own.
   *
   * The same words get the same surrogates as in Python, under the same key and policy.
   */
  begin(options: BeginOptions = {}): Conversation {
    const { key, public: texts = [], ...unknown } = options;
    if (Object.keys(unknown).length) throw argumentError("options", "key and public");
    if (key !== undefined && !(isKey(key) && key.length === KEY)) throw argumentError("key", "32 random bytes");
    const isList = Array.isArray(texts) && texts.every((text) => typeof text === "string");
    if (!isList) throw argumentError("public", "a list of texts");
    return new Conversation(this.tables, key ?? globalThis.crypto.getRandomValues(new Uint8Array(KEY)), texts);
  }
}

interface Tables {
  readonly policy: Policy;
  readonly tokenizer: Tokenizer;
  readonly lookup: PolicyLookup;
  readonly policyDigest: string;
  readonly longest: number;
}

/**
 * Hides the sensitive words of one conversation, and puts them back. Made by `Conversations`.
 *
 * Disclosed are which sensitive words are the same, their kind, and all ordinary words.
 * Only context and counts can show which candidate a word was.
 */
export class Conversation {
  private readonly surrogates: Surrogates;
  private readonly units = new Units();

  /** @internal */
  constructor(
    private readonly tables: Tables,
    key: Uint8Array,
    texts: readonly string[],
  ) {
    const { policy, tokenizer, lookup, policyDigest } = tables;
    const barred = texts.flatMap((text) => lookup.cut(text).filter((_, i) => i % 2));
    this.surrogates = new Surrogates(policy, tokenizer, policyDigest, key.slice(), barred);
  }

  /** Replace each sensitive word of a text by its surrogate. */
  hide(text: string): string {
    return this.pieces(text).map(({ sent }) => sent).join("");
  }

  /** Hide a text, part by part. */
  pieces(text: string): Piece[] {
    if (typeof text !== "string") throw argumentError("text", "a string");
    const { policy, lookup, tokenizer } = this.tables;
    const parts = lookup.cut(text);
    const formats: Format[] = [];
    const kinds: string[] = [];
    const sent = [...parts];
    lookup.codes(parts).forEach((symbol, i) => {
      if (!policy.isGroup(symbol)) {
        formats.push(null);
        return;
      }
      const output = this.surrogates.hide(parts[2 * i + 1]!, symbol);
      sent[2 * i + 1] = policy.print(output);
      const { class: kind, form } = policy.describe(output.symbol);
      formats.push(kind === "format" ? form : "");
      kinds[2 * i + 1] = kind === "format" ? form : kind.replaceAll("_", " ");
    });
    this.units.learn(parts, sent, formats);
    learnEchoes(this.units, parts, sent, (each) => tokenizer.canonical(each), () => this.begin());
    return parts.map((original, i) => ({ original, sent: sent[i]!, kind: kinds[i] ?? null }));
  }

  /** Put the original words back into an answer. Links, images, tags and square brackets keep surrogates. */
  restore(answer: string): string {
    if (typeof answer !== "string") throw argumentError("answer", "a string");
    const restorer = this.restorer();
    return restorer.feed(answer) + restorer.end();
  }

  /** What restores an answer that comes in pieces. */
  restorer(): AnswerRestorer {
    return this.begin();
  }

  private begin(): Restorer {
    const { policy, tokenizer, longest } = this.tables;
    return new Restorer(this.surrogates, this.units, policy, tokenizer, longest);
  }
}
