import { type Artifact, type Guarantee, type Measured, type Setting, parse } from "./artifact.js";
import { argumentError } from "./errors.js";
import type { Law } from "./law.js";
import { lawOf } from "./laws.js";
import { type Keyed, fresh, keyed } from "./noise.js";
import { type Protection, protection, worse } from "./protection.js";
import type { Stream } from "./stream.js";
import { Tokenizer } from "./text.js";
import { Unicode } from "./unicode.js";

const LIKELIEST = 10;
const UNTRUSTED =
  "WARNING: no digest was given, so anybody may have written this artifact. Only the factor above " +
  "is computed here. Give the digest that `mondegreen space export` printed.";

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

/** What one setting does to one word. */
export interface Explanation {
  readonly word: string;
  /** The word of the vocabulary that it is looked up as; null where it is unknown. */
  readonly lookedUpAs: string | null;
  /** The chance that the same word is drawn; null where the law is not known. */
  readonly stay: number | null;
  /** The words that are printed most often, and how often. */
  readonly likeliest: readonly { readonly word: string; readonly chance: number }[];
}

export interface LoadOptions {
  /** One of the artifact; needed where it has several. */
  readonly epsilon?: number;
  /** SHA-256 that the artifact must have, in hex, as `mondegreen space export` printed it. */
  readonly digest?: string;
}

/** What settings share: the words, and how they are found. */
interface Tables {
  readonly artifact: Artifact;
  readonly places: ReadonlyMap<string, number>;
  readonly tokenizer: Tokenizer;
  /** Whether the artifact has the digest that the user trusts. */
  readonly isTrusted: boolean;
}

/**
 * Read an artifact of `mondegreen space export --device`.
 *
 * One that is cut off or changed, asks for what this client does not know, or promises
 * more than its law gives, is refused. Its own digest guards against damage. Somebody who
 * writes a whole new one can still choose its words and what it says was measured: give
 * the digest that you trust.
 */
export function load(bytes: Uint8Array | ArrayBuffer, options: LoadOptions = {}): Privatizer {
  const { epsilon, digest, ...unknown } = options;
  if (Object.keys(unknown).length) throw argumentError("options", "epsilon and digest");
  const artifact = parse(bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes, digest);
  const tokenizer = new Tokenizer(artifact.header.text, new Unicode(artifact.part));
  const places = new Map(artifact.words.map((word, place) => [word, place]));
  const all = artifact.header.settings;
  return new Privatizer(
    { artifact, places, tokenizer, isTrusted: digest !== undefined },
    epsilon === undefined && all.length === 1 ? all[0]! : chosen(artifact, epsilon),
  );
}

function chosen(artifact: Artifact, epsilon: number | undefined): Setting | null {
  if (epsilon === undefined) return null;
  const found = artifact.header.settings.find((setting) => setting.epsilon === epsilon);
  const known = artifact.header.settings.map((setting) => setting.epsilon).join(", ");
  if (!found) throw argumentError("epsilon", `one of the artifact: ${known}`);
  return found;
}

/** Replaces every word of texts by a draw, as the Python package does. Made by `load`. */
export class Privatizer {
  private prepared: Law | null = null;

  /** @internal */
  constructor(
    private readonly tables: Tables,
    private readonly chosen: Setting | null,
  ) {}

  /** The epsilons of the artifact, in the order of its maker. */
  get epsilons(): readonly number[] {
    return this.tables.artifact.header.settings.map((setting) => setting.epsilon);
  }

  get epsilon(): number {
    return this.setting.epsilon;
  }

  /** SHA-256 of the artifact, in hex. */
  get digest(): string {
    return this.tables.artifact.digest;
  }

  /** What every release promises, in the fields of the Python package. */
  get guarantee(): Guarantee {
    return this.promised.guarantee;
  }

  /**
   * The guarantee in a few lines, for people: those of Python, if the digest was given.
   *
   * If not, only what this client has computed itself, and that no digest was given.
   */
  get summary(): string {
    const { summary } = this.promised;
    return this.tables.isTrusted ? summary : `${this.computed}\n${UNTRUSTED}`;
  }

  /** What the integers of the law say, whoever wrote the artifact. */
  private get computed(): string {
    const { mechanism } = this.tables.artifact.header;
    return (
      `Privacy guarantee: ${mechanism} (epsilon ${this.epsilon}): seeing an output changes the odds ` +
      `between any two original words by a factor of e^${roundedUp(this.law.loss)} at most.`
    );
  }

  /** What was measured of public words, and of an attacker: no guarantee, and not checked here. */
  get preview(): Measured {
    return this.promised.preview;
  }

  /** The attacker of the preview, in words. */
  get adversary(): string {
    return this.tables.artifact.header.adversary;
  }

  /**
   * The worst of what is proved and of what was measured, in one word.
   *
   * Without a digest it is no better than the loss that this client computed.
   */
  get protection(): Protection {
    const { protection: told } = this.promised;
    return this.tables.isTrusted ? told : worse(told, protection({ loss: this.law.loss }));
  }

