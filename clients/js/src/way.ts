import type { Artifact } from "./artifact.js";
import type { Law } from "./law.js";
import { PolicyLookup } from "./lookup.js";
import { type Described, type Output, Policy } from "./policy.js";
import { PolicyPrinter, TOUCHING } from "./printing.js";
import { drawPlaces, drawRecord } from "./scope.js";
import type { Stream } from "./stream.js";
import type { Tokenizer } from "./text.js";
import type { Unicode } from "./unicode.js";

const LIKELIEST = 10;

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
  readonly likeliest: readonly { readonly word: string; readonly chance: number }[];
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

export function wayOf(artifact: Artifact, tokenizer: Tokenizer, unicode: Unicode): Way {
  if (!artifact.header.policy) return new SpaceWay(artifact, tokenizer);
  return new PolicyWay(artifact, tokenizer, unicode);
}

/** Words of a space: the unknown word is the last input. */
class SpaceWay implements Way<number> {
  private readonly places: ReadonlyMap<string, number>;

  constructor(
    private readonly artifact: Artifact,
    private readonly tokenizer: Tokenizer,
  ) {
    this.places = new Map(artifact.words.map((word, place) => [word, place]));
  }

  cut(text: string): string[] {
    return this.tokenizer.cut(text);
  }

  inputs(parts: readonly string[]): number[] {
    const found: number[] = [];
    for (let i = 1; i < parts.length; i += 2) found.push(this.input(parts[i]!, parts[i + 2] ?? ""));
    return found;
  }

  draw(_: readonly string[], inputs: readonly number[], law: Law, stream: Stream): number[] {
    return law.draw(inputs, stream);
  }

  /** Put words into the structure of a text; two that touch get a space. */
  print(parts: readonly string[], drawn: readonly number[]): string[] {
    const { printed } = this.artifact;
    const last = parts.length - 1;
    return parts.map((part, i) => {
      if (i % 2 === 0) return i === 0 || i === last || !TOUCHING.test(part) ? part : `${part} `;
      const word = printed[drawn[(i - 1) / 2]!];
      if (word === undefined) throw new RangeError("a word was not privatized");
      return word;
    });
  }

  explain(parts: readonly string[], law: Law): Explanation {
    const { printed, words } = this.artifact;
    const [input] = this.inputs(parts) as [number];
    const chances = law.chances(input);
    const known = words[input] ?? null;
    const told = { word: parts[1]!, lookedUpAs: known, group: null };
    if (!chances) return { ...told, stay: null, likeliest: [] };
    const all = new Map<string, number>();
    chances.forEach((chance, place) => {
      const shown = printed[place]!;
      all.set(shown, (all.get(shown) ?? 0) + chance);
    });
    const sorted = Array.from(all, ([shown, chance]) => ({ word: shown, chance }));
    // Of equal ones the word itself first.
    const own = (each: { word: string }): number => Number(each.word === known);
    sorted.sort((one, other) => other.chance - one.chance || own(other) - own(one));
    const stay = known === null ? 0 : chances[input]!;
    return { ...told, stay, likeliest: sorted.slice(0, LIKELIEST) };
  }

  private input(word: string, following: string): number {
    const { places, tokenizer } = this;
    const next = tokenizer.isNegation(following) ? following : "";
    const plain = places.get(tokenizer.canonical(word, next)) ?? places.size;
    // A space may tell Apple from apple, but an ending is what the table says.
    if (next || tokenizer.hasApostrophe(word)) return plain;
    return places.get(word) ?? plain;
  }
}

/** Symbols of a policy. */
class PolicyWay implements Way<Output> {
  private readonly policy: Policy;
  private readonly lookup: PolicyLookup;
  private readonly printer: PolicyPrinter;

  constructor(
    private readonly artifact: Artifact,
    private readonly tokenizer: Tokenizer,
    unicode: Unicode,
  ) {
    const { header, part, words } = artifact;
    this.policy = new Policy(words, artifact, unicode);
    this.lookup = new PolicyLookup(this.policy, tokenizer, part);
    const { structure, same } = header.policies;
    this.printer = new PolicyPrinter(this.policy, header.text.endings, structure!, same!);
  }

  cut(text: string): string[] {
    return this.lookup.cut(text);
  }

  inputs(parts: readonly string[]): number[] {
    return this.lookup.codes(parts);
  }

  draw(words: readonly string[], inputs: readonly number[], law: Law, stream: Stream): Output[] {
    const sample = (symbols: readonly number[]): number[] => law.draw(symbols, stream);
    if (this.artifact.header.policies["same"] === "place") {
      return drawPlaces(this.policy, inputs, sample, stream);
    }
    const keys = words.map((word) => this.tokenizer.canonical(word));
    return drawRecord(this.policy, inputs, keys, sample, stream);
  }

  print(parts: readonly string[], drawn: readonly Output[]): string[] {
    return this.printer.print(parts, drawn);
  }

  explain(parts: readonly string[], law: Law): Explanation {
    const { policy } = this;
    const word = parts[1]!;
    // As it stands inside a sentence.
    const [, symbol] = this.inputs(["", "and", " ", ...parts.slice(1)]) as [number, number];
    const kept = law.chances(symbol)![symbol]!;
    const size = policy.sizeOf(symbol);
    const folded = this.tokenizer.folded(word);
    const members = Array.from({ length: Math.min(size, LIKELIEST) }, (_, i) =>
      policy.print({ symbol, member: Math.floor((i * size) / Math.min(size, LIKELIEST)), lap: 0 }),
    );
    return {
      word,
      lookedUpAs: policy.symbols.has(folded) ? folded : null,
      group: policy.describe(symbol),
      stay: policy.prints(symbol, folded) ? kept / size : 0,
      likeliest: members.map((each) => ({ word: each, chance: kept / size })),
    };
  }
}
