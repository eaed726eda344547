/** A format: its name, how many tokens have it, and the token of a number. */
export interface Shape {
  readonly name: string;
  readonly size: number;
  readonly print: (number: number) => string;
}

const LONGEST = 16; // digits of the longest format; longer runs of digits have it too
const UNITS = "kg km cm mg ml mm gb mb ft lb".split(" ");
const LETTERS = "BCDEFGHJKLMNOPQRSTUVWXYZ"; // a and i are words
const SOUNDS = [..."bdfgklmnprstvz"].flatMap((a) => [..."aeiou"].map((b) => a + b));
const EMOJI = (
  "😀 😃 😄 😁 😆 😅 😂 🙂 🙃 😉 😊 😇 😍 😘 😋 😛 😜 😝 😎 😏 " +
  "😒 😞 😔 😟 😕 🙁 😣 😖 😫 😩 😢 😭 😤 😠 😡 😳 😱 😨 😰 😥 " +
  "😓 🤔 🤗 🤭 🤫 😶 😐 😑 😬 🙄 😯 😦 😧 😮 😲 😴 🤤 😪 😵 😷 " +
  "👍 👎 👌 👏 🙌 🙏 💪 👋 ❤ 💔 💕 💙 💚 💛 💜 ⭐ 🌟 ✨ 🔥 💯 " +
  "✅ ❌ ❗ ❓ 🎉 🎂 🎁 🎈 🌞 🌧 ❄ 🌈 🌹 🌻 🍀 🌍 🚗 🚀 ✈ ⏰ " +
  "📞 📧 📷 🎵 🎮 ⚽ 🏀 🏆 📚 💻 💡 🔑 🏠 🐶 🐱 🐦 🍕 🍔 🍰 ☕"
).split(" ");

function padded(number: number, size: number): string {
  return String(number).padStart(size, "0");
}

/** Numbers that begin with no 0: the first digit apart, since all of it may exceed 2^53. */
function digits(count: number): Shape {
  if (count === 1) return { name: "1 digits", size: 10, print: String };
  const rest = 10 ** (count - 1);
  const print = (i: number): string => `${1 + Math.floor(i / rest)}${padded(i % rest, count - 1)}`;
  return { name: `${count} digits`, size: 9 * rest, print };
}

/** Years are a format of their own, so they are no outputs of this one. */
function fourDigits(number: number): string {
  return String(number < 900 ? 1000 + number : 1200 + number);
}

function zeros(count: number): Shape {
  const print = (i: number): string => `0${padded(i, count - 1)}`;
  return { name: `0 and ${count - 1} digits`, size: 10 ** (count - 1), print };
}

function ordinal(number: number): string {
  const ending = { 1: "st", 2: "nd", 3: "rd" }[number % 10] ?? "th";
  return `${number}${number > 10 && number < 14 ? "th" : ending}`;
}

function code(number: number): string {
  const letters = Math.floor(number / 1e4);
  const [first, second] = [Math.floor(letters / LETTERS.length), letters % LETTERS.length];
  return `${LETTERS[first]}${LETTERS[second]}${padded(number % 1e4, 4)}`;
}

/** A word that no language has on purpose, for parts of addresses. */
function pseudoWord(number: number): string {
  const size = SOUNDS.length;
  const places = [number % size, Math.floor(number / size) % size, Math.floor(number / size ** 2)];
  return `${places.map((place) => SOUNDS[place]).join("")}x`;
}

/** How many values a part of a date or time has, and how one is written. */
type Part = readonly [number, (number: number) => string];

const two = (first: number, last: number): Part => [1 + last - first, (i) => padded(first + i, 2)];
const YEAR: Part = [200, (i) => String(1900 + i)];
const TWELVE = Array.from({ length: 12 }, (_, i) => 1 + i);
// A day and month that are valid in both orders; no two formats print the same.
const PADDED = TWELVE.flatMap((a) => TWELVE.map((b) => [padded(a, 2), padded(b, 2)] as const));
const SHORT = TWELVE.flatMap((a) =>
  TWELVE.filter((b) => Math.min(a, b) < 10).map((b) => [String(a), String(b)] as const),
);

/** The format of a date or time, named by an example of it; the last part changes first. */
function written(name: string, sign: string, ...parts: readonly Part[]): Shape {
  const print = (number: number): string => {
    const found: string[] = [];
    for (const [size, show] of [...parts].reverse()) {
      found.unshift(show(number % size));
      number = Math.floor(number / size);
    }
    return found.join(sign);
  };
  return { name, size: parts.reduce((product, [size]) => product * size, 1), print };
}

function halfDay(number: number): string {
  const hours = Math.floor(number / 60);
  return `${1 + (hours % 12)}:${padded(number % 60, 2)}${hours < 12 ? "am" : "pm"}`;
}

