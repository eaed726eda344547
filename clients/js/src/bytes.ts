import { artifactError } from "./errors.js";

/** UTF-8 of any string; half of a surrogate pair takes three bytes, as in Python. */
export function utf8(text: string): Uint8Array {
  const found = new Uint8Array(3 * text.length);
  let size = 0;
  for (const char of text) {
    const point = char.codePointAt(0)!;
    if (point < 0x80) {
      found[size++] = point;
      continue;
    }
    const more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    found[size++] = ((0xff00 >> (more + 1)) & 0xff) | (point >> (6 * more));
    for (let left = more - 1; left >= 0; left--) {
      found[size++] = 0x80 | ((point >> (6 * left)) & 0x3f);
    }
  }
  return found.subarray(0, size);
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function fromHex(text: unknown, size: number): Uint8Array {
  if (typeof text !== "string" || !new RegExp(`^[0-9a-f]{${2 * size}}$`).test(text)) {
    throw artifactError("a digest in it is none");
  }
  return Uint8Array.from({ length: size }, (_, i) => parseInt(text.substr(2 * i, 2), 16));
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const found = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    found.set(part, at);
    at += part.length;
  }
  return found;
}

/** Integers of at least 0, each as LEB128. */
export function numbers(bytes: Uint8Array): number[] {
  const found: number[] = [];
  let value = 0;
  let scale = 1;
  for (const byte of bytes) {
    value += (byte & 0x7f) * scale;
    scale *= 128;
    if (byte < 0x80) {
      if (value > 0xffffffff) throw artifactError("a number in it is too large");
      found.push(value);
      value = 0;
      scale = 1;
    }
  }
  if (scale > 1) throw artifactError("its last number is cut off");
  return found;
}

/** The integer that was folded into one of at least 0. */
export function signed(value: number): number {
  return value % 2 ? -(value + 1) / 2 : value / 2;
}
