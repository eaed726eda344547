import { WRITTEN_DATES } from "./shapes.js";
import type { Tokenizer } from "./text.js";

const SIGNS = "\"$&'<>\u00a0–—‘’“”…";
const NAMED = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", ndash: "–", mdash: "—", lsquo: "‘", rsquo: "’", hellip: "…", ldquo: "“", rdquo: "”" };
const OLD = { 145: "‘", 146: "’", 147: "“", 148: "”", 150: "–", 151: "—" };
/** The character that each reference stands for: `REFERENCES` of `mondegreen.policy.references`. */
const REFERENCES: ReadonlyMap<string, string> = new Map([
  ...Object.entries({ ...NAMED, ...OLD }),
  ...[...SIGNS].flatMap((sign) => {
    const point = sign.codePointAt(0)!;
    return [[String(point), sign], [`x${point.toString(16)}`, sign]] as [string, string][];
  }),
]);
const longestFirst = (one: string, other: string): number => other.length - one.length;
const READ = new RegExp(`&?#?(${[...REFERENCES.keys()].sort(longestFirst).join("|")});`, "gi");
const OWNS = /^ ?['’]$/;
const S = /^[sS]$/;
const ENDING = /^(?:[sStTdDmM]|[lL][lL]|[rR][eE]|[vV][eE])$/;

const either = (isDashed: boolean): string =>
  WRITTEN_DATES.filter(([, name]) => name.includes("-") === isDashed)
    .map(([pattern]) => pattern)
    .join("|");
// Not a part of a longer run of numbers and signs, such as those of addresses and versions.
// Behind a full stop or a colon, all words are alike.
const DATES = new RegExp(
  "(?<![0-9A-Za-z@_/:.\\\\#%&+~])" +
    `(?:(?<!-)(?:${either(true)})(?!-)|(?:${either(false)}|(?:[0-9]{2})?[0-9]0['’][sS]))` +
    "(?![0-9A-Za-z@_/\\\\]|[.:](?![ \\t\\n\\r\u00a0\")\\]}>”»]|$))",
  "g",
);

/** Cut a text into words and structure as a policy takes its words: `cut_texts` of Python. */
export function cutText(text: string, tokenizer: Tokenizer): string[] {
  const parts = tokenizer.cut(text);
  return joinDates(text, text.includes(";") ? openReferences(parts, tokenizer) : parts);
}

/** Read the references of a gap as the characters that they stand for. */
export function readReferences(gap: string): string {
  if (!gap.includes(";")) return gap;
  const read = gap.replace(READ, (_, name: string) => REFERENCES.get(name.toLowerCase())!);
  return read !== gap && /^ ['’][sS]/.test(read) ? read.slice(1) : read;
}

/** Read a word that may be an ending with its reference. */
export function readEnding(word: string): string {
  return word.includes(";") ? readReferences(word).replaceAll(" ", "") : word;
}

/** Make structure of the references in a text that was cut, and of their 's. */
function openReferences(parts: readonly string[], tokenizer: Tokenizer): string[] {
  const isLong = (gap: string): boolean => tokenizer.isLong(gap.replace(READ, ";"));
  const opened = parts.slice(0, 1);
  for (let i = 1; i < parts.length; i += 2) {
    const [word, behind] = [parts[i]!, parts[i + 1]!];
    const before = opened.at(-1)!;
    const gap = before + word + behind;
    if (!isReference(before, word, behind) || isLong(gap)) {
      opened.push(word, behind);
      continue;
    }
    opened[opened.length - 1] = gap;
    const next = parts.slice(i + 2, i + 4);
    const isLast = i + 4 >= parts.length;
    if (opened.length > 1 && next.length && takeEnding(opened, next[0]!, next[1]!, isLast, isLong)) i += 2;
  }
  return opened;
}

/** Take the ending behind an apostrophe: 's to the structure, others as a word. */
function takeEnding(
  opened: string[],
  word: string,
  behind: string,
  isLast: boolean,
  isLong: (gap: string) => boolean,
): boolean {
  const [before, gap] = opened.slice(-2) as [string, string];
  const read = readReferences(gap);
  if (!ENDING.test(word) || !OWNS.test(read)) return false;
  // Behind a blank, the apostrophe may open a quotation, and a letter be an initial.
  const isBlank = behind ? /^[ \t\n\r\u00a0]/.test(behind) : isLast;
  if (read.startsWith(" ") && !(/^[a-z]+$/.test(word) && isBlank)) return false;
  if (S.test(word)) {
    if (isLong(gap + word + behind)) return false;
    opened[opened.length - 1] = gap + word + behind;
  } else if (!/^[tT]$/.test(word)) {
    opened.splice(-1, 1, "", gap + word, behind);
  } else if (/.[nN]$/su.test(before)) {
    opened.splice(-2, 2, before.slice(0, -1), "", before.slice(-1) + gap + word, behind);
  } else return false;
  return true;
}

/** Whether a word is the name or number of a reference. */
function isReference(before: string, word: string, behind: string): boolean {
  const isHex = /^[xX]/.test(word);
  const isKnown = REFERENCES.has(isHex ? word.toLowerCase() : word) && behind.startsWith(";");
  const isNumbered = isHex || /[0-9]$/.test(word);
  // News has many of these two without &. A number of another #NN; is private.
  if (isNumbered && !before.endsWith(/^3[69]$/.test(word) ? "#" : "&#")) return false;
  return isKnown && before.endsWith("#") === isNumbered;
}

/** Make one word of each date, time and 1980's of a text that was cut. */
function joinDates(text: string, parts: string[]): string[] {
  const ends = new Map(Array.from(text.matchAll(DATES), (found) => [found.index, found.index + found[0].length]));
  if (!ends.size) return parts;
  const joined = parts.slice(0, 1);
  let at = parts[0]!.length;
  for (let i = 1; i < parts.length; ) {
    let [last, reach] = [i, at + parts[i]!.length];
    const end = ends.get(at) ?? reach;
    const gap = parts[i + 1]!;
    if (end === reach + 2 && /^.[sS]/.test(gap)) {
      joined.push(text.slice(at, end), gap.slice(2));
      at = reach + gap.length;
      i += 2;
      continue;
    }
    while (reach < end) {
      reach += parts[last + 1]!.length + parts[last + 2]!.length;
      last += 2;
    }
    // A mark of another script goes on behind it.
    if (reach > end) [last, reach] = [i, at + parts[i]!.length];
    joined.push(text.slice(at, reach), parts[last + 1]!);
    at = reach + parts[last + 1]!.length;
    i = last + 2;
  }
  return joined;
}
