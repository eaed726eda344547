import type { Artifact, Setting } from "./artifact.js";
import { artifactError } from "./errors.js";
import { type Law, checkClaim, logAbove } from "./law.js";
import { SHAPES } from "./shapes.js";
import type { Stream } from "./stream.js";

const TOTAL = 1n << 62n;
const HALF = 0x100000000;

/** An integer below 2^62 in two halves, which are compared without a large integer. */
interface Halves {
  readonly all: bigint;
  readonly high: number;
  readonly low: number;
}

function halves(all: bigint): Halves {
  return { all, high: Number(all >> 32n), low: Number(all & 0xffffffffn) };
}

/** Keep a symbol of a policy, or draw one of the targets, all alike: `krr` and `urr`. */
export class Response implements Law {
  readonly loss: number;
  private readonly size: number; // of all symbols
  private readonly first: number;
  private readonly count: number;
  private readonly stray: bigint;
  private readonly kept: readonly [other: Halves, target: Halves];

  constructor({ header }: Artifact, setting: Setting) {
    const { ordinary, groups } = header.policy!;
    this.size = ordinary + groups.length + SHAPES.length;
    this.first = header.mechanism === "urr" ? ordinary : 0;
    this.count = this.size - this.first;
    if (!/^[0-9]{1,19}$/.test(setting.stray ?? "")) throw artifactError("an integer of its law is none");
    this.stray = BigInt(setting.stray!);
    const count = BigInt(this.count);
    const target = TOTAL - (count - 1n) * this.stray;
    // A symbol stays at least as often as it is another one's stray.
    if (this.stray < 1n || target < this.stray) throw artifactError("its law is none");
    this.kept = [halves(target - this.stray), halves(target)];
    this.loss = logAbove(target, this.stray);
    checkClaim(setting, this.loss, 1);
  }

  draw(inputs: readonly number[], stream: Stream): number[] {
    return inputs.map((input) => {
      stream.step62();
      const isTarget = input >= this.first;
      const { high, low, all } = this.kept[isTarget ? 1 : 0];
      if (stream.high < high || (stream.high === high && stream.low < low)) return input;
      const rest = BigInt(stream.high) * BigInt(HALF) + BigInt(stream.low) - all;
      const place = this.first + Number(rest / this.stray);
      // Targets in order, the input left out.
      return isTarget && place >= input ? place + 1 : place;
    });
  }

  /** The chance of each symbol. */
  chances(input: number): Float64Array {
    const found = new Float64Array(this.size);
    found.fill(Number(this.stray) / Number(TOTAL), this.first);
    found[input] = Number(this.kept[input >= this.first ? 1 : 0].all) / Number(TOTAL);
    return found;
  }
}
