import { Stream } from "./stream.js";
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
export declare function blake2b(data: Uint8Array, key?: Uint8Array, person?: string): Uint8Array;
/** A stream that nobody can repeat, keyed by the random source of the platform. */
export declare function fresh(): Stream;
/** The stream of a record. */
export declare function keyed(keyed: Keyed, settings: string, text: string): Stream;
/** The stream of a text: `stream_key` of `mondegreen.sampling.noise`. */
export declare function streamOf(master: Uint8Array, scope: Uint8Array, record: string, place: number, text: string): Stream;
/** Whether bytes can be a key: long enough, and not the same few again and again. */
export declare function isKey(key: unknown): key is Uint8Array;
