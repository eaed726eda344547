import { MONTHS_SHORT } from "./calendar.js";

/** A hidden date as it may be written otherwise, and the original in the same notation. */
export interface Notation {
  readonly sent: string;
  readonly original: string;
  /** What the notation leaves out of the date. */
  readonly missing: Missing;
}

/** Where only the year is left, it is the rest. */
export type Missing = "" | "year" | "day" | "rest";

const MONTHS = "January February March April May June July August September October November December".split(" ");
const NUMBERS = new Map(MONTHS.flatMap((full, i) => [full, ...MONTHS_SHORT[i]!].map((each) => [each.toLowerCase(), i + 1])));
const DATE = /^(?:([0-9]{1,2})([/.-])([0-9]{1,2})\2([0-9]{4})|([0-9]{1,2})\/([0-9]{1,2}))$/;
const NAMED =
  /^(?:([0-9]{1,2})(?:st|nd|rd|th)?(?: of)? )?([a-z]+)\.?(?: ([0-9]{1,2})(?:st|nd|rd|th)?)?(?:,? ([0-9]{4}))?$/i;
const YEAR_FIRST = /^([0-9]{4})([/.-])([0-9]{1,2})\2([0-9]{1,2})$/;
const SLASHED = /^[0-9]{1,2}\/[0-9]{1,2}\//;
/** Days of one digit also with a zero before them. */
const padded = (forms: string[]): string[] => [...new Set([...forms, ...forms.map((form) => form.replace("{d}", "{D}"))])];
const WITHOUT_YEAR = padded(["{M} {d}", "{d} {M}", "{M} {n}", "{n} of {M}", "{n} {M}"]);
const WITH_YEAR = padded([
  "{M} {d}, {y}", "{M} {d} {y}", "{d} {M} {y}", "{d} {M}, {y}", "{M} {n}, {y}", "{n} of {M} {y}",
  "{n} of {M}, {y}", "{n} {M} {y}", "{d}-{M}-{y}",
]);
const WITHOUT_DAY = ["{M} {y}", "{M} of {y}"];
const DIGITS = ["{a}/{b}/{y}", "{A}/{B}/{y}", "{a}.{b}.{y}", "{A}.{B}.{y}", "{a}/{b}/{s}", "{A}/{B}/{s}", "{A}-{B}-{y}"];

/**
 * Two numbers, the year, and whether the month comes first: both ways, if it cannot be told. Where the month is
 * named, it is the first number, and digits have both orders.
 */
interface Parts {
  readonly first: string;
  readonly second: string;
  readonly year: string;
  readonly orders: readonly boolean[];
  readonly isNamed: boolean;
}
type Written = readonly [string, Missing];

/** List other notations of a date: `list_notations` of `mondegreen.prompts.dates`. */
export function notations(sent: string, original: string): Notation[] {
  const [theirs, mine] = [read(sent, true), read(original)];
  if (!theirs || !mine || !theirs.year !== !mine.year || theirs.orders.length !== mine.orders.length) return [];
  if (theirs.isNamed !== mine.isNamed) return [];
  const found = new Map<string, Notation>();
  for (const order of theirs.orders) {
    const own = new Map<string, Notation>();
    const old = write(mine, order);
    write(theirs, order).forEach(([text, missing], i) => {
      const written = old[i]![0];
      if (text && written && !own.has(text)) own.set(text, { sent: text, original: written, missing });
    });
    for (const [text, each] of own) {
      const other = found.get(text);
      // Which one is meant cannot be told where they differ.
      const isSame = !other || (other.original === each.original && other.missing === each.missing);
      found.set(text, isSame ? each : { ...other, original });
    }
  }
  const { year } = theirs;
  if (isYearFirst(theirs) && Number(theirs.first) === Number(theirs.second)) {
    for (const [text, each] of found) if (SLASHED.test(text)) found.set(text, { ...each, original }); // two readings
  }
  if (year) found.set(year, { sent: year, original: mine.year, missing: "rest" }); // an answer may name it alone
  return [...found.values()].filter((each) => each.sent !== sent);
}

/** Whether a date is written as 1985-12-03. */
function isYearFirst({ orders }: Parts): boolean {
  return orders.length === 1;
}

/** Read a date; where it names its month, a number that was drawn may be no day. */
function read(text: string, isAnyDay = false): Parts | null {
  const parts = (first: string, second: string, year = "", orders = [true, false], isNamed = false): Parts =>
    ({ first, second, year, orders, isNamed });
  const yearFirst = YEAR_FIRST.exec(text);
  if (yearFirst) return parts(yearFirst[3]!, yearFirst[4]!, yearFirst[1]!, [true]);
  const found = DATE.exec(text);
  if (found) return parts((found[1] ?? found[5])!, (found[3] ?? found[6])!, found[4]);
  const [, before, name = "", behind, year] = NAMED.exec(text) ?? [];
  const [month, day] = [findMonth(name), before ?? behind];
  if (!month || day === undefined || (before && behind)) return null;
  if (!isAnyDay && (Number(day) < 1 || Number(day) > 31)) return null;
  return parts(String(month), day, year, [true, false], true);
}

/** The number of a month by its English name, full or short; 0 for others. */
export function findMonth(name: string): number {
  return NUMBERS.get(name.toLowerCase()) ?? 0;
}

/** A date in all notations, in one order; "" where it is none. */
function write(date: Parts, monthFirst: boolean): Written[] {
  const { first, second, year: y, isNamed } = date;
  const [one, two] = [Number(first), Number(second)];
  const [month, day] = monthFirst ? [one, two] : [two, one];
  const isDate = month > 0 && month < 13 && (isNamed ? monthFirst : day > 0 && day < 32);
  // The month of a date that names it comes back by itself: its day must too.
  const forms: Written[] = WITHOUT_YEAR.map((form) => [form, y || !isNamed ? "year" : ""]);
  if (y) {
    forms.push(...WITH_YEAR.map((form): Written => [form, ""]));
    forms.push(...WITHOUT_DAY.map((form): Written => [form, "day"]));
  }
  const full = MONTHS[month - 1] ?? "";
  const brief = MONTHS_SHORT[month - 1] ?? [""];
  const short = [brief[0]!, full === brief[0] ? full : `${brief[0]}.`, brief.at(-1)!];
  const values = { d: String(day), n: nth(day), y, m: two2(month), D: two2(day) };
  const found = [full, ...short].flatMap((M) =>
    forms.map(([form, missing]): Written => [isDate ? fill(form, { ...values, M }) : "", missing]),
  );
  if (!y) return found;
  for (const form of ["{y}-{m}-{D}", "{y}/{m}/{D}"]) found.push([isDate ? fill(form, values) : "", ""]);
  // Dots and dashes are of countries where the day is first.
  const orders = isYearFirst(date) ? [[day, month], [month, day]] : [[month, day]];
  for (const [a, b] of orders as [number, number][]) {
    const digits = { a: String(a), b: String(b), A: two2(a), B: two2(b), y, s: y.slice(-2) };
    found.push(...DIGITS.map((form): Written => [fill(form, digits), ""]));
  }
  return found;
}

function fill(form: string, values: Readonly<Record<string, string>>): string {
  return form.replace(/\{(\w)\}/g, (_, name: string) => values[name]!);
}

function two2(value: number): string {
  return String(value).padStart(2, "0");
}

function nth(day: number): string {
  const ending = ["th", "st", "nd", "rd"][day % 10] ?? "th";
  return day > 10 && day < 14 ? `${day}th` : `${day}${ending}`;
}
