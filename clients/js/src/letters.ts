import { type Parts, runs } from "./unicode.js";

const [LETTER, SMALL, CAPITAL, DIGIT, TITLE] = [1, 2, 4, 8, 16] as const;

/** What a policy asks of the characters of a word, as Python's strings answer it. */
export class Letters {
  private readonly kinds: Uint8Array;

  constructor(part: Parts) {
    this.kinds = runs(part("letters"));
  }

  hasLetter(word: string): boolean {
    return this.some(word, LETTER);
  }

  hasDigit(word: string): boolean {
    return this.some(word, DIGIT);
  }

  /** Whether a word is made of digits, of any script. */
  isDigits(word: string): boolean {
    return word !== "" && Array.from(word).every((char) => (this.kinds[char.codePointAt(0)!]! & DIGIT) > 0);
  }

  /** Whether a word has a small letter, and no capital. */
  isSmall(word: string): boolean {
    return this.some(word, SMALL) && !this.some(word, CAPITAL | TITLE);
  }

  /** Whether a word has a capital, and no small letter. */
  isUpper(word: string): boolean {
    return this.some(word, CAPITAL) && !this.some(word, SMALL | TITLE);
  }

  /** Whether a word of several characters begins with a letter; and with a capital. */
  startOf(word: string): { isLetter: boolean; isCapital: boolean } {
    const point = word.codePointAt(0) ?? 0;
    const isLong = word.length > (point < 0x10000 ? 1 : 2);
    const isLetter = isLong && (this.kinds[point]! & LETTER) > 0;
    return { isLetter, isCapital: isLetter && (this.kinds[point]! & CAPITAL) > 0 };
  }

  private some(word: string, kind: number): boolean {
    for (let i = 0; i < word.length; i++) {
      const point = word.codePointAt(i)!;
      if (this.kinds[point]! & kind) return true;
      if (point >= 0x10000) i++;
    }
    return false;
  }
}
