/** What the command in Node and the tests need besides the module itself. */
export { sha256 } from "@noble/hashes/sha2.js";
export { fromHex, hex, utf8 } from "./bytes.js";
export { MondegreenError } from "./errors.js";
export { type Found, type Value, isBlank, scan } from "./jsonl.js";
export { blake2b, isKey, keyed } from "./noise.js";
export { load } from "./privatizer.js";
export { Stream } from "./stream.js";
