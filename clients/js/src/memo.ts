const ENTRIES = 1 << 18;
// To look up a longer word takes so long that the time would show whether it was met before.
const LONGEST = 32;

/** What a function gives for words met before. It is bounded, and holds no long word. */
export class Memo {
  private readonly held = new Map<string, number>();

  constructor(private readonly codeOf: (word: string) => number) {}

  get(word: string): number {
    const known = this.held.get(word);
    if (known !== undefined) return known;
    const code = this.codeOf(word);
    if (word.length > LONGEST) return code;
    if (this.held.size >= ENTRIES) this.held.clear();
    this.held.set(word, code);
    return code;
  }
}
