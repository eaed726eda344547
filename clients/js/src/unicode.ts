import { numbers, signed } from "./bytes.js";
import { artifactError } from "./errors.js";

/** Classes of characters, as the tokenizer sees them. */
export const [OTHER, LETTER, MARK, DIGIT, FORMAT] = [0, 1, 2, 3, 4] as const;

const EVERY = 0x110000;
const SIGMA = 0x3a3;
const [SMALL_SIGMA, FINAL_SIGMA] = [0x3c3, 0x3c2];
// Hangul syllables are composed of three kinds of letters, by arithmetic.
const [L, V, T, S] = [0x1100, 0x1161, 0x11a7, 0xac00];
const [LS, VS, TS] = [19, 21, 28];

/** Any part of an artifact, by its name. */
export type Parts = (name: string) => Uint8Array;

function points(text: string): number[] {
  return Array.from(text, (char) => char.codePointAt(0)!);
}

/** What an artifact knows of Unicode. Nothing is asked of the engine. */
export class Unicode {
  /** The class of every code point. */
  readonly classes: Uint8Array;
  private readonly removed: Uint8Array;
  private readonly combining: Uint8Array;
  private readonly sigma: Uint8Array;
  private readonly parts: Map<number, number[]>;
  private readonly small: Map<number, number[]>;
  private readonly whole = new Map<number, number>();

  constructor(part: Parts) {
    this.classes = runs(part("classes"));
    this.removed = runs(part("removed"));
    this.combining = runs(part("combining"));
    this.sigma = runs(part("sigma"));
    this.parts = strings(part("decompositions"));
    this.small = strings(part("lower"));
    for (const [whole, [first, second]] of strings(part("compositions"))) {
      this.whole.set(first! * EVERY + second!, whole);
    }
  }

  /** NFKC, no format characters, small letters, and NFKC again. */
  folded(text: string): string {
    const plain = this.composed(points(text)).filter((point) => !this.removed[point]);
    const found = this.composed(this.lowered(plain));
    // Two halves that were apart would become a character: they are no word, as they were.
    const isPair = found.some((p, i) => p >> 10 === 0x36 && found[i + 1]! >> 10 === 0x37);
    return isPair ? text : String.fromCodePoint(...found);
  }

  /** Small letters, and no more. */
  smallLetters(text: string): string {
    if (/^[\0-@[-\x7f]*$/.test(text)) return text;
    return this.lowered(points(text)).map((point) => String.fromCodePoint(point)).join("");
  }

  /** Without combining marks: the letters that are left. */
  withoutMarks(text: string): string {
    const letters = this.decomposed(points(text)).filter((point) => !this.combining[point]);
    return letters.map((point) => String.fromCodePoint(point)).join("");
  }

  private lowered(text: readonly number[]): number[] {
    return text.flatMap((point, place) => {
      if (point === SIGMA) return this.isFinal(text, place) ? FINAL_SIGMA : SMALL_SIGMA;
      return this.small.get(point) ?? point;
    });
  }

  /** Whether a sigma ends a word: a letter with case before it, and none behind it. */
  private isFinal(text: readonly number[], place: number): boolean {
    let before = place - 1;
    while (before >= 0 && this.sigma[text[before]!] === 2) before--;
    let after = place + 1;
    while (after < text.length && this.sigma[text[after]!] === 2) after++;
    return this.sigma[text[before] ?? 0] === 1 && this.sigma[text[after] ?? 0] !== 1;
  }

  private composed(text: readonly number[]): number[] {
    const found: number[] = [];
    let starter = -1; // the place in `found` of the last one
    let last = -1; // the combining class of what followed it, and is still there
    for (const point of this.decomposed(text)) {
      const kind = this.combining[point]!;
      const isNext = starter >= 0 && last < kind;
      const whole = isNext ? this.pair(found[starter]!, point) : undefined;
      if (whole !== undefined) {
        found[starter] = whole;
        continue;
      }
      found.push(point);
      last = kind;
      if (!kind) {
        starter = found.length - 1;
        last = -1;
      }
    }
    return found;
  }

  private decomposed(text: readonly number[]): number[] {
    const found: number[] = [];
    for (const point of text) {
      for (const part of this.partsOf(point)) {
        const kind = this.combining[part]!;
        let place = found.length;
        if (kind) while (place && this.combining[found[place - 1]!]! > kind) place--;
        found.splice(place, 0, part);
      }
    }
    return found;
  }

  private partsOf(point: number): readonly number[] {
    const syllable = point - S;
    if (syllable < 0 || syllable >= LS * VS * TS) return this.parts.get(point) ?? [point];
    const tail = syllable % TS;
    const both = Math.floor(syllable / TS);
    const found = [L + Math.floor(both / VS), V + (both % VS)];
    return tail ? [...found, T + tail] : found;
  }

  private pair(first: number, second: number): number | undefined {
    const [l, v, t, s] = [first - L, second - V, second - T, first - S];
    if (l >= 0 && l < LS && v >= 0 && v < VS) return S + (l * VS + v) * TS;
    if (s >= 0 && s < LS * VS * TS && s % TS === 0 && t > 0 && t < TS) return first + t;
    return this.whole.get(first * EVERY + second);
  }
}

/** Values as runs, one for each code point or for each place of another table. */
export function runs(bytes: Uint8Array): Uint8Array;
export function runs(bytes: Uint8Array, found: Uint32Array): Uint32Array;
export function runs(
  bytes: Uint8Array,
  found: Uint8Array | Uint32Array = new Uint8Array(EVERY),
): Uint8Array | Uint32Array {
  const steps = numbers(bytes);
  let at = 0;
  for (let i = 0; i + 1 < steps.length; i += 2) {
    at += steps[i]!;
    found.fill(steps[i + 1]!, at, at + (steps[i + 2] ?? found.length));
  }
  const isWhole = at < found.length || !steps.length;
  if (!isWhole || steps.length % 2) throw artifactError("a table of it is broken");
  return found;
}

function strings(bytes: Uint8Array): Map<number, number[]> {
  const found = new Map<number, number[]>();
  const steps = numbers(bytes);
  let at = 0;
  let key = 0;
  while (at < steps.length) {
    key += steps[at]!;
    const end = at + 2 + steps[at + 1]!;
    let point = key;
    const all = steps.slice(at + 2, end).map((step) => (point += signed(step)));
    if (key >= EVERY || all.some((each) => !(each >= 0 && each < EVERY))) {
      throw artifactError("a table of it is broken");
    }
    found.set(key, all);
    at = end;
  }
  return found;
}
