import type { Artifact, Setting } from "./artifact.js";
import { numbers } from "./bytes.js";
import { artifactError } from "./errors.js";
import { type Law, checkClaim, figures, logAbove } from "./law.js";
import type { Stream } from "./stream.js";

const BLOCK = 4096;
const TOTAL = 1n << 64n;
const METRIC = /^Hamming distance of ([1-9][0-9]{0,5})-bit codes$/;

/** Flip every bit of the code of a word; draw one of the words whose codes are nearest. */
export class Brr implements Law {
  readonly loss: number;
  private readonly size: number; // 32-bit words of a code
  private readonly bits: number;
  private readonly count: number;
  // Codes padded to whole 32-bit words with zeros, the first bit of a byte highest.
  private readonly codes: Uint32Array;
  private readonly unknown: Uint32Array;
  private readonly starts: Uint32Array; // of the words of each code
  private readonly codeOf: Uint32Array; // of each word
  private readonly upper: number;
  private readonly lower: number;

  constructor(artifact: Artifact, setting: Setting) {
    const unknown = artifact.part("unknown");
    const counts = numbers(artifact.part("counts"));
    const table = artifact.part("codes");
    this.bits = 8 * unknown.length;
    this.size = Math.ceil(unknown.length / 4);
    this.codes = aligned(table, unknown.length);
    this.unknown = aligned(unknown, unknown.length);
    this.starts = Uint32Array.from([0, ...counts]);
    for (let i = 1; i < this.starts.length; i++) this.starts[i]! += this.starts[i - 1]!;
    this.count = artifact.words.length;
    const isWhole = table.length === counts.length * unknown.length;
    if (!isWhole || !unknown.length || counts.includes(0) || this.starts.at(-1) !== this.count) {
      throw artifactError("its codes do not fit its words");
    }
    this.codeOf = new Uint32Array(this.count);
    counts.forEach((_, code) => this.codeOf.fill(code, this.starts[code], this.starts[code + 1]));
    if (!/^[0-9]{1,20}$/.test(setting.threshold ?? "")) throw artifactError("its law is none");
    const threshold = BigInt(setting.threshold!);
    if (threshold < 1n || threshold > 1n << 63n) throw artifactError("its bits hardly flip");
    const [bits] = figures(setting.guarantee, METRIC);
    const { diameter } = setting.guarantee.scale;
    if (bits !== this.bits || !(diameter! >= this.farthest() && diameter! <= bits)) {
      throw artifactError("its metric is of other codes");
    }
    const ofBit = logAbove(TOTAL - threshold, threshold);
    checkClaim(setting, ofBit, 1);
    this.loss = ofBit * this.bits;
    this.upper = Number(threshold >> 32n);
    this.lower = Number(threshold & 0xffffffffn);
  }

  draw(inputs: readonly number[], stream: Stream): number[] {
    const found: number[] = [];
    for (let at = 0; at < inputs.length; at += BLOCK) {
      found.push(...this.block(inputs.slice(at, at + BLOCK), stream));
    }
    return found;
  }

  chances(): null {
    return null;
  }

  private block(inputs: readonly number[], stream: Stream): number[] {
    const undecided: [number, number][] = [];
    const drawn = inputs.map((input, place) => {
      const noisy = new Uint32Array(this.size);
      const code = input < this.count ? this.codeOf[input]! * this.size : 0;
      noisy.set((input < this.count ? this.codes : this.unknown).subarray(code, code + this.size));
      for (let bit = 0; bit < this.bits; bit++) {
        const half = stream.next32();
        if (half < this.upper) flip(noisy, bit);
        else if (half === this.upper) undecided.push([place, bit]);
      }
      return { noisy, tie: stream.next64() };
    });
    // One bit in 2^32 is decided by 32 more, after the others of its block.
    for (const [place, bit] of undecided) {
      if (stream.next32() < this.lower) flip(drawn[place]!.noisy, bit);
    }
    return drawn.map(({ noisy, tie }) => this.nearest(noisy, tie));
  }

  /** How many bits of the code that begins at a place differ from those of another one. */
  private distance(at: number, other: Uint32Array): number {
    let found = 0;
    for (let i = 0; i < this.size; i++) found += ones(this.codes[at + i]! ^ other[i]!);
    return found;
  }

  /** The distance of the unknown word to the farthest code: no diameter is smaller. */
  private farthest(): number {
    let most = 0;
    for (let at = 0; at < this.codes.length; at += this.size) {
      most = Math.max(most, this.distance(at, this.unknown));
    }
    return most;
  }

  /** One of the words whose codes are nearest, each with the same chance. */
  private nearest(noisy: Uint32Array, tie: bigint): number {
    let least = Infinity;
    let tied: number[] = [];
    const { codes, size } = this;
    for (let code = 0; code * size < codes.length; code++) {
      const distance = this.distance(code * size, noisy);
      if (distance < least) {
        least = distance;
        tied = [code];
      } else if (distance === least) tied.push(code);
    }
    const total = tied.reduce((sum, code) => sum + this.starts[code + 1]! - this.starts[code]!, 0);
    let place = Number((tie * BigInt(total)) >> 64n);
    for (const code of tied) {
      const own = this.starts[code + 1]! - this.starts[code]!;
      if (place < own) return this.starts[code]! + place;
      place -= own;
    }
    throw new RangeError("no code is nearest");
  }
}

function aligned(table: Uint8Array, bytes: number): Uint32Array {
  const size = 4 * Math.ceil(bytes / 4);
  const rows = table.length / bytes;
  const found = new Uint8Array(Math.ceil(rows) * size);
  for (let row = 0; row < rows; row++) {
    found.set(table.subarray(row * bytes, (row + 1) * bytes), row * size);
  }
  return new Uint32Array(found.buffer);
}

/** Flip a bit, whatever the order of bytes of the machine. */
function flip(code: Uint32Array, bit: number): void {
  const bytes = new Uint8Array(code.buffer);
  bytes[bit >> 3]! ^= 0x80 >> (bit & 7);
}

function ones(x: number): number {
  let n = x - ((x >>> 1) & 0x55555555);
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
