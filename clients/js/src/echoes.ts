import type { Restorer } from "./restore.js";
import type { Units } from "./units.js";

/** What begins a tag, a link, an image or a label: there, surrogates are kept. */
const MARKUP = /<[A-Za-z/!?\u0080-\u{10ffff}]|[[\]\x00-\x08\x0e-\x1f]|\)\{|\{:/u;
const BEHIND = 200; // more than a restorer looks back

/**
 * Add units until each line of a hidden text comes back, outside of markup: `mondegreen.prompts.echoes`.
 *
 * What does not come back becomes a unit with its run, and then with more runs on both sides.
 */
export function learnEchoes(
  units: Units,
  parts: readonly string[],
  sent: readonly string[],
  canonical: (text: string) => string,
  begin: () => Restorer,
): void {
  const [original, hidden] = [parts.join(""), sent.join("")];
  const [owns, places] = [endsOf(parts), endsOf(sent)];
  /** The place in the original; -1 inside a word. */
  const find = (at: number): number => {
    const k = lastOf(places, at);
    return k % 2 && at > places[k]! ? -1 : owns[k]! + at - places[k]!;
  };
  for (const line of hidden.matchAll(/[^\r\n]+/g)) {
    if (!units.noteLine(line[0])) continue;
    const start = line.index;
    const runs = [...line[0].matchAll(/[^ \t\r\n]+/g)].map((run) => [start + run.index, start + run.index + run[0].length] as const);
    const begins = runs.map(([first]) => first);
    for (let [reach, isNew] = [0, true]; isNew && reach < 8; reach = 2 * reach + 1) {
      const failures: [number, number][] = [];
      let [first, own, shown] = [start, find(start), ""];
      begin().walk(line[0], hidden.slice(Math.max(start - BEHIND, 0), start), (end, text) => {
        shown += text;
        const ownEnd = find(start + end);
        if (ownEnd < 0) return;
        if (canonical(shown) !== canonical(original.slice(own, ownEnd))) failures.push([first, start + end]);
        [first, own, shown] = [start + end, ownEnd, ""];
      });
      // Without a new unit, what is left stands in a link or in markup. There, wider pieces
      // are of no use, and with them the time grows with the square of the line.
      isNew = false;
      for (const [from, to] of failures) {
        const one = runs[Math.max(lastOf(begins, from) - reach, 0)]![0];
        const other = runs[Math.min(lastOf(begins, to - 1) + reach, runs.length - 1)]![1];
        const piece = hidden.slice(one, other);
        const [mine, mineEnd] = [find(one), find(other)];
        if (mine < 0 || mineEnd < 0 || MARKUP.test(piece)) continue;
        isNew = units.addPiece(piece, original.slice(mine, mineEnd)) || isNew;
      }
    }
  }
}

/** Where the parts of a text begin, and where the last one ends. */
function endsOf(parts: readonly string[]): number[] {
  let end = 0;
  return [0, ...parts.map((part) => (end += part.length))];
}

/** The last of sorted numbers that is at most another one. */
function lastOf(sorted: readonly number[], at: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