  /** The same words with another epsilon of the artifact. */
  withEpsilon(epsilon: number): Privatizer {
    return new Privatizer(this.tables, chosen(this.tables.artifact, epsilon));
  }

  /**
   * Privatize a text: with fresh noise, or with that of a record, which repeats itself.
   *
   * Each call with fresh noise is another release: what several tell adds up. Draw once
   * what is sent.
   */
  privatize(text: string, record?: Keyed): Release {
    if (typeof text !== "string") throw argumentError("text", "a string");
    const { digest, guarantee } = this.setting;
    const stream = record === undefined ? fresh() : keyed(record, digest, text);
    const { noise } = this.tables.artifact.header;
    const said = { ...guarantee, noise: record === undefined ? noise.fresh : noise.keyed };
    return { ...this.release(text, stream), guarantee: said };
  }

  /** Where the words of a text are. */
  words(text: string): Span[] {
    return spans(this.tables.tokenizer.cut(text));
  }

  /** What this setting does to a word, as it stands before another one. */
  explain(word: string, following = ""): Explanation {
    const { artifact, places } = this.tables;
    const input = this.input(word, following);
    const chances = this.law.chances(input);
    const known = input < places.size ? artifact.words[input]! : null;
    if (!chances) return { word, lookedUpAs: known, stay: null, likeliest: [] };
    const all = new Map<string, number>();
    chances.forEach((chance, place) => {
      const shown = artifact.printed[place]!;
      all.set(shown, (all.get(shown) ?? 0) + chance);
    });
    const sorted = Array.from(all, ([shown, chance]) => ({ word: shown, chance }));
    // Of equal ones the word itself first.
    const own = (each: { word: string }): number => Number(each.word === known);
    sorted.sort((one, other) => other.chance - one.chance || own(other) - own(one));
    const stay = known === null ? 0 : chances[input]!;
    return { word, lookedUpAs: known, stay, likeliest: sorted.slice(0, LIKELIEST) };
  }

  /** @internal Draw with a stream that is given, for tests. */
  release(text: string, stream: Stream): { text: string; spans: Span[] } {
    const parts = this.tables.tokenizer.cut(text);
    return printed(parts, this.drawn(this.inputs(parts), stream));
  }

  /** @internal The words that are printed for inputs. */
  drawn(inputs: readonly number[], stream: Stream = fresh()): string[] {
    const { printed } = this.tables.artifact;
    return this.law.draw(inputs, stream).map((place) => {
      const word = printed[place];
      if (word === undefined) throw new RangeError("a word was not privatized");
      return word;
    });
  }

  /** @internal The inputs of the words of a text that was cut; the unknown word is last. */
  inputs(parts: readonly string[]): number[] {
    const found: number[] = [];
    for (let i = 1; i < parts.length; i += 2) found.push(this.input(parts[i]!, parts[i + 2] ?? ""));
    return found;
  }

  /** @internal */
  get tokenizer(): Tokenizer {
    return this.tables.tokenizer;
  }

  private input(word: string, following: string): number {
    const { places, tokenizer } = this.tables;
    const next = tokenizer.isNegation(following) ? following : "";
    const plain = places.get(tokenizer.canonical(word, next)) ?? places.size;
    // A space may tell Apple from apple, but an ending is what the table says.
    if (next || tokenizer.hasApostrophe(word)) return plain;
    return places.get(word) ?? plain;
  }

  private get setting(): Setting {
    if (this.chosen) return this.chosen;
    throw argumentError("epsilon", `given, to load or withEpsilon: ${this.epsilons.join(", ")}`);
  }

  /** The setting, whose law is checked before anything is told of it. */
  private get promised(): Setting {
    void this.law;
    return this.setting;
  }

  private get law(): Law {
    return (this.prepared ??= lawOf(this.tables.artifact, this.setting));
  }
}

/** Three digits of a number of at least 0, not below it. */
function roundedUp(value: number): number {
  const [digits, power] = value.toExponential().split("e") as [string, string];
  return Number(`${Math.ceil(Number(digits) * 100)}e${Number(power) - 2}`);
}

/** Between two words: nothing, or the 's of the first; the second would go on as part of it. */
const TOUCHING = /^(?:['’][sS])?$/;

/** @internal Put words into the structure of a text; two that touch get a space. */
export function printed(
  parts: readonly string[],
  words: readonly string[],
): { text: string; spans: Span[] } {
  const last = parts.length - 1;
  const pieces = parts.map((part, i) =>
    i % 2 ? words[(i - 1) / 2]! : i === 0 || i === last || !TOUCHING.test(part) ? part : `${part} `,
  );
  return { text: pieces.join(""), spans: spans(pieces) };
}

function spans(pieces: readonly string[]): Span[] {
  const found: Span[] = [];
  let start = 0;
  pieces.forEach((piece, i) => {
    if (i % 2) found.push({ start, end: start + piece.length });
    start += piece.length;
  });
  return found;
}
