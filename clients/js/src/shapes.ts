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
];

/** The place of each format, by its name. */
export const PLACES: ReadonlyMap<string, number> = new Map(SHAPES.map(({ name }, place) => [name, place]));

const MIXED = [
  [/^[0-9]{1,3}(?:st|nd|rd|th)$/, "ordinal"],
  [/^[0-9]{1,2}(?:am|pm)$/, "time of day"],
  [/^(?:[0-9]{2})?[0-9]0s$/, "decade"],
  [/^[0-9]{1,5}[a-z]{1,2}$/, "measure"],
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
