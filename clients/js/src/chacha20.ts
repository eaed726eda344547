const CONSTANTS = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;
const ROUNDS = 20;

/**
 * The ChaCha20 key stream (RFC 8439) of a key of 32 bytes, nonce 0, from block 0.
 *
 * It is read in words of 32 bits, least byte first; 64 bits are two of them, the lower
 * first. `block`, of 16 words, stands in for the first one in tests.
 */
export class Stream {
  private readonly input = new Uint32Array(16);
  private readonly block = new Uint32Array(16);
  private place = 16;

  constructor(key: Uint8Array, block?: ArrayLike<number>) {
    if (key.length !== 32) throw new RangeError("a stream needs a key of 32 bytes");
    this.input.set(CONSTANTS);
    const view = new DataView(key.buffer, key.byteOffset, 32);
    for (let i = 0; i < 8; i++) this.input[4 + i] = view.getUint32(4 * i, true);
    if (block) {
      this.fill();
      this.block.set(block);
    }
  }

  next32(): number {
    if (this.place === 16) this.fill();
    return this.block[this.place++]!;
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

  private fill(): void {
    const x = this.block;
    x.set(this.input);
    for (let round = 0; round < ROUNDS; round += 2) {
      quarter(x, 0, 4, 8, 12);
      quarter(x, 1, 5, 9, 13);
      quarter(x, 2, 6, 10, 14);
      quarter(x, 3, 7, 11, 15);
      quarter(x, 0, 5, 10, 15);
      quarter(x, 1, 6, 11, 12);
      quarter(x, 2, 7, 8, 13);
      quarter(x, 3, 4, 9, 14);
    }
    for (let i = 0; i < 16; i++) x[i] = x[i]! + this.input[i]!;
    this.input[12] = this.input[12]! + 1;
    if (!this.input[12]) this.input[13] = this.input[13]! + 1;
    this.place = 0;
  }
}

function quarter(x: Uint32Array, a: number, b: number, c: number, d: number): void {
  turn(x, a, b, d, 16);
  turn(x, c, d, b, 12);
  turn(x, a, b, d, 8);
  turn(x, c, d, b, 7);
}

function turn(x: Uint32Array, to: number, from: number, mixed: number, by: number): void {
  x[to] = x[to]! + x[from]!;
  const both = x[mixed]! ^ x[to]!;
  x[mixed] = (both << by) | (both >>> (32 - by));
}
