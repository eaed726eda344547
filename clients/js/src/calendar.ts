import { NAMES } from "./calendar-names.js";

/** A surrogate in another language, and the original in its place. */
export interface Translation {
  readonly sent: string;
  readonly original: string;
  /** Whether it begins with a capital that it has not inside a sentence. */
  readonly isCapitalized: boolean;
  /** What must stand before it, because it is another word too. */
  readonly before?: string;
}

const { en: ENGLISH = [], ...OTHERS } = NAMES;
const WEEKDAYS = 7; // they come first
/** English short forms, in the order of the table. */
const SHORT =
  "Mon Tue,Tues Wed,Weds Thu,Thur,Thurs Fri Sat Sun Jan Feb Mar Apr May Jun Jul Aug Sep,Sept Oct Nov Dec"
    .split(" ")
    .map((forms) => forms.split(","));
export const MONTHS_SHORT: readonly (readonly string[])[] = SHORT.slice(WEEKDAYS);
/** Short forms that are other words too, and what each of them counts behind. */
const WORDS = ["Mon", "Sat", "Sun", "Jan", "Mar"];
const BEFORE = ["on ", "by ", "in ", "until ", "till ", "from ", "to ", "next ", "this ", "every ", "(", "-", "–", "| "];
const toUpper = (name: string): string => name.toUpperCase();
const capitalize = (name: string): string => toUpper(name[0]!) + name.slice(1);
/** As inside a sentence, as at its beginning, and in capitals. */
const SPELLINGS = [(name: string): string => name, capitalize, toUpper];

/** List what a weekday or month may become: `list_translations` of `mondegreen.prompts.calendar`. */
export function translations(sent: string, original: string): Translation[] {
  const theirs = ENGLISH.indexOf(sent);
  if (theirs < 0) return [];
  const mine = ENGLISH.findIndex((name) => name === original || toUpper(name) === original); // "march" may be no month
  const pairs = Object.values(OTHERS)
    .filter((names) => names[theirs]!.toLowerCase() !== sent.toLowerCase())
    .map((names): [string, string | undefined] => [names[theirs]!, names[mine]]);
  if (theirs < WEEKDAYS && mine >= 0 && mine < WEEKDAYS) pairs.push([`${sent}s`, `${ENGLISH[mine]!}s`]);
  const meant = new Map<string, Set<string>>();
  const plain = new Set(pairs.map(([name]) => name));
  const capitalized = new Set(pairs.map(([name]) => capitalize(name)).filter((name) => !plain.has(name)));
  for (const spell of SPELLINGS) {
    for (const [name, old] of pairs) {
      const written = spell(name);
      const asWritten = spell === toUpper ? toUpper(original) : original;
      meant.set(written, (meant.get(written) ?? new Set<string>()).add(old === undefined ? asWritten : spell(old)));
    }
  }
  return [...meant].map(([written, olds]) => ({
    sent: written,
    original: olds.size === 1 ? [...olds][0]! : written === toUpper(written) ? toUpper(original) : original,
    isCapitalized: capitalized.has(written),
  }));
}

/** List the short forms of a weekday or month: `list_short_forms` of `mondegreen.prompts.calendar`. */
export function shortForms(sent: string, original: string): Translation[] {
  const mine = original === original.toLowerCase() ? [] : formsOf(original); // "march" may be no month
  return formsOf(sent).flatMap((form, i) => {
    if (toUpper(form) === toUpper(sent)) return [];
    const old = mine[Math.min(i, mine.length - 1)] ?? original;
    const ways = BEFORE.map((before) => [form, old, before]);
    if (form !== "Sun") ways.push([`${form}.`, `${old}.`, ""]); // the Sun may end a sentence
    return (WORDS.includes(form) ? ways : [[form, old, ""]]).flatMap(([name, own, before]) =>
      [String, toUpper].map((spell) => ({ sent: spell(name!), original: spell(own!), isCapitalized: false, before: before! })),
    );
  });
}

const MONTHS = new Set(
  [...Object.values(NAMES).flatMap((names) => names.slice(WEEKDAYS)), ...MONTHS_SHORT.flat()].map((name) =>
    name.toLowerCase(),
  ),
);

/** Whether a word is the name of a month in one of the languages, or a short form. */
export function isMonthOfAny(word: string): boolean {
  return MONTHS.has(word.toLowerCase());
}

/** All English forms of a weekday or month, the full one first; none for others. */
function formsOf(name: string): string[] {
  const found = ENGLISH.map((full, i) => [full, ...SHORT[i]!]).find((forms) =>
    forms.some((form) => form.toLowerCase() === name.toLowerCase()),
  );
  return found ?? [];
}
