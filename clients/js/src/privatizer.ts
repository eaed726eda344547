import { type Artifact, type Guarantee, type Measured, type Setting, checkedOf, parse } from "./artifact.js";
import { argumentError } from "./errors.js";
import type { Law } from "./law.js";
import { lawOf } from "./laws.js";
import { type Keyed, fresh, keyed } from "./noise.js";
import { type Protection, protection, worse } from "./protection.js";
import type { Stream } from "./stream.js";
import { Tokenizer } from "./text.js";
import { Unicode } from "./unicode.js";
import { type Explanation, type Way, wayOf } from "./way.js";

const UNTRUSTED =
  "WARNING: no digest was given, so anybody may have written this artifact. This client has computed " +
  "only the factor. Give the digest that was printed when the artifact was exported.";

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

/** What settings share: the words, and how they are found. */
interface Tables {
  readonly artifact: Artifact;
  readonly way: Way;
  readonly tokenizer: Tokenizer;
  /** Whether the artifact has the digest that the user trusts. */
  readonly isTrusted: boolean;
}

/**
 * Read an artifact of `mondegreen policy export --device`, or of `space export`.
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
  const unicode = new Unicode(artifact.part);
  const tokenizer = new Tokenizer(artifact.header.text, unicode);
  const way = wayOf(artifact, tokenizer, unicode);
  const all = artifact.header.settings;
  return new Privatizer(
    { artifact, way, tokenizer, isTrusted: digest !== undefined },
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

  /**
   * What every release promises, in the fields of the Python package.
   *
   * Without a digest, only the fields that this client checks or computes.
   */
  get guarantee(): Guarantee {
    const { guarantee } = this.promised;
    return this.tables.isTrusted ? guarantee : checkedOf(guarantee, this.protection);
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
    const { mechanism, policy } = this.tables.artifact.header;
    const whose = mechanism === "urr" ? "sensitive" : "original";
    const shown = policy
      ? ` Its lists, which anybody may have written, have ${policy.ordinary} ordinary words.` +
        `${mechanism === "urr" ? " Ordinary words are shown." : ""}`
      : "";
    return (
      `Privacy guarantee: ${mechanism} (epsilon ${this.epsilon}): an output changes the odds ` +
      `between any two ${whose} words by a factor of at most e^${roundedUp(this.law.loss)}.${shown}`
    );
  }

  /**
   * What was measured of public words, and of an attacker: no guarantee, and not checked here.
   *
   * Null without a digest, since anybody may have written it.
   */
  get preview(): Measured | null {
    const { preview } = this.promised;
    return this.tables.isTrusted ? preview : null;
  }

  /** The attacker of the preview, in words; null without a digest. */
  get adversary(): string | null {
    return this.tables.isTrusted ? this.tables.artifact.header.adversary : null;
  }

  /** @internal Whether ordinary words may be shown. */
  get showsOrdinary(): boolean {
    return this.tables.artifact.header.policy !== undefined;
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
    const { guarantee } = this; // checks the law first
    const { digest } = this.setting;
    const stream = record === undefined ? fresh() : keyed(record, digest, text);
    const { noise } = this.tables.artifact.header;
    const how = this.tables.isTrusted ? { noise: record === undefined ? noise.fresh : noise.keyed } : {};
    return { ...this.release(text, stream), guarantee: { ...guarantee, ...how } };
  }

  /** Where the words of a text are. */
  words(text: string): Span[] {
    return spans(this.cut(text));
  }

  /** What this setting does to a word, as it stands before another one. */
  explain(word: string, following = ""): Explanation {
    const { way } = this.tables;
    return way.explain(following ? ["", word, "", following, ""] : ["", word, ""], this.law);
  }

  /** @internal Draw with a stream that is given, for tests. */
  release(text: string, stream: Stream): { text: string; spans: Span[] } {
    const parts = this.cut(text);
    return this.printed(parts, this.drawn(parts, this.inputs(parts), stream));
  }

  /** @internal Cut a text into words and structure. */
  cut(text: string): string[] {
    return this.tables.way.cut(text);
  }

  /** @internal What is printed for the words of a text that was cut, or for some of them. */
  drawn(
    parts: readonly string[],
    inputs: readonly number[],
    stream: Stream = fresh(),
    first = 0,
  ): unknown[] {
    const words = inputs.map((_, i) => parts[2 * (first + i) + 1]!);
    return this.tables.way.draw(words, inputs, this.law, stream);
  }

  /** @internal Put what was drawn into the structure of a text. */
  printed(parts: readonly string[], drawn: readonly unknown[]): { text: string; spans: Span[] } {
    const pieces = this.tables.way.print(parts, drawn);
    return { text: pieces.join(""), spans: spans(pieces) };
  }

  /** @internal The inputs of the words of a text that was cut. */
  inputs(parts: readonly string[]): number[] {
    return this.tables.way.inputs(parts);
  }

  /** @internal */
  get tokenizer(): Tokenizer {
    return this.tables.tokenizer;
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

function spans(pieces: readonly string[]): Span[] {
  const found: Span[] = [];
  let start = 0;
  pieces.forEach((piece, i) => {
    if (i % 2) found.push({ start, end: start + piece.length });
    start += piece.length;
  });
  return found;
}
