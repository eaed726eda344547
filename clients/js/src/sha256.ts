// By hand: the digests of the platform are asynchronous, and absent without https.

const CONSTANTS = new Uint32Array(64);
const START = new Uint32Array(8);

/** The first 32 bits behind the point of a root of a number. */
function fraction(prime: number, power: number): number {
  const root = prime ** power;
  return Math.floor((root - Math.floor(root)) * 2 ** 32);
}

for (let number = 2, count = 0; count < 64; number++) {
  let isPrime = true;
  for (let d = 2; d * d <= number; d++) isPrime &&= number % d > 0;
  if (!isPrime) continue;
  if (count < 8) START[count] = fraction(number, 1 / 2);
  CONSTANTS[count++] = fraction(number, 1 / 3);
}

function rotated(x: number, by: number): number {
  return (x >>> by) | (x << (32 - by));
}

/** SHA-256 (FIPS 180-4). */
export function sha256(data: Uint8Array): Uint8Array {
  const padded = new Uint8Array((((data.length + 8) >> 6) + 1) << 6);
  padded.set(data);
  padded[data.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(data.length / 2 ** 29));
  view.setUint32(padded.length - 4, data.length << 3);
  const state = START.slice();
  const words = new Uint32Array(64);
  for (let at = 0; at < padded.length; at += 64) compress(state, words, view, at);
  const found = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => found.setUint32(4 * i, word));
  return new Uint8Array(found.buffer);
}

function compress(state: Uint32Array, words: Uint32Array, view: DataView, at: number): void {
  for (let i = 0; i < 16; i++) words[i] = view.getUint32(at + 4 * i);
  for (let i = 16; i < 64; i++) {
    const x = words[i - 15]!;
    const y = words[i - 2]!;
    const low = rotated(x, 7) ^ rotated(x, 18) ^ (x >>> 3);
    const high = rotated(y, 17) ^ rotated(y, 19) ^ (y >>> 10);
    words[i] = words[i - 16]! + low + words[i - 7]! + high;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as number[] as [
    number, number, number, number, number, number, number, number,
  ];
  for (let i = 0; i < 64; i++) {
    const high = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const first = (h + high + ((e & f) ^ (~e & g)) + CONSTANTS[i]! + words[i]!) | 0;
    const low = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const second = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] = state[i]! + word));
}
