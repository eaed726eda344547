import { chacha20 } from "@noble/ciphers/chacha.js";

const NONCE = new Uint8Array(12);
const BLOCK = 64; // bytes
const MOST = 16; // blocks that are made at once

/**
 * The ChaCha20 key stream (RFC 8439) of a key of 32 bytes, nonce 0, from block 0.
 *
 * It is read in words of 32 bits, least byte first; 64 bits are two of them, the lower
 * first. `block`, of 16 words, stands in for the first one in tests.
 */
export class Stream {
  private readonly key: Uint8Array;
  private bytes = new DataView(new ArrayBuffer(0));
  private at = 0;
  high = 0;
  low = 0;
  private blocks = 0; // that were made

  constructor(key: Uint8Array, block?: ArrayLike<number>) {
    if (key.length !== 32) throw new RangeError("a stream needs a key of 32 bytes");
    this.key = key.slice();
    if (block) {
      this.fill();
      for (let i = 0; i < 16; i++) this.bytes.setUint32(4 * i, block[i]!, true);
    }
  }

  next32(): number {
    if (this.at === this.bytes.byteLength) this.fill();
    const found = this.bytes.getUint32(this.at, true);
    this.at += 4;
    return found;
  }

  /** Read 64 bits, and keep the upper 62: `high` has 30 of them, `low` 32. */
  step62(): void {
    const low = this.next32();
    const high = this.next32();
    this.high = high >>> 2;
    this.low = (((high & 3) << 30) | (low >>> 2)) >>> 0;
  }

  next64(): bigint {
    const low = BigInt(this.next32());
    return (BigInt(this.next32()) << 32n) | low;
  }

  /** An integer below `count`, at most 2^32, without bias; 0 and no word where it is 1. */
  below(count: number): number {
    if (count <= 1) return 0;
    const excluded = BigInt(count);
    const threshold = (1n << 32n) % excluded;
    for (;;) {
      const product = BigInt(this.next32()) * excluded;
      if ((product & 0xffffffffn) >= threshold) return Number(product >> 32n);
    }
  }

  /** Make one block first, since most texts are short, and more at a time later. */
  private fill(): void {
    const count = Math.min(Math.max(this.blocks, 1), MOST);
    const zeros = new Uint8Array(count * BLOCK);
    // The library throws before its counter of 32 bits would wrap.
    const found = chacha20(this.key, NONCE, zeros, undefined, this.blocks);
    this.bytes = new DataView(found.buffer, found.byteOffset, found.length);
    this.blocks += count;
    this.at = 0;
  }
}

/** What is left of `high * 2^32 + low`, below 2^62, divided by a size below 2^53. */
export function remainder(high: number, low: number, size: number): number {
  const half = 0x100000000;
  if (size < 1 << 20) return ((high % size) * (half % size) + low) % size;
  return Number((BigInt(high) * BigInt(half) + BigInt(low)) % BigInt(size));
}
