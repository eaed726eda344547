import type { Artifact, Setting } from "./artifact.js";
import { numbers } from "./bytes.js";
import { artifactError } from "./errors.js";
import { type Law, checkClaim, figures, logAbove } from "./law.js";
import type { Stream } from "./stream.js";

const TOTAL = 1n << 62n;
const MOST_LEVELS = 12;
const METRIC = /^ultrametric of the word tree [0-9a-f]{12} \(heights ([0-9., e-]+)\)$/;
const SHOWN = 1 + 6e-4; // four digits of a height are told

/** A level of the tree that can be drawn: its integer, and the node of every input. */
interface Level {
  readonly weight: bigint;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** Choose a level; draw uniformly from the words of the node there. */
export class Tree implements Law {
  readonly loss: number;
  private readonly count: number;
  private readonly levels: Level[] = [];

  constructor(artifact: Artifact, setting: Setting) {
    this.count = artifact.words.length;
    const sizes = levelsOf(numbers(artifact.part("tree")), this.count);
    const weights = (setting.weights ?? []).map((weight) => {
      if (!/^[0-9]{1,19}$/.test(weight)) throw artifactError("an integer of its law is none");
      return BigInt(weight);
    });
    const sum = weights.reduce((all, weight) => all + weight, 0n);
    if (weights.length !== sizes.length || sum !== TOTAL || !weights.at(-1)) {
      throw artifactError("the integers of its law do not fit its tree");
    }
    const losses = lossesOf(sizes, weights, this.count);
    this.loss = losses.at(-1)!;
    const heights = figures(setting.guarantee, METRIC);
    const isRising = heights.every((height, i) => height >= 0 && height <= (heights[i + 1] ?? 1));
    const isMetric = isRising && heights.length === losses.length && heights.at(-1) === 1;
    if (!isMetric || setting.guarantee.scale["diameter"] !== 1) {
      throw artifactError("its metric does not fit its tree");
    }
    heights.slice(0, -1).forEach((height, i) => checkClaim(setting, losses[i]!, height * SHOWN));
    checkClaim(setting, this.loss, 1);
    sizes.forEach((row, level) => {
      const weight = weights[level]!;
      if (weight > 0n) this.levels.push({ weight, ...this.nodes(row) });
    });
  }

  draw(inputs: readonly number[], stream: Stream): number[] {
    const again: [number, Level, number][] = [];
    const found = inputs.map((input, place) => {
      let rest = stream.next64() >> 2n;
      let at = 0;
      while (at + 1 < this.levels.length && rest >= this.levels[at]!.weight) {
        rest -= this.levels[at++]!.weight;
      }
      const level = this.levels[at]!;
      const size = level.ends[input]! - level.starts[input]!;
      const quotient = level.weight / BigInt(size);
      if (rest >= quotient * BigInt(size)) {
        again.push([place, level, input]);
        return 0;
      }
      return level.starts[input]! + Number(rest / quotient);
    });
    // What cannot be dealt evenly to the words of a node is drawn again, after all others.
    for (const [place, level, input] of again) {
      const start = level.starts[input]!;
      found[place] = start + stream.below(level.ends[input]! - start);
    }
    return found;
  }

  chances(input: number): Float64Array {
    const found = new Float64Array(this.count);
    for (const { weight, starts, ends } of this.levels) {
      const size = ends[input]! - starts[input]!;
      const share = Number(weight) / Number(TOTAL) / size;
      for (let place = starts[input]!; place < ends[input]!; place++) found[place]! += share;
    }
    return found;
  }

  /** The node of each word, and of the unknown one, which is in the root everywhere. */
  private nodes(sizes: readonly number[]): { starts: Uint32Array; ends: Uint32Array } {
    const starts = new Uint32Array(this.count + 1);
    const ends = new Uint32Array(this.count + 1);
    let start = 0;
    for (const size of sizes) {
      starts.fill(start, start, start + size);
      ends.fill(start + size, start, start + size);
      start += size;
    }
    starts[this.count] = 0;
    ends[this.count] = this.count;
    return { starts, ends };
  }
}

/** A ratio of integers, exact: the chances of a law times 2^62. */
type Ratio = readonly [over: bigint, under: bigint];

function larger(one: Ratio, other: Ratio): Ratio {
  return one[0] * other[1] < other[0] * one[1] ? other : one;
}

/**
 * What two words lose at most that meet at each level from 1 up, in nats, rounded up.
 *
 * A word of a node of level m has the chance F_m, the sum of weight / size over m and all
 * levels above, at words that it meets there, and F_0 at itself. So two words that meet in
 * a node of level m differ by at most the largest F_0 below it over its F_m. This is
 * `TreeLaw.losses` of `mondegreen.mechanisms.laws.tree`.
 */
function lossesOf(
  sizes: readonly (readonly number[])[],
  weights: readonly bigint[],
  count: number,
): number[] {
  const top = sizes.length - 1;
  const parents = sizes.slice(0, -1).map((row, level) => parentsOf(row, sizes[level + 1]!));
  const chances: Ratio[][] = [];
  for (let level = top; level >= 0; level--) {
    chances[level] = sizes[level]!.map((size, node): Ratio => {
      const above = level < top ? chances[level + 1]![parents[level]![node]!]! : ([0n, 1n] as const);
      const weight = weights[level]!;
      return weight ? [above[0] * BigInt(size) + weight * above[1], above[1] * BigInt(size)] : above;
    });
  }
  let most = chances[0]!; // F_0 of the words below each node
  const losses: number[] = [];
  for (let level = 1; level <= top; level++) {
    const below = most;
    const children = new Uint32Array(sizes[level]!.length);
    most = new Array<Ratio>(children.length).fill([0n, 1n]);
    parents[level - 1]!.forEach((node, child) => {
      children[node]!++;
      most[node] = larger(most[node]!, below[child]!);
    });
    let ratio: Ratio = [1n, 1n];
    chances[level]!.forEach((least, node) => {
      const [over, under] = most[node]!;
      if (children[node]! > 1) ratio = larger(ratio, [over * least[1], under * least[0]]);
    });
    // The unknown word draws any word alike, and meets every word at the root.
    if (level === top) ratio = larger(ratio, [most[0]![0] * BigInt(count), most[0]![1] * TOTAL]);
    losses.push(Math.max(losses.at(-1) ?? 0, logAbove(...ratio)));
  }
  return losses;
}

/** The node of the next level that each node of a level lies in. */
function parentsOf(row: readonly number[], above: readonly number[]): number[] {
  let node = 0;
  let left = above[0]!;
  return row.map((size) => {
    if (!left) left = above[++node]!;
    left -= size;
    return node;
  });
}

/** The sizes of the nodes of each level, words first, the root last. */
function levelsOf(steps: readonly number[], count: number): number[][] {
  const found: number[][] = [];
  for (let at = 0; at < steps.length; ) {
    const size = steps[at++]!;
    found.push(size ? steps.slice(at, at + size) : new Array<number>(count).fill(1));
    at += size;
  }
  found.push([count]);
  if (found.length > MOST_LEVELS) throw artifactError("its tree has too many levels");
  let below = new Set<number>();
  found.forEach((row, level) => {
    const ends = new Set<number>();
    let end = 0;
    for (const size of row) ends.add((end += size));
    const isWithin = !level || [...ends].every((each) => below.has(each));
    if (end !== count || row.includes(0) || !isWithin) throw artifactError("its tree is none");
    below = ends;
  });
  return found;
}
