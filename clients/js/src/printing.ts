import { isAbbreviation } from "./abbreviations.js";
import { endsSentence } from "./lookup.js";
import type { Output, Policy } from "./policy.js";
import { PLACES } from "./shapes.js";

/** Between two words: nothing, or the 's of the first; the second would go on as part of it. */
export const TOUCHING = /^(?:['’][sS])?$/;

const MONTH =
  /^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)$/i;
/** Of a member of a format, the member of it that is a day. */
const DAYS: Readonly<Record<string, (member: number) => number>> = {
  "1 digits": (i) => 1 + (i % 9),
  "0 and 1 digits": (i) => 1 + (i % 9),
  "2 digits": (i) => (10 + i) % 19,
  ordinal: (i) => i % 28,
};

/** Single spaces, and a full stop: structure that tells nothing but the number of words. */
function plainParts(parts: readonly string[]): string[] {
  const last = parts.length - 1;
  return parts.map((part, i) => (i % 2 ? part : i === 0 ? "" : i === last ? "." : " "));
}

/** Prints released outputs of a policy: a function of them and of the structure. */
export class PolicyPrinter {
  /** Of each ending: the word that it stands for, and the ordinary words it is joined to. */
  private readonly endings: ReadonlyMap<number, readonly [string, ReadonlySet<number>]>;
  private readonly articles: ReadonlySet<number>;
  /** Of each format of days, its rule. */
  private readonly days: ReadonlyMap<number, (typeof DAYS)[string]>;

  constructor(
    private readonly policy: Policy,
    endings: Readonly<Record<string, string>>,
    private readonly structure: string,
    same: string,
  ) {
    const { symbols } = policy;
    // A word that hides has the symbol of a group, which no ending and no article is.
    const known = (words: readonly string[]): Set<number> =>
      new Set(words.map((word) => symbols.get(word) ?? Infinity).filter((symbol) => !policy.isGroup(symbol)));
    this.endings = new Map(
      Object.entries(endings).flatMap(([ending, spelled]) =>
        [...known([ending])].map((symbol) => [symbol, [spelled, known(policy.hosts[ending]!)]]),
      ),
    );
    this.articles = known(["a", "an"]);
    // A wider scope promises equal words the same output.
    this.days = new Map(
      same === "place" ? Object.entries(DAYS).map(([name, day]) => [policy.shape(PLACES.get(name)!), day]) : [],
    );
  }

  /** The text in pieces, `[structure, word, ..., structure]`. */
  print(given: readonly string[], outputs: readonly Output[]): string[] {
    const isPlain = this.structure === "plain";
    const pieces = isPlain ? plainParts(given) : [...given];
    const gaps = [...pieces];
    outputs.forEach((output, i) => {
      const isFirst = !i || (endsSentence(gaps[2 * i]!) && !isAbbreviation(gaps, i - 1, this.policy.print(outputs[i - 1]!)));
      pieces[2 * i + 1] = this.word(output, isFirst);
    });
    outputs.forEach((output, i) => {
      const member = this.dayOf(
        output,
        gaps[2 * i] === " " ? outputs[i - 1] : undefined,
        gaps[2 * i + 2] === " " ? outputs[i + 1] : undefined,
      );
      if (member !== undefined) pieces[2 * i + 1] = this.word({ ...output, member }, false);
    });
    outputs.forEach((output, i) => this.chooseArticle(pieces, i, output, outputs[i + 1]));
    for (let i = 1; i < outputs.length; i++) {
      const gap = gaps[2 * i]!;
      if (isPlain ? gap === " " : TOUCHING.test(gap)) {
        this.joinEnding(pieces, i, outputs[i - 1]!, outputs[i]!);
      }
    }
    return pieces;
  }

  private word(output: Output, isFirst: boolean): string {
    const place = isFirst && !output.lap ? this.policy.placeOf(output) : null;
    return place === null ? this.policy.print(output) : this.policy.first[place]!;
  }

  /** The member that is printed as a day beside a month. */
  private dayOf({ symbol, member }: Output, ...beside: (Output | undefined)[]): number | undefined {
    const isMonth = (output?: Output): boolean => !!output && MONTH.test(this.policy.print(output));
    return beside.some(isMonth) ? this.days.get(symbol)?.(member) : undefined;
  }

  /** Print "a" or "an" as the sensitive word asks that is printed behind it. */
  private chooseArticle(pieces: string[], i: number, output: Output, next?: Output): void {
    if (!next || !this.articles.has(output.symbol) || !this.policy.isGroup(next.symbol)) return;
    const article = /^[aeiou8]/i.test(pieces[2 * i + 3]!) ? "an" : "a";
    const isFirst = pieces[2 * i + 1]!.startsWith("A");
    pieces[2 * i + 1] = isFirst ? `A${article.slice(1)}` : article;
  }

  /** Join an ending to a word that takes it; set apart what else would touch. */
  private joinEnding(pieces: string[], i: number, before: Output, output: Output): void {
    const gap = pieces[2 * i]!;
    const ending = this.endings.get(output.symbol);
    if (ending && (gap === "" || gap === " ")) {
      const [spelled, hosts] = ending;
      const isJoined = hosts.has(before.symbol);
      pieces[2 * i] = isJoined ? "" : " ";
      if (!isJoined) pieces[2 * i + 1] = spelled;
    } else if (TOUCHING.test(gap)) pieces[2 * i] = `${gap} `;
  }
}
