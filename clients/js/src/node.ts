/** What the command in Node and the tests need besides the module itself. */
export { blake2b } from "./blake2b.js";
export { fromHex, hex, utf8 } from "./bytes.js";
export { Stream } from "./chacha20.js";
export { MondegreenError } from "./errors.js";
export { type Found, type Value, isBlank, scan } from "./jsonl.js";
export { isKey, keyed } from "./noise.js";
export { load } from "./privatizer.js";
export { sha256 } from "./sha256.js";
