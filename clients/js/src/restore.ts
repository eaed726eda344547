import { isMonthOfAny } from "./calendar.js";
import { LinkScanner } from "./links.js";
import type { Policy } from "./policy.js";
import type { Surrogates } from "./surrogates.js";
import type { Tokenizer } from "./text.js";
import { BEFORE_TAG, JOINED, LABEL, NEAR, type Unit, type Units, WORD } from "./units.js";

const WAIT = -1;
const BEHIND = 2 * NEAR;
const HERE = new RegExp(WORD.source, "uy");
const BEGINS = new RegExp(`^${WORD.source}`, "u");
const EVERY = new RegExp(WORD.source, "gu");
const NAMES = ["first_name", "surname", "place", "organization", "other_name", "origin"];
const BEGINNING = /(?:^|[.!?:\n¡¿«"“(*#>-])[ ]*$/;
const ALNUM = /^[\p{L}\p{N}]/u;
/** Signs within a number: blanks and a hyphen at which no line ends, too. */
const SIGNS = ".,/:'’\u00a0\u2009\u202f\u2011-"; // the hyphen is last, as a class needs it
const INSIDE = new RegExp(`[0-9][${SIGNS}]$`);
const LONGER = new RegExp(`^[${SIGNS}]?[0-9]`);
const JOINER = new RegExp(`^[${SIGNS}]?$`);
/** A day, with a word for its month or behind one, before a year. */
const DAY_OF_YEAR =
  /(?<![0-9])[0-9]{1,2}(?:st|nd|rd|th|er|[.ºª])?,?(?:[ -](?:of |de |d['’])?\p{L}+[.,]?(?: (?:of|de|del|di))?)?[ -]$/u;
const DAY = /^[0-9]{1,2}(?:st|nd|rd|th)?$/;
/** The next part of a date, and the signs before it. */
const PART = /^([^\p{L}\p{N}\n:;]{0,5}(?:(?:of|de|del|di) [[(*]?)?)([\p{L}\p{N}]{1,12})(?![\p{L}\p{N}])/u;
const YEAR = /^[0-9]{4}$/;
const WORD_OF_YEAR = /(\p{L}+)[.,]?(?: (?:of|de|del|di))?[ -]$/u;
/** An address that ends with its host, which more signs would make another one. */
const BARE = /(?:https?:\/\/|www\.)[^/?#\s]*$/i;
const ALONE = /^[.,;:!?*()<>[\]{}"'`|]{0,7}(?:[ \t\r\n]|$)/;
const MAY_JOIN = new RegExp(`${LABEL}(?:\\\\?[.．｡。]|\\\\(?:u(?:20?)?)?|&#?[0-9A-Za-z]{0,12})?$`, "uy");

/** Restores one answer. What comes of two pieces is what comes of the whole. */
export class Restorer {
  private readonly links = new LinkScanner();
  private rest = "";
  private behind = "";
  private isEnd = false;
  private isInWord = false;
  /** The part of a date before that is kept: 1 for a day, 2 for a month, 3 for a day that was not sent. */
  private kept = 0;

  constructor(
    private readonly surrogates: Surrogates,
    private readonly units: Units,
    private readonly policy: Policy,
    private readonly tokenizer: Tokenizer,
    private readonly longest: number,
  ) {}

  /** Take a piece of the answer; return what is certain by now. */
  feed(text: string): string {
    this.rest += text;
    return this.take();
  }

  /** Return the rest. */
  end(): string {
    this.isEnd = true;
    return this.take();
  }

  /** Restore what follows `behind` to its end; call `note` with the end and the text of each step. */
  walk(text: string, behind: string, note: (end: number, shown: string) => void): void {
    [this.isEnd, this.behind] = [true, behind.slice(-BEHIND)];
    for (let at = 0; at < text.length; ) {
      const [step, shown] = this.step(text, at);
      this.pass(text, at, (at += step), shown);
      note(at, shown);
    }
  }

  private pass(whole: string, at: number, end: number, shown: string): void {
    const text = whole.slice(at, end);
    this.noteDate(text, shown, whole.slice(end, end + 1));
    this.behind = (this.behind + text).slice(-BEHIND);
    this.links.feed(text);
  }

  private take(): string {
    const text = this.isEnd ? this.rest : this.rest.replace(/[\ud800-\udbff]$/, ""); // its other half comes
    let [shown, at] = ["", 0];
    while (at < text.length) {
      const [step, piece] = this.step(text, at);
      if (step === WAIT) break;
      shown += piece;
      this.pass(text, at, (at += step), piece);
    }
    this.rest = this.rest.slice(at);
    return shown;
  }

  /** Decide on what begins here: how many code units, and what they become. */
  private step(text: string, at: number): [number, string] {
    HERE.lastIndex = at;
    const word = HERE.exec(text)?.[0];
    if (word === undefined) return this.sign(text, at, String.fromCodePoint(text.codePointAt(at)!));
    const end = at + word.length;
    const isCut = end === text.length && !this.isEnd;
    if (isCut && word.length <= this.longest) return [WAIT, ""];
    const isWhole = !this.isInWord;
    this.isInWord = isCut;
    if (!isWhole || isCut) return [word.length, word]; // longer than any surrogate
    for (const unit of this.units.startingWith(word)) {
      const step = this.match(unit, text, at);
      if (step) return [step, step === WAIT ? "" : spellUnit(unit, text.slice(at, at + step))];
    }
    return this.word(text, at, word);
  }

  private sign(text: string, at: number, sign: string): [number, string] {
    this.isInWord = false;
    for (const unit of this.units.startingWith(sign)) {
      const step = this.match(unit, text, at);
      if (step) return [step, step === WAIT ? "" : spellUnit(unit, text.slice(at, at + step))];
    }
    return [sign.length, sign];
  }

  /** How many code units a unit takes here: 0 if it is not here. */
  private match(unit: Unit, text: string, at: number): number {
    const whole = unit.sent + unit.after;
    const given = plain(text.slice(at, at + whole.length)).toLowerCase();
    const wanted = plain(whole).toLowerCase();
    if (given !== wanted) {
      const canCome = wanted.startsWith(given) && at + given.length >= text.length;
      return canCome && !this.isEnd ? WAIT : 0;
    }
    if (!this.behind.toLowerCase().endsWith(unit.before.toLowerCase())) return 0;
    if (unit.near && !this.isNear(unit.near)) return 0;
    if (unit.translated && !this.isTranslated(unit, text, at)) return 0;
    if (this.isEnding(unit.sent)) return 0;
    const end = at + unit.sent.length;
    if (unit.isAddress) return this.matchAddress(unit, text, end);
    const following = text.slice(end, end + 2);
    const canGoOn = JOINER.test(following.slice(0, 1)) || (unit.isPart && following.startsWith(" "));
    if (following.length < 2 && !this.isEnd && !unit.after && canGoOn) return WAIT;
    if (unit.missing) {
      const found = this.matchMissing(unit, text.slice(end));
      if (found) return found === WAIT ? WAIT : 0;
    }
    if (unit.isPart && this.isOfDate()) return 0;
    const isMonth = !!unit.translated && isMonthOfAny(unit.sent);
    const kept = isMonth || DAY.test(unit.sent) ? this.matchRest(text.slice(end), isMonth ? unit.sent : "") : +(this.kept === 2 && YEAR.test(unit.sent));
    if (kept) return kept === WAIT ? WAIT : 0;
    const isTag = BEFORE_TAG.includes(unit.before) || !/^\p{L}/u.test(unit.original);
    if (this.links.isInside || (this.links.isAtTag && !isTag) || !this.isApart(unit, text, end)) return 0;
    const joined = this.isJoined(text, end + unit.after.length);
    return joined === WAIT ? WAIT : joined ? 0 : unit.sent.length;
  }

  /** Whether a day or a month keeps its surrogate by another part of its date. */
  private matchRest(rest: string, month = ""): number {
    const hasDate = this.units.startingWith(month).some(({ sent }) => /[0-9]/.test(sent));
    if ((hasDate && this.kept === 3) || this.kept === (month ? 1 : 2)) return 1;
    if (rest.length < 48 && !this.isEnd) return WAIT; // it holds two parts
    for (let i = 0; i < 2; i++) {
      const [whole, signs, word] = PART.exec(rest) ?? ["", "", ""];
      const isDay = DAY.test(word!);
      if (!isDay && !isMonthOfAny(word!) && !YEAR.test(word!)) return 0;
      const isInside = signs!.includes("[");
      // A day in brackets may be a note, and one that was not sent may be right.
      if (isDay && !this.units.startingWith(word!).length ? hasDate && !isInside : isInside) return 1;
      rest = rest.slice(whole.length);
    }
    return 0;
  }

  /** Note whether a part of a date keeps its surrogate: the others then do. */
  private noteDate(text: string, shown: string, following: string): void {
    const words = text.match(EVERY);
    if (words?.[0] !== text) {
      if (words || /[\n:;]/.test(text)) this.kept = 0;
    } else if (DAY.test(text)) {
      const units = this.units.startingWith(text);
      const isFree = !this.links.isInside && !this.isMarker(text, following);
      const isKept = shown === text && (units.length ? units.every(({ original }) => original !== text) : isFree);
      if (!isKept || this.kept !== 2) this.kept = !isKept ? 0 : units.length ? 1 : 3;
    } else if (isMonthOfAny(text)) {
      const isKept = shown === text && (this.kept || (this.original(text) ?? text) !== text);
      this.kept = isKept ? 2 : 0;
    } else if (!this.links.isInside && !/^(?:of|del?|di|d|the|in)$/i.test(text)) this.kept = 0;
  }

  /** Whether a letter is the ending of a word: "Ann's" holds no initial S. */
  private isEnding(word: string): boolean {
    return /^[sdmt]$/i.test(word) && /[\p{L}\p{N}_]['’]$/u.test(this.behind);
  }

  /** Whether a surrogate is among the words before. */
  private isNear(surrogate: string): boolean {
    const words = this.behind.slice(-NEAR - surrogate.length).toLowerCase().match(EVERY);
    return words?.includes(surrogate.toLowerCase()) ?? false;
  }

  /**
   * Whether the name of a day or month is that of another language: spelled as there, and no word that was
   * given out or is public. A capital that it has not inside a sentence makes it a name, such as Julio, unless
   * a sentence begins here or no such name is known.
   */
  private isTranslated(unit: Unit, text: string, at: number): boolean {
    if (!text.startsWith(unit.sent, at)) return false;
    HERE.lastIndex = at;
    const word = HERE.exec(text)![0];
    if (this.surrogates.find(word) || this.surrogates.isPublic(word)) return false;
    if (unit.translated === "plain" || BEGINNING.test(this.behind)) return true;
    return !this.policy.symbols.has(this.tokenizer.canonical(unit.sent));
  }

  /** Whether what a date leaves out stands beside it: then it is another date. */
  private matchMissing(unit: Unit, rest: string): number {
    if (unit.missing === "day") return Number(this.kept % 2 === 1 || /[0-9](?:st|nd|rd|th)?(?: of)?[ .,-]+$/.test(this.behind));
    if (unit.missing === "rest") return Number(this.isOfDate());
    return /^,?(?: of)? ?[0-9]{4}/.test(rest) ? 1 : this.matchRest(rest);
  }

  /** Whether a day or the name of a month stands before a year. */
  private isOfDate(): boolean {
    return isMonthOfAny(WORD_OF_YEAR.exec(this.behind)?.[1] ?? "") || DAY_OF_YEAR.test(this.behind);
  }

  /** Whether a number is no part of a longer one, and no marker of a list. */
  private isApart(unit: Unit, text: string, end: number): boolean {
    if (INSIDE.test(this.behind)) return false;
    if (unit.isPart && (/[0-9] $/.test(this.behind) || /^ [0-9]/.test(text.slice(end, end + 2)))) return false;
    if (!unit.after && BEGINS.test(text.slice(end, end + 2))) return false; // "July 5th" is not "July 5"
    if (unit.after) return !ALNUM.test(text.slice(end + unit.after.length));
    const isLonger = LONGER.test(text.slice(end, end + 2));
    if (isLonger || unit.before) return !isLonger;
    return !this.isMarker(unit.sent, text.slice(end, end + 1));
  }

  /** Whether a short number is the marker of a list. */
  private isMarker(sent: string, following: string): boolean {
    const line = this.behind.slice(this.behind.lastIndexOf("\n") + 1);
    return sent.length < 3 && !/[^ *#>-]/.test(line) && /[.)]/.test(following);
  }

  /** Whether an address is here as it was sent, and no longer one. */
  private matchAddress(unit: Unit, text: string, end: number): number {
    if (/[\p{L}\p{N}./@\-_%+=&?#:]$/u.test(this.behind)) return 0;
    if (unit.isText && (this.links.isInside || this.links.isAtTag)) return 0;
    const rest = text.slice(end, end + 8);
    if (!this.isEnd && rest.length < 8) return WAIT;
    if (!this.isOwn(unit, rest)) return 0;
    return /^[.,;:!?*]*([ \t\r\n()<>[\]{}"'`|]|$)/.test(rest) ? unit.sent.length : 0; // bold type too
  }

  /**
   * Whether an address is no part of a link, or a whole target. One without a scheme, such as of mail, is relative to
   * another server; one that ends with its host is whole if its target ends too.
   */
  private isOwn(unit: Unit, rest: string): boolean {
    const isBare = BARE.test(unit.original);
    if (this.links.isInside) {
      const sign = this.links.ownEnd;
      const isWhole = sign && [unit.original, unit.sent].every((each) => /^https?:\/\//i.test(each));
      return !!isWhole && (!isBare || rest.startsWith(sign));
    }
    return this.links.isAtTag ? rest.startsWith(">") : !isBare || ALONE.test(rest);
  }

  /** Restore a name or another word of a group. */
  private word(text: string, at: number, word: string): [number, string] {
    const original = this.original(word);
    if (original === null) {
      const read = this.links.isInEscape && /^[bfnrt]./.test(word) ? 1 : word.length; // as in \nAnn in JSON
      return [read, word.slice(0, read)];
    }
    const end = at + word.length;
    const following = text.slice(end, end + 3); // a sign and a letter, which may take two
    if (!this.isEnd && ["", ".", ":", "'", "’"].includes(following)) return [WAIT, ""];
    const joined = this.isJoined(text, end);
    const kept = isMonthOfAny(word) ? this.matchRest(text.slice(end), word) : 0;
    if (joined === WAIT || kept === WAIT) return [WAIT, ""];
    const isNegation = /^['’]t/i.test(following) && /n$/i.test(word);
    if (kept || isNegation || this.isEnding(word)) return [word.length, word];
    const isAddress = joined || /^:[\p{L}\p{N}/\\]/u.test(following) || /@$|[\p{L}\p{N}][.．｡]$|[0-9A-Za-z]。$/u.test(this.behind);
    const isKept = isAddress || this.links.isAtTag || this.links.isInside;
    return [word.length, isKept ? word : original];
  }

  /** Whether what ends here is part of a host or of a user before one: looks one label ahead. */
  private isJoined(text: string, end: number): number {
    JOINED.lastIndex = MAY_JOIN.lastIndex = end;
    return JOINED.test(text) ? 1 : !this.isEnd && MAY_JOIN.test(text) ? WAIT : 0;
  }

  private original(word: string): string | null {
    const found = this.surrogates.find(word);
    if (!found) return this.plural(word);
    const kind = this.policy.describe(found.output.symbol);
    if (kind.class === "format" && kind.form !== "code") return null; // units decide
    return this.spell(word);
  }

  /** Write an original as its surrogate is written: small, or in capitals. */
  private spell(word: string): string {
    const { original, output } = this.surrogates.find(word)!;
    const printed = this.policy.print(output);
    if (word === printed) return original;
    if (word === capitalized(printed)) return capitalized(original);
    if (isUpper(word) && Array.from(word).length > 1) return original.toUpperCase();
    return isLower(word) ? original.toLowerCase() : original;
  }

  /** Restore the plural of a name, unless it is another word. */
  private plural(word: string): string | null {
    const folded = this.tokenizer.canonical(word);
    if (!folded.endsWith("s") || this.policy.symbols.has(folded)) return null;
    for (const ending of ["es", "s"]) {
      const stem = word.slice(0, -ending.length);
      const found = this.surrogates.find(stem);
      if (!found || !folded.endsWith(ending)) continue;
      if (NAMES.includes(this.policy.describe(found.output.symbol).class)) {
        const original = this.spell(stem);
        const added = /(?:s|x|z|ch|sh)$/i.test(original) ? "es" : "s";
        return original + (isUpper(word) ? added.toUpperCase() : added);
      }
    }
    return null;
  }
}

function plain(text: string): string {
  return text.replace(/[\u00a0\u2009\u202f]/g, " ").replaceAll("\u2011", "-");
}

function isUpper(word: string): boolean {
  return word === word.toUpperCase() && word !== word.toLowerCase();
}

function isLower(word: string): boolean {
  return word === word.toLowerCase() && word !== word.toUpperCase();
}

/** Write a word as the first of a sentence; a name such as iPhone stays. */
function capitalized(word: string): string {
  const [sign = "", ...rest] = Array.from(word);
  const first = sign.toUpperCase();
  return isLower(word) && Array.from(first).length === 1 ? first + rest.join("") : word;
}

/** Write an address in capitals or small letters where its surrogate is so. */
function spellUnit(unit: Unit, given: string): string {
  const [upper, lower] = [given.toUpperCase(), given.toLowerCase()];
  if (given === unit.sent || upper === lower) return unit.original;
  if (given === upper) return unit.original.toUpperCase();
  return given === lower ? unit.original.toLowerCase() : unit.original;
}
