import type { Artifact, Setting } from "./artifact.js";
import { numbers } from "./bytes.js";
import type { Stream } from "./chacha20.js";
import { artifactError } from "./errors.js";
import type { Law } from "./law.js";

const TOTAL = 1n << 62n;

/** A level of the tree that can be drawn: its integer, and the node of every input. */
interface Level {
  readonly weight: bigint;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** Choose a level; draw uniformly from the words of the node there. */
export class Tree implements Law {
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

/** The sizes of the nodes of each level, words first, the root last. */
function levelsOf(steps: readonly number[], count: number): number[][] {
  const found: number[][] = [];
  for (let at = 0; at < steps.length; ) {
    const size = steps[at++]!;
    found.push(size ? steps.slice(at, at + size) : new Array<number>(count).fill(1));
    at += size;
  }
  found.push([count]);
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
