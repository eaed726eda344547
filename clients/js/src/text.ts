import { DIGIT, FORMAT, MARK, OTHER, type Unicode } from "./unicode.js";

/** The public lists of the tokenizer and of the lookup, as an artifact has them. */
export interface Lists {
  readonly signs: string;
  readonly currency: string;
  readonly blanks: string;
  readonly apostrophes: string;
  readonly gap: number;
  readonly same: number;
  readonly longest: number;
  readonly endings: Readonly<Record<string, string>>;
  readonly hosts: Readonly<Record<string, string>>;
}

const [LISTED, APOSTROPHE, CURRENCY] = [1, 2, 4] as const;
const NOTHING = -1;
/** Letters that Unicode does not take apart. */
const OTHERS: Readonly<Record<string, string>> = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ħ: "h", ı: "i" };
const ENDINGS = ["ll", "re", "ve", "d", "m"];

/** Cuts texts into structure and words, and finds the form that words are looked up in. */
export class Tokenizer {
  private readonly signs = new Uint8Array(0x10000);
  private readonly endings: ReadonlyMap<string, string>;
  private readonly hosts: ReadonlyMap<string, string>;
  // The text in hand, in code points.
  private points: number[] = [];

  constructor(
    private readonly lists: Lists,
    private readonly unicode: Unicode,
  ) {
    this.endings = new Map(Object.entries(lists.endings));
    this.hosts = new Map(Object.entries(lists.hosts));
    const kinds = [
      [lists.signs + lists.currency + lists.blanks, LISTED],
      [lists.currency, CURRENCY],
      [lists.apostrophes, APOSTROPHE],
    ] as const;
    for (const [all, kind] of kinds) {
      for (let i = 0; i < all.length; i++) this.signs[all.charCodeAt(i)]! |= kind;
    }
  }

  /** `[structure, word, structure, ..., word, structure]`, which join to the text. */
  cut(text: string): string[] {
    this.points = Array.from(text, (char) => char.codePointAt(0)!);
    const parts: string[] = [];
    let done = 0; // code units that are in `parts`
    let unit = 0;
    for (let at = 0; at < this.points.length; ) {
      const end = this.wordEnd(at);
      if (end <= at) {
        unit += units(this.points[at++]!);
        continue;
      }
      parts.push(text.slice(done, unit));
      done = unit;
      while (at < end) unit += units(this.points[at++]!);
      parts.push(text.slice(done, unit));
      done = unit;
    }
    parts.push(text.slice(done));
    this.points = [];
    return this.cutGaps(parts);
  }

  /** The form under which a word is looked up; the next word matters where it is n't. */
  canonical(word: string, following = ""): string {
    if (word.length > this.lists.longest && length(word) > this.lists.longest) return word;
    let form = isAscii(word) ? small(word) : this.unicode.folded(this.straight(word));
    if (this.isNegation(following)) form = this.hosts.get(form) ?? form;
    return this.endings.get(form) ?? form;
  }

  /** The form in which the lists of a policy hold a word: endings stay, long words are small. */
  folded(word: string): string {
    if (this.hasApostrophe(word)) return small(this.straight(word));
    const isLong = word.length > this.lists.longest && length(word) > this.lists.longest;
    return isLong ? this.unicode.smallLetters(word) : this.canonical(word);
  }

  /** A folded word without marks; "" if it has none, or other letters: `without_marks` of Python. */
  unmarked(folded: string): string {
    if (isAscii(folded) || length(folded) > this.lists.longest) return "";
    const plain = this.unicode.withoutMarks(folded.replace(/[ßæœøłđħı]/g, (letter) => OTHERS[letter]!));
    return /^[A-Za-z]+$/.test(plain) ? plain : "";
  }

  /** Whether a word is the ending n't, in any case and with any apostrophe. */
  isNegation(word: string): boolean {
    return word.length === 3 && small(this.straight(word)) === "n't";
  }

  hasApostrophe(word: string): boolean {
    for (let i = 0; i < word.length; i++) {
      if (this.signs[word.charCodeAt(i)]! & APOSTROPHE) return true;
    }
    return false;
  }

  private straight(word: string): string {
    if (!this.hasApostrophe(word)) return word;
    return Array.from(word, (char) =>
      this.lists.apostrophes.includes(char) ? "'" : char,
    ).join("");
  }

  /** Where the word ends that begins at a place, or a place that is not behind it. */
  private wordEnd(at: number): number {
    const point = this.points[at]!;
    if (this.isLetter(at)) {
      // Most words: no apostrophe precedes or follows.
      const end = this.run(at + 1);
      const isPlain = at > 0 && !this.is(at - 1, APOSTROPHE) && !this.is(end, APOSTROPHE);
      return isPlain ? end : this.fromLetter(at, at + 1);
    }
    if (this.kind(at) === FORMAT) {
      let letter = at + 1;
      while (this.kind(letter) === FORMAT) letter++;
      if (this.isLetter(letter)) return this.fromLetter(at, letter + 1);
    }
    if (this.is(at, APOSTROPHE)) return this.endingAt(at);
    if (this.is(at, CURRENCY)) return this.currencyAt(at);
    return this.isListed(point) ? NOTHING : this.other(at);
  }

