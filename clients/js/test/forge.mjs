// An artifact written anew, as somebody could who wants to be believed.
import { sha256, utf8 } from "../dist/node.js";

const MAGIC = "mondegreen-device/1\n";

/** The artifact with another header or parts, and a digest that fits. */
export function forged(change, bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset + MAGIC.length, 4).getUint32(0, true);
  const start = MAGIC.length + 4;
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(start, start + size)));
  const parts = new Map();
  let at = start + size;
  for (const [name, length] of header.sections) parts.set(name, bytes.slice(at, (at += length)));
  change(header, parts);
  header.sections = [...parts].map(([name, part]) => [name, part.length]);
  const text = utf8(JSON.stringify(header));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, text.length, true);
  const whole = joined([utf8(MAGIC), length, text, ...parts.values()]);
  return joined([whole, sha256(whole)]);
}

function joined(parts) {
  const found = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    found.set(part, at);
    at += part.length;
  }
  return found;
}
