import type { Guarantee, Setting } from "./artifact.js";
import { artifactError } from "./errors.js";
import type { Stream } from "./stream.js";

/** A law over the words, prepared for one setting. The unknown word is the last input. */
export interface Law {
  /** What two words lose at most, in nats, computed from the integers and rounded up. */
  readonly loss: number;
  /** The place of a word for each input, drawn in the order of the Python package. */
  draw(inputs: readonly number[], stream: Stream): number[];
  /** The chance of each word, by its place; null where it is not known. */
  chances(input: number): Float64Array | null;
}

const FRACTION = 128n;
// Above the error of one logarithm, and below what Python rounds its own up by.
const UP = 1 + 2 ** -51;
// What the logarithms of two engines may differ by, relative to an honest claim.
const SLACK = 1 + 2 ** -46;

/** The logarithm of `over / under`, which is at least 1, rounded up. */
export function logAbove(over: bigint, under: bigint): number {
  const rest = ((over - under) << FRACTION) / under;
  // Without this addition a ratio that is hardly above 1 would lose nothing.
  const found = over > under ? Number(rest + 1n) : 0;
  return Math.log1p(found / 2 ** Number(FRACTION)) * UP;
}

/** Refuse a setting that claims less than its law loses for words that far apart. */
export function checkClaim(setting: Setting, loss: number, distance: number): void {
  const { epsilon, guarantee } = setting;
  const claimed = Math.min(epsilon, guarantee.certified ?? epsilon) * distance;
  if (!(loss <= claimed * SLACK)) {
    throw artifactError("it promises more privacy than its law gives");
  }
}

/** The figures in the name of a metric, which must be the one of its mechanism. */
export function figures({ metric }: Guarantee, form: RegExp): number[] {
  const found = form.exec(metric)?.[1]?.split(", ").map(Number);
  if (!found?.every(Number.isFinite)) throw artifactError("its metric is none that this client knows");
  return found;
}
