import { shortForms, translations } from "./calendar.js";
import { findMonth, type Missing, notations } from "./dates.js";
import { findHalf, times } from "./times.js";

/** What was sent, what it stands for, and what must stand beside it, or must not. */
export interface Unit {
  readonly sent: string;
  readonly original: string;
  readonly before: string;
  readonly after: string;
  readonly isAddress: boolean;
  readonly missing: Missing;
  /** A surrogate that stands somewhere before it. */
  readonly near: string;
  /** Whether it is another way to write what was sent; it may be written like what was sent of something else. */
  readonly isRewritten: boolean;
  /** Of a weekday or month in another language: as inside a sentence or in capitals, or as at the beginning of one. */
  readonly translated: "" | "plain" | "capital";
  /** Whether an address names no server by itself, such as a handle: it is never put into a link. */
  readonly isText: boolean;
  /** Whether it is a part of a longer number, and none beside other digits. */
  readonly isPart: boolean;
}

/** A word of an answer. Scripts without spaces separate words of other scripts. */
export const WORD =
  /(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}])[\p{L}\p{M}\p{N}\p{Cf}])+/u;

const BEGINS = new RegExp(`^${WORD.source}`, "u");

/** The name of the format of a word that was replaced; "" for a name; null for an ordinary word. */
export type Format = string | null;

