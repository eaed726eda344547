import { cutText, readEnding, readReferences } from "./cutting.js";
import { Letters } from "./letters.js";
import { Memo } from "./memo.js";
import type { Policy } from "./policy.js";
import { PLACES, isWrittenDate, mixedShape, numberShape } from "./shapes.js";
import type { Tokenizer } from "./text.js";
import type { Parts } from "./unicode.js";

const JOINERS = "@._-/:~+%=&?#\\'’";
/** A quotation, a list or a title may begin behind one of these. */
const OPENERS = '":;([{“”«‹*•|>–—';
// A full stop that touches words on both sides ends nothing: 3.14, u.s, example.com.
const ENDS = /[!?！？。؟।\n\r]|\.(?!$)/;
const [STARTS, JOINS, MARKS, DOT, SLASH, ENDS_LINE] = [1, 2, 4, 8, 16, 32] as const;
/** A full stop; the ending 's of the word; a sign that names stand behind ("Name: Hope"); white space alone; an ampersand. */
const [STOP, OWNS, SIGN, BLANK, AND] = [64, 128, 256, 512, 1024] as const;
const [TITLE, TITLE_WORDS] = [0.9, 4] as const;
const [SMALL, CAPITAL, CAPITALS] = [1, 2, 3] as const;
/** They begin sentences so often that no capital makes them names there. */
const FIRST_WORDS = new Set("will may can new fall spring does good best".split(" "));
/** Those that people have as names: a capital makes them names in lines in title case. */
const IN_TITLES = new Set("will may best".split(" "));
/** Words that begin sentences, and full names that are all of a line: "Will Hope". */
const GIVEN = new Set("will may hope art bill grant".split(" "));
/** Words in capitals of so many letters may be those of an organization: "AT&T". */
const SHORT = 3;
/** Abbreviations that are words in lines in capitals, since they are so frequent there. */
const LOUD = new Set("us or me in".split(" "));
/** Behind one of these a sentence begins, whatever else is there. */
const BEGIN = /[!?！？؟\n\r]/;
/** The only words with marks that may be ordinary, and only in small letters. */
const ACCENTED = new Set("café cafés cliché clichés décor façade façades naïve résumé résumés".split(" "));
const DIGITS = /^[0-9]+$/;
const UNKNOWN = [["ing", "g"], ["ed", "d"], ["ly", "r"], ["s", "p"]] as const;
const NOWHERE = { starts: false, inAddress: false, inDate: false };

/** Whether a sentence ends at what stands between two words. */
export function endsSentence(gap: string): boolean {
  return gap !== " " && ENDS.test(gap);
}