/** The pattern and the format of each way to write a date or a time of day. */
function* listWritten(): Iterable<readonly [string, Shape]> {
  const escaped = (sign: string): string => (sign === "." ? "\\." : sign);
  for (const sign of "-/.") {
    const s = escaped(sign);
    const example = `date ${["2024", "05", "12"].join(sign)}`;
    yield [`[0-9]{4}${s}[0-9]{2}${s}[0-9]{2}`, written(example, sign, YEAR, two(1, 12), two(1, 28))];
    const short: Part = [SHORT.length, (i) => SHORT[i]!.join(sign)];
    yield [
      `[0-9]{4}${s}[0-9]{1,2}${s}[0-9]{1,2}`,
      written(`date ${["2024", "5", "12"].join(sign)}`, sign, YEAR, short),
    ];
  }
  for (const [forms, size, ...days] of [[PADDED, "2", "05", "12"], [SHORT, "1,2", "5", "12"]] as const) {
    for (const sign of "-/.") {
      for (const year of ["2024", "24"]) {
        if (sign === "-" && year === "24") continue; // a code, more often than a date
        const s = escaped(sign);
        const day: Part = [forms.length, (i) => forms[i]!.join(sign)];
        yield [
          `[0-9]{${size}}${s}[0-9]{${size}}${s}[0-9]{${year.length}}`,
          written(`date ${[...days, year].join(sign)}`, sign, day, year === "2024" ? YEAR : two(0, 99)),
        ];
      }
    }
  }
  const minute = two(0, 59);
  for (const [example, hour] of [["10:30", two(0, 23)], ["9:30", [10, String]]] as const) {
    const pattern = `[0-9]{${example.length - 3}}:[0-9]{2}`;
    yield [pattern, written(`clock ${example}`, ":", hour, minute)];
    yield [`${pattern}:[0-9]{2}`, written(`clock ${example}:15`, ":", hour, minute, minute)];
  }
  yield ["[0-9]{1,2}:[0-9]{2}[aApP][mM]", { name: "clock 10:30pm", size: 1440, print: halfDay }];
}

const WRITTEN = [...listWritten()];
/** Patterns of dates and times, and the names of their formats; the first one counts. */
export const WRITTEN_DATES = WRITTEN.map(([pattern, { name }]) => [pattern, name] as const);
const IS_WRITTEN = new RegExp(`^(?:${WRITTEN_DATES.map(([pattern]) => pattern).join("|")})$`);

/** Whether a word is a date or a time, valid or not. */
export function isWrittenDate(word: string): boolean {
  return IS_WRITTEN.test(word);
}

const counts = Array.from({ length: LONGEST }, (_, i) => i + 1);

/** The formats, in the order of their symbols: `SHAPES` of `mondegreen.policy.shapes`. */
export const SHAPES: readonly Shape[] = [
  ...counts.slice(0, 3).map(digits),
  { name: "4 digits", size: 8800, print: fourDigits },
  ...counts.slice(4).map(digits),
  ...counts.slice(1).map(zeros),
  { name: "year", size: 200, print: (i) => String(1900 + i) },
  { name: "month or day of a date", size: 12, print: (i) => String(1 + i) },
  { name: "month or day of a date, with 0", size: 9, print: (i) => `0${1 + i}` },
  { name: "day of a date above 12", size: 19, print: (i) => String(13 + i) },
  { name: "ordinal", size: 31, print: (i) => ordinal(1 + i) },
  { name: "time of day", size: 24, print: (i) => `${1 + (i % 12)}${i < 12 ? "am" : "pm"}` },
  { name: "decade", size: 20, print: (i) => `${i < 12 ? 1900 + 10 * i : 10 * (i - 10)}s` },
  { name: "measure", size: 98 * UNITS.length, print: (i) => `${2 + Math.floor(i / 10)}${UNITS[i % 10]}` },
  { name: "code", size: LETTERS.length ** 2 * 1e4, print: code },
  { name: "part of an address", size: SOUNDS.length ** 3, print: pseudoWord },
  { name: "letter", size: LETTERS.length, print: (i) => LETTERS[i]! },
  { name: "sign", size: EMOJI.length, print: (i) => EMOJI[i]! },
  ...WRITTEN.map(([, shape]) => shape),
];

/** The place of each format, by its name. */
export const PLACES: ReadonlyMap<string, number> = new Map(SHAPES.map(({ name }, place) => [name, place]));

const MIXED = [
  [/^[0-9]{1,3}(?:st|nd|rd|th)$/, "ordinal"],
  [/^[0-9]{1,2}(?:am|pm)$/, "time of day"],
  [/^(?:[0-9]{2})?[0-9]0'?s$/, "decade"],
  [/^[0-9]{1,5}[a-z]{1,2}$/, "measure"],
  ...WRITTEN_DATES.map(([pattern, name]) => [new RegExp(`^(?:${pattern})$`), name] as const),
] as const;

/** Name the format of a run of ASCII digits; in a date, a slash touches it. */
export function numberShape(run: string, inDate: boolean): string {
  const value = Number(run);
  if (inDate && run.length < 3 && value >= 1 && value <= 31) {
    if (value > 12) return "day of a date above 12";
    return `month or day of a date${run[0] === "0" ? ", with 0" : ""}`;
  }
  if (/^(?:19|20)[0-9]{2}$/.test(run)) return "year";
  const count = Math.min(run.length, LONGEST);
  return run[0] === "0" && count > 1 ? `0 and ${count - 1} digits` : `${count} digits`;
}

/** Name the format of a token with digits and other characters. */
export function mixedShape(folded: string): string {
  return MIXED.find(([pattern]) => pattern.test(folded))?.[1] ?? "code";
}