const ADDRESS = "part of an address";
const CONTEXT = ["ordinal", "letter", "sign"];
const JOINS = new Set(["", ".", ",", "-", "/", ":", " ", "(", ")", ") ", " (", "+"]);
const GLUE = new Set(["", ".", ",", "-", "/", ":"]);
const RUN_ENDS = /[\s()<>[\]{}"'`|]/;
const AMOUNT = /^(?:[0-9]{1,3}(?:,[0-9]{3})*(?:\.[0-9]{1,2})?|[1-9][0-9]{3,}(?:\.[0-9]{1,2})?)$/;
/** How people write numbers of telephones and cards that have no signs. */
const SPLIT: Readonly<Record<number, readonly number[]>> = { 10: [3, 3, 4], 15: [4, 6, 5], 16: [4, 4, 4, 4] };
const LONGEST_CONTEXT = 24;
const LABEL_PARTS = 66; // of a text: one label, and what follows it

const IN_LABEL =
  "[-_+%~0-9A-Za-z\\u00a1-\\u1fff\\u2070-\\u2fff\\u3040-\\uff00\\uff10-\\uff19\\uff21-\\u{10ffff}]";

/** The rest of a label behind a word: of a host, or of a user before a host. */
export const LABEL = `(?:(?![0-9A-Za-z])${IN_LABEL}${IN_LABEL}{0,62})?`;

/** What follows a word that is part of a host or of a user; it matches at `lastIndex`. */
export const JOINED = new RegExp(
  `${LABEL}(?:@|\\\\?[.．｡][\\p{L}\\p{N}]|。[0-9A-Za-z]|\\\\[-@_+%~]|\\\\u(?:[^2]|2[^0]|20[^0-6])` +
    "|&(?:(?:period|commat|lowbar|colon);|#[xX]?0{9}" +
    "|#0*(?:4[56]|58|64|95|12290|65294|65377)[^0-9]" +
    "|#[xX]0*(?:2[dDeE]|3[aA]|40|5[fF]|3002|[fF]{2}(?:0[eE]|61))[^0-9A-Fa-f]))",
  "uy",
);

export const BEFORE_TAG = ["<", "</"];
/** Tags of HTML whose names may be hidden: most are no words of a list. */
const TAGS =
  /^(?:abbr|b|bd[io]|blockquote|col|colgroup|datalist|d[dlt]|del|dfn|div|embed|fieldset|figcaption|footer|h[1-6]|hgroup|iframe|img|ins|kbd|li|meta|nav|noscript|[ou]l|optgroup|p|param|q|rp|s|samp|sup|svg|t[dhrt]|tbody|textarea|tfoot|thead|u|var|wbr)$/;

/** Characters from a surrogate to a number of one digit that it tells to be meant. */
export const NEAR = 60;

/** Units of a conversation, by their first word: `Units` of `mondegreen.prompts.units`. */
export class Units {
  private readonly byFirst = new Map<string, Map<string, Unit>>();
  private readonly forms = new Map<string, string>();
  /** What something else is rewritten to as well: which one is meant cannot be told. */
  private readonly unclear = new Set<string>();
  private readonly lines = new Set<string>();

  /** Note the units of a text; structure and words come in turn in its parts. */
  learn(parts: readonly string[], sent: readonly string[], formats: readonly Format[]): void {
    const runs = [...findRuns(parts, sent, formats)];
    for (const list of [addresses, numbers, ranges, names, namedDates, timesOfDay, tags]) {
      for (const unit of list(parts, sent, formats, runs)) this.add(unit);
    }
  }

  /** Note a line that was sent; tell whether it is a new one. */
  noteLine(sent: string): boolean {
    return this.lines.size < this.lines.add(sent).size;
  }

  /** Note a piece of a text that comes back as a whole, in text; tell whether it is a new one. */
  addPiece(sent: string, original: string): boolean {
    return this.add(unit(sent, original, { isAddress: true, isText: true }));
  }

  private add(unit: Unit): boolean {
    const [key, written] = [keyOf(unit.sent), JSON.stringify(unit)];
    const known = this.byFirst.get(key) ?? new Map<string, Unit>();
    const isNew = !known.has(written);
    this.byFirst.set(key, known.set(written, unit));
    if (!unit.isRewritten) return isNew;
    const form = JSON.stringify([unit.sent, unit.before, unit.missing, unit.near, unit.translated]);
    const other = this.forms.get(form) ?? written;
    this.forms.set(form, other);
    if (other !== written) this.unclear.add(other).add(written);
    return isNew;
  }

  /** The units that start with a word: long before short, sent before rewritten, a whole before its beginning. */
  startingWith(word: string): Unit[] {
    const found = this.byFirst.get(word.toLowerCase());
    if (!found) return [];
    const size = (unit: Unit): number => unit.sent.length + unit.after.length;
    return [...found]
      .flatMap(([written, unit]) => (this.unclear.has(written) ? [] : [unit]))
      .sort(
        (one, other) =>
          size(other) - size(one) ||
          Number(one.isRewritten) - Number(other.isRewritten) ||
          other.sent.length - one.sent.length,
      );
  }
}

function keyOf(sent: string): string {
  return BEGINS.exec(sent)?.[0].toLowerCase() ?? String.fromCodePoint(sent.codePointAt(0)!);
}

function unit(sent: string, original: string, more: Partial<Unit> = {}): Unit {
  return { sent, original, before: "", after: "", isAddress: false, missing: "", near: "", isRewritten: false, translated: "", isText: false, isPart: false, ...more };
}

/** Names of tags of HTML that were written as tags; no other words are restored so. */
function* tags(parts: readonly string[], sent: readonly string[]): Iterable<Unit> {
  for (let i = 1; i < parts.length; i += 2) {
    const [mine, theirs] = [parts[i]!, sent[i]!];
    const isTag = /<\/?$/.test(parts[i - 1]!) && TAGS.test(mine.toLowerCase()) && /^[ \t\r\n>/]/.test(parts[i + 1]!);
    if (isTag && mine !== theirs) for (const before of BEFORE_TAG) yield unit(theirs, mine, { before });
  }
}

/** Weekdays and months, short or as an answer in another language has them. */
function* names(parts: readonly string[], sent: readonly string[], formats: readonly Format[]): Iterable<Unit> {
  for (const [k, format] of formats.entries()) {
    if (format !== "") continue;
    const [theirs, mine] = [sent[2 * k + 1]!, parts[2 * k + 1]!];
    for (const name of [...translations(theirs, mine), ...shortForms(theirs, mine)]) {
      const translated = name.isCapitalized ? "capital" : "plain";
      yield unit(name.sent, name.original, { before: name.before ?? "", isRewritten: true, translated });
    }
  }
}

/** Days beside the name of their month, with or without a year: `14 June`. */
function* namedDates(parts: readonly string[], sent: readonly string[], formats: readonly Format[]): Iterable<Unit> {
  for (let k = 0; k < formats.length; k++) {
    if (!findMonth(sent[2 * k + 1]!)) continue;
    const [first, last] = findDate(parts, formats, k);
    const [mine, theirs] = [textOf(parts, first, last), textOf(sent, first, last)];
    const found = last > first ? notations(theirs, mine) : [];
    if (found.length) yield unit(theirs, mine);
    for (const each of found) yield unit(each.sent, each.original, { missing: each.missing, isRewritten: true });
  }
}

/** The words of a date around the name of its month; that alone if it is none. */
function findDate(parts: readonly string[], formats: readonly Format[], month: number): Run {
  const follows = (k: number, gaps: readonly string[]): boolean =>
    gaps.includes(parts[2 * k + 2]!) && isNumber(formats[k + 1]);
  let [first, last] = [month, month];
  const gap = month ? parts[2 * month] : "";
  if (gap === " " && isNumber(formats[month - 1])) first--;
  else if (gap === " " && month > 1 && parts[2 * month - 2] === " " && parts[2 * month - 1] === "of") {
    if (isNumber(formats[month - 2])) first -= 2;
  }
  if (first === month && follows(last, [" ", ". "])) last++;
  if (last > first && follows(last, [" ", ", "]) && formats[last + 1] === "year") last++;
  return [first, last];
}

/** Times of day in other notations: `7am` for `7:00 am`. */
function* timesOfDay(parts: readonly string[], sent: readonly string[], formats: readonly Format[]): Iterable<Unit> {
  for (const [k, format] of formats.entries()) {
    if (!/^(?:clock |time of day)/.test(format ?? "")) continue;
    const [mine, theirs] = [parts, sent].map(
      (each) => each[2 * k + 1]! + findHalf(each.slice(2 * k + 2, 2 * k + 6).join("")),
    ) as [string, string];
    for (const [text, own] of times(theirs, mine)) yield unit(text, own, { isRewritten: true });
  }
}

/** Whole addresses, handles and words joined by a sign, each a run without blanks. */
function* addresses(parts: readonly string[], sent: readonly string[], formats: readonly Format[]): Iterable<Unit> {
  let [mine, theirs, hasAddress, isJoined] = ["", "", false, false];
  for (let i = 0; i < parts.length; i++) {
    const old = parts[i]!;
    if (i % 2) {
      [mine, theirs] = [mine + old, theirs + sent[i]!];
      const format = formats[(i - 1) / 2]!;
      hasAddress ||= format === ADDRESS;
      isJoined ||= format !== null && joins(parts, sent, i);
      continue;
    }
    const pieces = old.split(RUN_ENDS);
    [mine, theirs] = [mine + pieces[0]!, theirs + pieces[0]!];
    if (pieces.length > 1 || i === parts.length - 1) {
      while (mine && theirs && /[.,;:!?]$/.test(mine) && mine.at(-1) === theirs.at(-1)) {
        [mine, theirs] = [mine.slice(0, -1), theirs.slice(0, -1)];
      }
      if ((hasAddress || isJoined) && WORD.test(theirs)) {
        yield unit(theirs, mine, { isAddress: true, isText: !(hasAddress && BEGINS.test(theirs)) });
      }
      mine = theirs = pieces.at(-1)!;
      hasAddress = isJoined = false;
    }
  }
}

/** Whether a sign joins a surrogate to what stands beside it, as in `a.com`. */
function joins(parts: readonly string[], sent: readonly string[], i: number): boolean {
  const surrogate = sent[i]!;
  JOINED.lastIndex = 0;
  if (JOINED.test(sent.slice(i + 1, i + LABEL_PARTS).join(""))) return true;
  if (!/^\p{L}./u.test(surrogate)) return false;
  const [before, after] = [parts[i - 1]!, parts[i + 1]!];
  const hasSign = before.endsWith("@") || after.startsWith("@") || after.startsWith(":/");
  const hasNext = (after === "." || after === ":") && i + 2 < parts.length;
  return hasSign || hasNext || (before === "." && i > 2);
}

function* numbers(
  parts: readonly string[],
  sent: readonly string[],
  formats: readonly Format[],
  runs: readonly Run[],
): Iterable<Unit> {
  for (const [first, last] of runs) {
    if (last > first || isDate(formats[first]!)) yield* runUnits(textOf(parts, first, last), textOf(sent, first, last));
    for (let k = first; k <= last; k++) yield* wordUnits(parts, sent, formats, k, last === first);
    const [mine, theirs] = [textOf(parts, first, last), textOf(sent, first, last)];
    if (/^[0-9]{1,3}$/.test(theirs) && /[$€£]$/.test(parts[2 * first]!)) {
      for (const cents of [".00", ".0"]) yield unit(theirs + cents, mine + cents, { isRewritten: true });
    }
  }
}

/** The first and the last word. */
type Run = readonly [number, number];

/** Numbers that signs or blanks join to one, such as a telephone number. */
function* findRuns(parts: readonly string[], sent: readonly string[], formats: readonly Format[]): Iterable<Run> {
  const closed = findClosed(parts, sent, formats);
  const joins = (k: number): boolean => {
    const gap = parts[2 * k + 2]!;
    const isWhole = formats.slice(k, k + 2).some(isDate) || (gap.includes(" ") && (closed.has(k) || closed.has(k + 1)));
    return isNumber(formats[k + 1]) && !isWhole && JOINS.has(gap);
  };
  for (let i = 0; i < formats.length; ) {
    if (!isNumber(formats[i])) {
      i++;
      continue;
    }
    let last = i;
    while (joins(last)) last++;
    if (last - i === 1 && parts[2 * i + 2]!.includes(" ")) last = i; // two that may have nothing to do with each other
    yield [i, last];
    i = last + 1;
  }
}

/** Words of addresses and of amounts with cents, which no blank joins to others. */
function findClosed(parts: readonly string[], sent: readonly string[], formats: readonly Format[]): Set<number> {
  const closed = new Set<number>();
  let first = 0;
  for (let k = 0; k < formats.length; k++) {
    if (k + 1 < formats.length && !RUN_ENDS.test(parts[2 * k + 2]!)) continue;
    const isAddress = formats.slice(first, k + 1).includes(ADDRESS);
    const isClosed = isAddress || /^[0-9][0-9,]*\.[0-9]{2}$/.test(textOf(sent, first, k));
    for (; first <= k; first++) if (isClosed) closed.add(first);
  }
  return closed;
}

function isNumber(format: Format | undefined): boolean {
  return Boolean(format) && format !== ADDRESS;
}

/** Whether a word is a date or a time, which is whole by itself. */
function isDate(format: Format): boolean {
  return /^(?:date|clock) /.test(format ?? "");
}

function textOf(parts: readonly string[], first: number, last: number): string {
  return parts.slice(2 * first + 1, 2 * last + 2).join("");
}

/**
 * Dates and times that a sign joins to other numbers, as in `10:30-11:45`. Each is whole by itself too, but not
 * where a sign joins it to other digits.
 */
function* ranges(
  parts: readonly string[],
  sent: readonly string[],
  formats: readonly Format[],
  runs: readonly Run[],
): Iterable<Unit> {
  let [first, run] = [0, 0];
  for (let k = 0; k < formats.length; k++) {
    while (run < runs.length && runs[run]![1] <= k) run++;
    const isWithin = run < runs.length && runs[run]![0] <= k; // the next word is of the same run
    if (isWithin || isGlued(parts, sent, formats, k)) continue;
    if (k > first && formats.slice(first, k + 1).some(isDate)) yield unit(textOf(sent, first, k), textOf(parts, first, k));
    first = k + 1;
  }
}

/**
 * Whether a sign alone is between a word with digits and the next such word. An address, or a word that a sign
 * joins as in one, comes back by its own rules.
 */
function isGlued(parts: readonly string[], sent: readonly string[], formats: readonly Format[], k: number): boolean {
  if (k + 1 === formats.length || !GLUE.has(parts[2 * k + 2]!)) return false;
  return [k, k + 1].every((i) => {
    const theirs = sent[2 * i + 1]!;
    return formats[i] !== ADDRESS && /[0-9]/.test(theirs) && !joins(parts, sent, 2 * i + 1);
  });
}

function* runUnits(mine: string, theirs: string): Iterable<Unit> {
  yield unit(theirs, mine);
  for (const { sent, original, missing } of notations(theirs, mine)) {
    yield unit(sent, original, { missing, isRewritten: true });
  }
  yield* otherForms(mine, theirs);
}

function* otherForms(mine: string, theirs: string): Iterable<Unit> {
  if (AMOUNT.test(mine) !== AMOUNT.test(theirs)) return;
  const rest = withoutCountry(theirs);
  const found = new Map<string, string>(); // what several forms write alike has the first of them
  for (const [own, now] of rest === theirs ? [[mine, theirs]] : [[mine, theirs], [withoutCountry(mine), rest]]) {
    for (const form of FORMS) {
      const other = form(now!);
      if (!found.has(other)) found.set(other, form(own!));
    }
  }
  for (const [other, own] of found) {
    if (other.length > 2 && other !== theirs) yield unit(other, own, { isRewritten: true });
  }
}

type Form = (text: string) => string;
const amount =
  (form: Form): Form =>
  (text) =>
    AMOUNT.test(text) ? form(text) : text;
/** Write a telephone number or the number of a card with other signs. */
const joined =
  (sign: string): Form =>
  (text) =>
    groups(text).join(sign) || text;

/** The groups of digits of a telephone number or of a card; none for others. */
function groups(text: string): string[] {
  if (/[,.:/]/.test(text) && !/^[0-9]{3}\.[0-9]{3}\.[0-9]{4}$/.test(text)) return [];
  let found: string[] = text.match(/[0-9]+/g) ?? [];
  const sizes = SPLIT[text.length];
  if (found[0] === text && sizes) {
    let at = 0;
    found = sizes.map((size) => text.slice(at, (at += size)));
  }
  return found.join("").length > 6 ? found : [];
}

/** Write a telephone number whose first group is in brackets, behind the first. */
function inBrackets(text: string): string {
  const [first = "", ...rest] = groups(text);
  return rest.length > 1 && first.length === 3 ? `${first}) ${rest.join("-")}` : text;
}

/** Leave the first group of a telephone number away. */
function withoutCountry(text: string): string {
  const [first = "", ...rest] = groups(text);
  return rest.length > 1 && rest.join("").length > 6 && first.length < 4 ? rest.join(" ") : text;
}

const withoutCommas = amount((text) => text.replaceAll(",", ""));
const withoutCents = amount((text) => (text.includes(".") ? text.slice(0, text.lastIndexOf(".")) : text));
const withCommas = amount((text) => {
  const [whole, cents] = text.replaceAll(",", "").split(".") as [string, string?];
  const shown = [whole.slice(0, whole.length % 3 || 3)];
  for (let at = shown[0]!.length; at < whole.length; at += 3) shown.push(whole.slice(at, at + 3));
  return cents === undefined ? shown.join(",") : `${shown.join(",")}.${cents}`;
});
const withPoints = amount((text) => withCommas(text).replace(/[,.]/g, (sign) => (sign === "," ? "." : ",")));
// As JSON does: 1,234.50 is 1234.5.
const asNumber = amount((text) => withoutCommas(text).replace(/(?<=\.[0-9])0$/, ""));
const withCents = amount((text) => (text.includes(".") ? text : `${text}.00`));
const asFloat = amount((text) => (text.includes(".") ? asNumber(text) : `${withoutCommas(text)}.0`));
const withBlanks = amount((text) => withCommas(text).replaceAll(",", " ").replace(".", ","));

const FORMS: readonly Form[] = [
  withoutCommas,
  withoutCents,
  (text) => withoutCommas(withoutCents(text)),
  asNumber,
  withCommas,
  withPoints,
  (text) => withCommas(withoutCents(text)),
  (text) => withPoints(withoutCents(text)),
  withCents,
  (text) => withCents(withoutCommas(text)),
  asFloat,
  withBlanks,
  amount((text) => withCommas(text).replaceAll(",", "'")), // as in Switzerland
  ...["", "-", ".", " "].map(joined),
  inBrackets,
];

/** A number or letter by itself: long ones always, short ones beside a word. */
function* wordUnits(
  parts: readonly string[],
  sent: readonly string[],
  formats: readonly Format[],
  k: number,
  isAlone: boolean,
): Iterable<Unit> {
  const [format, mine, theirs] = [formats[k]!, parts[2 * k + 1]!, sent[2 * k + 1]!];
  const isDigits = /^[0-9]+$/.test(theirs);
  const needsContext = CONTEXT.includes(format) || (isDigits && theirs.length === 1);
  if (isDigits && theirs.length > 2) {
    yield unit(theirs, mine, { isPart: !isAlone });
    if (isAlone && theirs.length > 3 && format.endsWith(" digits")) yield* otherForms(mine, theirs);
  } else if (!isAlone) return;
  else if (!needsContext) yield unit(theirs, mine);
  if (needsContext || /^[.)]/.test(sent[2 * k + 2]!)) {
    const behind = sent.slice(2 * k + 2, 2 * k + 4).join("");
    const before = sent.slice(Math.max(2 * k - 1, 0), 2 * k + 1).join("");
    const hasNext = k + 1 < formats.length && !behind.includes("\n");
    if (hasNext) yield unit(theirs, mine, { after: behind.slice(0, LONGEST_CONTEXT) });
    // Beside another surrogate it is meant, whatever follows: "Ann B. Lee", "Ann B."
    if (!hasNext || (k && formats[k - 1] !== null)) yield unit(theirs, mine, { before: before.slice(-LONGEST_CONTEXT) });
  }
  const near = isDigits && needsContext ? findNear(sent, formats, k) : "";
  if (near) yield unit(theirs, mine, { near });
}

/** The last surrogate before a number: a translation keeps it, not its neighbors. */
function findNear(sent: readonly string[], formats: readonly Format[], k: number): string {
  const size = (i: number): number => [...sent[i]!].length;
  let distance = size(2 * k);
  for (let i = k - 1; i >= 0 && distance <= NEAR; i--) {
    if (formats[i] !== null && size(2 * i + 1) > 1) return sent[2 * i + 1]!;
    distance += size(2 * i + 1) + size(2 * i);
  }
  return "";
}
