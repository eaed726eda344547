/** One word for how much a release protects, as `mondegreen.protection` in Python finds it. */
export type Protection = "strong" | "moderate" | "weak" | "vacuous";

/** The most that each word allows, best first: `LEVELS` of the Python package. */
const LEVELS: readonly (readonly [Protection, Limits])[] = [
  ["strong", { loss: 1, recovered: 0.1, near: 0.5 }],
  ["moderate", { loss: 5, recovered: 0.25, near: 0.75 }],
  ["weak", { loss: 10, recovered: 0.5, near: 0.95 }],
  ["vacuous", { loss: Infinity, recovered: Infinity, near: Infinity }],
];

/** Nats of the largest loss that is called weak. */
export const WEAK = LEVELS[2]![1].loss;

interface Limits {
  /** Of any two words, in nats. */
  readonly loss: number;
  /** Share of words that are unchanged, or that an attacker recovers. */
  readonly recovered: number;
  /** Share of words that are unchanged or become a word of near meaning. */
  readonly near: number;
}

/** The word for a loss in nats, and for shares of words, where measured. */
export function protection({ loss = 0, recovered = 0, near = 0 }: Partial<Limits>): Protection {
  const found = LEVELS.find(
    ([, most]) => loss <= most.loss && recovered <= most.recovered && near <= most.near,
  );
  return found ? found[0] : "vacuous"; // a comparison with NaN is false
}

/** The place of a word, best first; -1 for what is none. */
function rank(word: unknown): number {
  return LEVELS.findIndex(([name]) => name === word);
}

/** The word of less protection. */
export function worse(one: Protection, other: Protection): Protection {
  return rank(one) < rank(other) ? other : one;
}

/** Whether a word is known and promises no more than another one. */
export function isAtMost(word: unknown, limit: Protection): boolean {
  return rank(word) >= rank(limit);
}