/** What the structure between two words decides of the symbols beside it. */
function flagsOf(written: string): number {
  const gap = readReferences(written);
  const signs = Array.from(gap);
  let found = endsSentence(gap) || signs.some((sign) => OPENERS.includes(sign)) ? STARTS : 0;
  if (/[\n\r]/.test(gap)) found |= ENDS_LINE;
  if (gap && signs.every((sign) => JOINERS.includes(sign))) {
    found |= JOINS;
    if (gap === ".") found |= DOT;
    if (gap === "/") found |= SLASH;
    if (/[@_\\]|\/\//.test(gap)) found |= MARKS;
  } else if (gap.endsWith("@")) found |= MARKS;
  if (gap === "." || (found & STARTS && !BEGIN.test(gap))) {
    found |= /^\. *$/.test(gap) ? STOP : SIGN;
  }
  if (/^[ \t\n\r\u00a0]*$/.test(gap)) found |= BLANK;
  if (gap === "&") found |= AND;
  return /^['’][sS]/.test(gap) ? found | OWNS : found;
}

/** The grammatical form that the ending of an unknown word shows. */
function formOf(word: string): string {
  const isLong = Array.from(word.slice(0, 10)).length > 4;
  const found = UNKNOWN.find(([ending]) => word.endsWith(ending));
  return found && isLong && !word.endsWith("ss") ? found[1] : "s";
}

/**
 * Turns the words of a text into symbols of a policy.
 *
 * The symbol of a word is a function of its own spelling and of the structure around it,
 * which passes in clear: `PolicyLookup` of `mondegreen.policy.lookup`.
 */
export class PolicyLookup {
  private readonly letters: Letters;
  private readonly flags = new Memo(flagsOf);
  /** Inside of sentences, four times the symbol of a word, and how it is written. */
  private readonly inside = new Memo((word) => 4 * this.symbolOf(word, NOWHERE) + this.caseOf(word));
  private readonly start = new Memo((word) => this.symbolOf(word, { ...NOWHERE, starts: true }));

  constructor(
    private readonly policy: Policy,
    private readonly tokenizer: Tokenizer,
    part: Parts,
  ) {
    this.letters = new Letters(part);
  }

  /** Cut a text into words and structure. */
  cut(text: string): string[] {
    return cutText(text, this.tokenizer);
  }

  /** The symbol of each word of a text that was cut. */
  codes(parts: readonly string[]): number[] {
    const words = parts.filter((_, i) => i % 2);
    const flags = parts.filter((_, i) => i && i % 2 === 0).map((gap) => this.flags.get(gap));
    const found = words.map((word) => this.inside.get(word));
    const cases = found.map((each) => each % 4);
    const isTitle = inLinesOf(CAPITAL, cases, flags);
    const isLoud = inLinesOf(CAPITALS, cases, flags);
    const startsLine = (i: number): boolean => !i || i === words.length || (flags[i - 1]! & ENDS_LINE) > 0;
    const { policy } = this;
    const nameless = words.map((word, i) => {
      const first = !i || (flags[i - 1]! & STARTS) > 0;
      const hasCapital = cases[i]! >= CAPITAL;
      const inTitle = isTitle[i]! && hasCapital;
      // "iPad" has a capital that no start of a sentence explains.
      const isFirst = (first || inTitle) && cases[i] !== SMALL;
      const code = isFirst ? this.start.get(word) : Math.floor(found[i]! / 4);
      const behind = i && hasCapital ? flags[i - 1]! : 0;
      const owns = first && hasCapital && (flags[i]! & OWNS) > 0; // "Will's", not "will"
      // All of its line, or the first of two words, without a sign behind it: a signature.
      const opensLine = hasCapital && code < policy.ordinary && startsLine(i) && (flags[i]! & BLANK) > 0;
      const isPair = opensLine && i + 1 < words.length && startsLine(i + 2) && (flags[i + 1]! & BLANK) > 0;
      const isSure = owns || (opensLine && startsLine(i + 1)) || (behind & SIGN) > 0;
      const isLoudName = cases[i] === CAPITALS && code < policy.ordinary; // not IV, which hides anyway
      const isLikely = inTitle || (behind & STOP) > 0 || isLoudName;
      if (!(isSure || isPair || isLikely)) return code;
      const folded = this.tokenizer.folded(readEnding(word));
      const isTitled = inTitle && cases[i] === CAPITAL && IN_TITLES.has(folded);
      const sure = isSure || isTitled || (isPair && GIVEN.has(folded));
      if (!(sure || isLikely)) return code;
      if (isLoud[i] && cases[i] === CAPITALS && !sure) {
        // An abbreviation such as US is a word here, as all others are.
        const small = LOUD.has(folded) && policy.upper.has(folded) ? policy.symbols.get(folded)! : Infinity;
        if (small < policy.ordinary) return small;
      }
      return sure || !FIRST_WORDS.has(folded) ? this.likelyName(word, folded, code) : code;
    });
    const codes = nameless.map((code, i) => {
      const touches = (flags[i]! | (i && flags[i - 1]!)) & AND;
      if (!touches || code >= policy.ordinary || !this.letters.isUpper(words[i]!)) return code;
      const { length } = [...words[i]!];
      return length < 2 ? this.shape("letter") : length > SHORT ? code : policy.name;
    });
    // A slash matters beside a number alone.
    const isDate = (gap: number): boolean => words.slice(gap, gap + 2).some((word) => this.letters.isDigits(word));
    const marked = flags.flatMap((flag, gap) => (flag & (MARKS | DOT) || (flag & SLASH && isDate(gap)) ? [gap] : []));
    if (parts[0]!.endsWith("@")) marked.unshift(-1);
    this.recode(words, codes, flags, marked);
    return codes;
  }

  /** Look up anew what a marked gap touches; gap i is behind word i, gap -1 before the first. */
  private recode(
    words: readonly string[],
    codes: number[],
    flags: readonly number[],
    marked: readonly number[],
  ): void {
    let done = -1;
    for (const gap of marked) {
      if (gap >= 0 && flags[gap]! & SLASH) {
        for (const i of [gap, gap + 1]) {
          const word = words[i];
          if (word !== undefined && DIGITS.test(word)) {
            codes[i] = this.symbolOf(word, { ...NOWHERE, inDate: true });
          }
        }
      }
      if (gap < done) continue;
      const [start, stop] = runAt(gap, flags);
      done = stop;
      if (!isAddress(gap, start, stop, flags)) continue;
      for (let i = start; i < Math.min(stop + 1, words.length); i++) {
        codes[i] = this.symbolOf(words[i]!, { ...NOWHERE, inAddress: true });
      }
    }
  }

  /** The symbol of one token, by its own spelling and what stands around it. */
  symbolOf(word: string, { starts, inAddress, inDate }: typeof NOWHERE): number {
    const { policy } = this;
    if (DIGITS.test(word)) return this.shape(numberShape(word, inDate));
    const folded = this.tokenizer.folded(readEnding(word));
    const known = policy.symbols.get(folded);
    const isPart = inAddress && !isWrittenDate(word);
    if (isPart && (known === undefined || !policy.address.has(folded))) {
      return this.shape("part of an address");
    }
    if (known === undefined) return this.unmarked(word, folded) ?? this.unknown(word, folded);
    return this.listed(word, folded, known, starts);
  }

  /** The symbol of the same word without marks; none that shows, but of a list. */
  private unmarked(word: string, folded: string): number | undefined {
    const plain = this.tokenizer.unmarked(folded);
    const known = this.policy.symbols.get(plain);
    if (known === undefined || plain.length < 2) return undefined;
    const symbol = this.listed(word, plain, known, false);
    const mayShow = ACCENTED.has(folded) && this.letters.isSmall(word);
    return mayShow || symbol >= this.policy.ordinary ? symbol : undefined;
  }

  /** The symbol of a word that is known under its folded form. */
  private listed(word: string, folded: string, known: number, starts: boolean): number {
    const { policy, letters } = this;
    const isUpper = letters.isUpper(word);
    const isName = !(starts || isUpper) && policy.capitals.has(folded);
    if (letters.isSmall(word) || !(known < policy.ordinary || isName)) return known;
    // An ordinary word with capitals.
    if (isUpper && [...word.slice(0, 3)].length > 1) {
      const name = policy.starts.has(folded) ? policy.nameOf(folded) : undefined;
      return policy.upper.get(folded) ?? name ?? known;
    }
    if (starts && !policy.starts.has(folded)) return known;
    return policy.capitals.get(folded) ?? known;
  }

  /** The symbol of a word with a capital where a name is likely. */
  private likelyName(word: string, folded: string, known: number): number {
    const isUpper = this.letters.isUpper(word) && [...word.slice(0, 3)].length > 1;
    const upper = isUpper ? this.policy.upper.get(folded) : undefined;
    return upper ?? this.policy.nameOf(folded) ?? known;
  }

  /** The symbol of a token that no list has, by its shape. */
  private unknown(word: string, folded: string): number {
    const { policy, letters } = this;
    if (letters.hasDigit(folded)) return this.shape(mixedShape(folded));
    if (!letters.hasLetter(folded)) return this.shape("sign");
    if (folded.length < 3 && [...folded].length === 1) return this.shape("letter");
    return letters.isSmall(word) ? policy.rest(formOf(folded)) : policy.name;
  }

  private caseOf(word: string): number {
    const { isLetter, isCapital } = this.letters.startOf(word);
    if (!isLetter) return 0;
    if (this.letters.isUpper(word)) return CAPITALS;
    return isCapital ? CAPITAL : SMALL;
  }

  private shape(name: string): number {
    return this.policy.shape(PLACES.get(name)!);
  }
}

/** Which words are in a line whose words mostly have a capital first, or no small letter. */
function inLinesOf(least: number, cases: readonly number[], flags: readonly number[]): boolean[] {
  const found: boolean[] = [];
  let [capitals, written] = [0, 0];
  cases.forEach((each, i) => {
    if (each) written++;
    if (each >= least) capitals++;
    if (i + 1 < cases.length && !(flags[i]! & ENDS_LINE)) return;
    const isTitle = capitals >= TITLE * written && written >= TITLE_WORDS;
    while (found.length <= i) found.push(isTitle);
    [capitals, written] = [0, 0];
  });
  return found;
}

/** The first and the last word of the run of joined words at a gap. */
function runAt(gap: number, flags: readonly number[]): [number, number] {
  let start = gap + 1;
  let stop = start;
  if (gap >= 0 && flags[gap]! & JOINS) {
    start = gap;
    while (start && flags[start - 1]! & JOINS) start--;
  }
  while (stop < flags.length - 1 && flags[stop]! & JOINS) stop++;
  return [start, stop];
}

/** Whether a run has the signs of an address, or two full stops. */
function isAddress(gap: number, start: number, stop: number, flags: readonly number[]): boolean {
  if (gap < 0 || flags.slice(Math.max(start - 1, 0), stop).some((flag) => flag & MARKS)) return true;
  return flags.slice(start, stop).filter((flag) => flag & DOT).length > 1;
}
