import type { Artifact, PolicyHeader } from "./artifact.js";
import { numbers } from "./bytes.js";
import { artifactError } from "./errors.js";
import { SHAPES } from "./shapes.js";
import { type Unicode, runs } from "./unicode.js";

/** What is printed for a word: a member of a symbol, in a lap of its members. */
export interface Output {
  readonly symbol: number;
  readonly member: number;
  /** 0, but where all members of a group were given away before. */
  readonly lap: number;
}

/** A symbol for people. */
export interface Described {
  readonly class: string;
  readonly form: string;
  /** Words or tokens that may be printed for it. */
  readonly size: number;
}

/**
 * What is ordinary, what is sensitive, and among which words a sensitive one hides.
 *
 * Symbols `0..ordinary-1` are ordinary words, then come groups of words, then formats.
 */
export class Policy {
  readonly symbols = new Map<string, number>();
  /** Words that have another symbol where they have a capital, or are all capitals. */
  readonly capitals = new Map<string, number>();
  readonly upper = new Map<string, number>();
  readonly starts = new Set<string>();
  /** Outputs as they are printed as first words. */
  readonly first: readonly string[];
  readonly address: ReadonlySet<string>;
  readonly ordinary: number;
  readonly size: number;
  private readonly header: PolicyHeader;
  // Of the groups: where the members of each begin among the words.
  private readonly begins: number[] = [];

  constructor(
    readonly words: readonly string[],
    { header, part }: Pick<Artifact, "header" | "part">,
    unicode: Unicode,
  ) {
    const found = (this.header = header.policy!);
    this.ordinary = found.ordinary;
    this.size = found.ordinary + found.groups.length + SHAPES.length;
    this.address = new Set(found.address);
    const isSame = (one: string, other: string): boolean =>
      unicode.smallLetters(one) === unicode.smallLetters(other);
    let end = found.ordinary;
    for (const [, , size] of found.groups) {
      this.begins.push(end);
      end += size;
    }
    if (end !== words.length) throw artifactError("its groups do not fit its words");
    this.index(numbers(part("counts")), known(part), unicode);
    const every = [...this.symbols.keys()];
    this.mark(every, part("capitals"), this.capitals);
    this.mark(every, part("upper"), this.upper);
    runs(part("starts"), new Uint32Array(every.length)).forEach((is, place) => {
      if (is) this.starts.add(every[place]!);
    });
    this.first = firstForms(words, part("first"));
    if (this.first.some((word, place) => word !== words[place] && !isSame(word, words[place]!))) {
      throw artifactError("it prints another word at the start of a sentence");
    }
  }

  /** Words that each ending is joined to. */
  get hosts(): PolicyHeader["hosts"] {
    return this.header.hosts;
  }

  /** The group of unknown words of a grammatical form, or of unknown names. */
  rest(form: string): number {
    return this.ordinary + this.header.rest[form]!;
  }

  /** The symbol of a word that the lists have as a name, where it is one. */
  nameOf(folded: string): number | undefined {
    const symbol = this.capitals.get(folded);
    return symbol === this.name ? undefined : symbol;
  }

  get name(): number {
    return this.ordinary + this.header.name;
  }

  shape(place: number): number {
    return this.ordinary + this.begins.length + place;
  }

  isGroup(symbol: number): boolean {
    return symbol >= this.ordinary;
  }

  /** How many outputs a symbol has. */
  sizeOf(symbol: number): number {
    const place = symbol - this.ordinary;
    if (place < 0) return 1;
    return this.header.groups[place]?.[2] ?? SHAPES[place - this.begins.length]!.size;
  }

  /** Whether a word is among those that are printed for a symbol; a format prints all of its own. */
  prints(symbol: number, folded: string): boolean {
    const place = symbol - this.ordinary;
    if (place >= this.begins.length) return true;
    const begin = place < 0 ? symbol : this.begins[place]!;
    const own = this.words.slice(begin, begin + this.sizeOf(symbol));
    return own.some((word) => word.toLowerCase() === folded);
  }

  /** The place of an output among the words; null for the token of a format. */
  placeOf({ symbol, member }: Output): number | null {
    if (symbol < this.ordinary) return symbol;
    const begin = this.begins[symbol - this.ordinary];
    return begin === undefined ? null : begin + member;
  }

  /** The token of an output; later laps of a group have a suffix. */
  print(output: Output): string {
    const { symbol, member, lap } = output;
    const place = this.placeOf(output);
    const shape = SHAPES[symbol - this.ordinary - this.begins.length];
    const word = place === null ? shape!.print(member) : this.words[place];
    if (word === undefined) throw new RangeError("a word was not privatized");
    return lap ? `${word}xx${lap + 1}` : word;
  }

  describe(symbol: number): Described {
    const [place, size] = [symbol - this.ordinary, this.sizeOf(symbol)];
    const group = this.header.groups[place];
    if (place < 0) return { class: "ordinary", form: "", size };
    if (group) return { class: group[0], form: group[1], size };
    return { class: "format", form: SHAPES[place - this.begins.length]!.name, size };
  }

  /** Give each known word its symbol; no two words that are printed may be alike. */
  private index(counts: readonly number[], more: readonly string[], unicode: Unicode): void {
    const { groups } = this.header;
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (counts.length !== groups.length || total !== more.length) {
      throw artifactError("its groups do not fit its words");
    }
    let group = -1;
    this.words.forEach((word, place) => {
      while (group + 1 < this.begins.length && place >= this.begins[group + 1]!) group++;
      this.symbols.set(unicode.smallLetters(word), group < 0 ? place : this.ordinary + group);
    });
    let at = 0;
    counts.forEach((count, group) => {
      for (const end = at + count; at < end; at++) this.symbols.set(more[at]!, this.ordinary + group);
    });
    if (this.symbols.size !== this.words.length + more.length) {
      throw artifactError("a word of it has two symbols");
    }
  }

  private mark(every: readonly string[], part: Uint8Array, table: Map<string, number>): void {
    runs(part, new Uint32Array(every.length)).forEach((group, place) => {
      if (group > this.begins.length) throw artifactError("a capital of it has no group");
      if (group) table.set(every[place]!, this.ordinary + group - 1);
    });
  }
}

/** Known words that are never printed: each begins as the one before does. */
function known(part: (name: string) => Uint8Array): string[] {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(part("known"));
  const ends = text ? text.split("\n") : [];
  const shared = numbers(part("shared"));
  if (shared.length !== ends.length) throw artifactError("its known words are not whole");
  let last = "";
  return ends.map((end, i) => (last = last.slice(0, shared[i]) + end));
}

const PLAIN = /^[\0-@[-\x7f]*$/; // no capital, in ASCII

/** Words as the first of a sentence; those that ASCII does not decide are listed. */
function firstForms(words: readonly string[], listed: Uint8Array): string[] {
  const found = words.map((word) =>
    PLAIN.test(word) ? word.slice(0, 1).toUpperCase() + word.slice(1) : word,
  );
  for (const line of new TextDecoder().decode(listed).split("\n")) {
    const [place, word] = line.split(" ");
    if (word !== undefined) found[Number(place)] = word;
  }
  return found;
}
