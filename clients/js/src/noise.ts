import { blake2b as blake2 } from "@noble/hashes/blake2.js";
import { sha256 } from "@noble/hashes/sha2.js";

import { fromHex, joined, utf8 } from "./bytes.js";
import { argumentError } from "./errors.js";
import { Stream } from "./stream.js";

const KEY = 32;
const PERSON = 16; // bytes of a personal string
const LEAST_BYTES = 8;

/** The noise of one record, which repeats itself for whoever holds the key. */
export interface Keyed {
  /** At least 32 random bytes. */
  readonly key: Uint8Array;
  /** What identifies the record; an integer means the same as its digits. */
  readonly id: string | number | bigint;
  /** The logical column; `text` if not given. */
  readonly column?: string;
  /** How many texts of the same record and column precede this one; 0 if not given. */
  readonly place?: number;
}

/** BLAKE2b (RFC 7693) of 32 bytes, with a key and a personal string if they are given. */
export function blake2b(data: Uint8Array, key?: Uint8Array, person = ""): Uint8Array {
  const personalization = new Uint8Array(PERSON);
  personalization.set(utf8(person));
  return blake2(data, { dkLen: KEY, personalization, ...(key && { key }) });
}

/** A stream that nobody can repeat, keyed by the random source of the platform. */
export function fresh(): Stream {
  return new Stream(globalThis.crypto.getRandomValues(new Uint8Array(KEY)));
}

/** The stream of a record. */
export function keyed(keyed: Keyed, settings: string, text: string): Stream {
  const { key, id, column = "text", place = 0, ...unknown } = keyed;
  if (Object.keys(unknown).length) throw argumentError("options", "key, id, column and place");
  if (!isKey(key)) throw argumentError("key", "at least 32 random bytes");
  if (typeof column !== "string") throw argumentError("column", "a string");
  if (!Number.isSafeInteger(place) || place < 0) throw argumentError("place", "0, 1, 2 ...");
  const record = recordId(id);
  const master = blake2b(key, undefined, "mondegreen-key");
  return streamOf(master, sha256(joined([fromHex(settings, KEY), utf8(column)])), record, place, text);
}

/** The stream of a text: `stream_key` of `mondegreen.sampling.noise`. */
export function streamOf(master: Uint8Array, scope: Uint8Array, record: string, place: number, text: string): Stream {
  const fields = [blake2b(scope), blake2b(utf8(record)), bytes8(place), blake2b(utf8(text))];
  return new Stream(blake2b(joined(fields), master, "mondegreen-rec"));
}

/** Whether bytes can be a key: long enough, and not the same few again and again. */
export function isKey(key: unknown): key is Uint8Array {
  return key instanceof Uint8Array && key.length >= KEY && new Set(key).size >= LEAST_BYTES;
}

function recordId(id: unknown): string {
  if (typeof id === "string" && id) return id;
  if (typeof id === "bigint" || Number.isSafeInteger(id)) return String(id).replace(/^-0$/, "0");
  throw argumentError("id", "a string that is not empty, or an integer");
}

function bytes8(value: number): Uint8Array {
  const found = new DataView(new ArrayBuffer(8));
  found.setBigUint64(0, BigInt(value), true);
  return new Uint8Array(found.buffer);
}
