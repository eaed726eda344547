import { joined } from "./bytes.js";

// 64-bit words as pairs of 32 bits, the lower first.
const START = Uint32Array.of(
  0xf3bcc908, 0x6a09e667, 0x84caa73b, 0xbb67ae85, 0xfe94f82b, 0x3c6ef372, 0x5f1d36f1,
  0xa54ff53a, 0xade682d1, 0x510e527f, 0x2b3e6c1f, 0x9b05688c, 0xfb41bd6b, 0x1f83d9ab,
  0x137e2179, 0x5be0cd19,
);
const ORDERS = [
  "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8",
  "905724afe1bc683d", "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a",
  "6fe9b308c2d714a5", "a2847615fb9e3cd0",
].map((row) => Array.from(row, (digit) => parseInt(digit, 16)));
const ROUNDS = 12;
const BLOCK = 128;
const SIZE = 32;

const v = new Uint32Array(32);
const m = new Uint32Array(32);

function add(a: number, low: number, high: number): void {
  const sum = v[a]! + low;
  v[a + 1] = v[a + 1]! + high + (sum >= 2 ** 32 ? 1 : 0);
  v[a] = sum;
}

/** v[a] = (v[a] ^ v[b]) rotated right. */
function mix(a: number, b: number, by: number): void {
  const low = v[a]! ^ v[b]!;
  const high = v[a + 1]! ^ v[b + 1]!;
  if (by === 32) {
    v[a] = high;
    v[a + 1] = low;
  } else if (by === 63) {
    v[a] = (high >>> 31) | (low << 1);
    v[a + 1] = (low >>> 31) | (high << 1);
  } else {
    v[a] = (low >>> by) | (high << (32 - by));
    v[a + 1] = (high >>> by) | (low << (32 - by));
  }
}

function step(a: number, b: number, c: number, d: number, x: number, y: number): void {
  add(a, v[b]!, v[b + 1]!);
  add(a, m[x]!, m[x + 1]!);
  mix(d, a, 32);
  add(c, v[d]!, v[d + 1]!);
  mix(b, c, 24);
  add(a, v[b]!, v[b + 1]!);
  add(a, m[y]!, m[y + 1]!);
  mix(d, a, 16);
  add(c, v[d]!, v[d + 1]!);
  mix(b, c, 63);
}

function compress(state: Uint32Array, block: DataView, bytes: number, isLast: boolean): void {
  v.set(state);
  v.set(START, 16);
  v[24] = v[24]! ^ (bytes >>> 0);
  v[25] = v[25]! ^ Math.floor(bytes / 2 ** 32);
  if (isLast) {
    v[28] = ~v[28]!;
    v[29] = ~v[29]!;
  }
  for (let i = 0; i < 32; i++) m[i] = block.getUint32(4 * i, true);
  for (let round = 0; round < ROUNDS; round++) {
    const s = ORDERS[round % 10]!;
    for (let i = 0; i < 4; i++) {
      step(2 * i, 8 + 2 * i, 16 + 2 * i, 24 + 2 * i, 2 * s[2 * i]!, 2 * s[2 * i + 1]!);
    }
    for (let i = 0; i < 4; i++) {
      const [b, c, d] = [8 + 2 * ((i + 1) % 4), 16 + 2 * ((i + 2) % 4), 24 + 2 * ((i + 3) % 4)];
      step(2 * i, b, c, d, 2 * s[8 + 2 * i]!, 2 * s[9 + 2 * i]!);
    }
  }
  for (let i = 0; i < 16; i++) state[i] = state[i]! ^ v[i]! ^ v[i + 16]!;
}

/** BLAKE2b (RFC 7693) of 32 bytes, with a key and a personal string if they are given. */
export function blake2b(
  data: Uint8Array,
  key: Uint8Array = new Uint8Array(),
  person = "",
): Uint8Array {
  const parameters = new Uint8Array(64);
  parameters.set([SIZE, key.length, 1, 1]);
  parameters.set(Array.from(person, (char) => char.charCodeAt(0)), 48);
  const view = new DataView(parameters.buffer);
  const state = START.map((word, i) => word ^ view.getUint32(4 * i, true));
  let whole = data;
  if (key.length) {
    const first = new Uint8Array(BLOCK);
    first.set(key);
    whole = joined([first, data]);
  }
  let at = 0;
  for (; at + BLOCK < whole.length; at += BLOCK) {
    compress(state, new DataView(whole.buffer, whole.byteOffset + at, BLOCK), at + BLOCK, false);
  }
  const last = new Uint8Array(BLOCK);
  last.set(whole.subarray(at));
  compress(state, new DataView(last.buffer), whole.length, true);
  const found = new DataView(new ArrayBuffer(SIZE));
  for (let i = 0; i < SIZE / 4; i++) found.setUint32(4 * i, state[i]!, true);
  return new Uint8Array(found.buffer);
}