  /** A word whose first letter is read, up to `next`; or its n, of n't, alone. */
  private fromLetter(at: number, next: number): number {
    if (this.isOneOf(next - 1, "nN") && this.isLetter(next - 2) && this.isT(next)) {
      return next + 2;
    }
    const end = this.run(next);
    if (end > next && this.isOneOf(end - 1, "nN") && this.isT(end)) return end - 1;
    const isGenitive =
      end === next &&
      this.isOneOf(next - 1, "sS") &&
      this.is(next - 2, APOSTROPHE) &&
      this.isLetter(next - 3);
    return isGenitive ? at : end;
  }

  /** Whether 't follows, and the word ends with it. */
  private isT(at: number): boolean {
    return this.is(at, APOSTROPHE) && this.isOneOf(at + 1, "tT") && !this.isRest(at + 2);
  }

  /** What is behind an apostrophe, if it is an ending of a word. */
  private endingAt(at: number): number {
    if (!this.isLetter(at - 1)) return NOTHING;
    const found = ENDINGS.find((ending) =>
      [...ending].every((char, i) => this.isOneOf(at + 1 + i, char + char.toUpperCase())),
    );
    const end = at + 1 + (found?.length ?? 0);
    return found !== undefined && !this.isRest(end) ? end : NOTHING;
  }

  private currencyAt(at: number): number {
    let end = at + 1;
    while (this.is(end, CURRENCY)) end++;
    if (end > at + 1) return end;
    if (this.kind(at - 1) === DIGIT || this.kind(at + 1) === DIGIT) return NOTHING;
    return this.isContent(at - 1) || this.isContent(at + 1) ? end : NOTHING;
  }

  /** A run of content that begins with no letter, such as an emoji and its marks. */
  private other(at: number): number {
    let end = at + 1;
    while (this.isContent(end)) {
      const kind = this.kind(end);
      if (kind !== OTHER && kind !== MARK && kind !== FORMAT) break;
      end++;
    }
    return end;
  }

  private run(at: number): number {
    let end = at;
    while (this.isRest(end)) end++;
    return end;
  }

  private kind(at: number): number {
    const point = this.points[at];
    return point === undefined ? NOTHING : this.unicode.classes[point]!;
  }

  private isLetter(at: number): boolean {
    const kind = this.kind(at);
    return kind > OTHER && kind < FORMAT;
  }

  private isRest(at: number): boolean {
    return this.kind(at) > OTHER;
  }

  private isListed(point: number): boolean {
    return point < 0x10000 && (this.signs[point]! & LISTED) > 0;
  }

  private isContent(at: number): boolean {
    const point = this.points[at];
    return point !== undefined && !this.isListed(point);
  }

  private is(at: number, flag: number): boolean {
    const point = this.points[at];
    return point !== undefined && point < 0x10000 && (this.signs[point]! & flag) > 0;
  }

  private isOneOf(at: number, chars: string): boolean {
    const point = this.points[at];
    return point !== undefined && chars.includes(String.fromCodePoint(point));
  }

  /** Turn what is too long for a gap into a word; all of it is below U+10000. */
  private cutGaps(parts: string[]): string[] {
    if (parts.every((part, i) => i % 2 || part.length <= this.lists.gap)) return parts;
    return parts.flatMap((part, i) => {
      if (i % 2 || part.length <= this.lists.gap || !this.isLong(part)) return [part];
      // Half of an 's would be a letter.
      const end = part.length - (/[sS]/.test(part.at(-2)!) ? 1 : 2);
      return [part.slice(0, 2), part.slice(2, end), part.slice(end)];
    });
  }

  /** Whether a gap has more units than may pass. */
  isLong(gap: string): boolean {
    let count = 0;
    for (let at = 0; at < gap.length && count <= this.lists.gap; count++) at += this.unit(gap, at);
    return count > this.lists.gap;
  }

  /** How many characters count as one: an 's, or up to 32 equal blanks or line ends. */
  private unit(gap: string, at: number): number {
    if (this.hasApostrophe(gap[at]!) && /^[sS]/.test(gap.slice(at + 1))) return 2;
    const blank = gap.startsWith("\r\n", at) ? "\r\n" : gap[at]!;
    if (!this.lists.blanks.includes(blank[0]!)) return 1;
    let times = 1;
    while (times < this.lists.same && gap.startsWith(blank, at + times * blank.length)) times++;
    return times * blank.length;
  }
}

function units(point: number): number {
  return point < 0x10000 ? 1 : 2;
}

function length(word: string): number {
  let count = 0;
  for (const _ of word) count++;
  return count;
}

function isAscii(word: string): boolean {
  for (let i = 0; i < word.length; i++) if (word.charCodeAt(i) > 0x7f) return false;
  return true;
}

/** Letters of ASCII made small. */
function small(word: string): string {
  return word.replace(/[A-Z]+/g, (some) => some.toLowerCase());
}
