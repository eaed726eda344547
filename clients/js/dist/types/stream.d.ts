/**
 * The ChaCha20 key stream (RFC 8439) of a key of 32 bytes, nonce 0, from block 0.
 *
 * It is read in words of 32 bits, least byte first; 64 bits are two of them, the lower
 * first. `block`, of 16 words, stands in for the first one in tests.
 */
export declare class Stream {
    private readonly key;
    private bytes;
    private at;
    high: number;
    low: number;
    private blocks;
    constructor(key: Uint8Array, block?: ArrayLike<number>);
    next32(): number;
    /** Read 64 bits, and keep the upper 62: `high` has 30 of them, `low` 32. */
    step62(): void;
    next64(): bigint;
    /** An integer below `count`, at most 2^32, without bias; 0 and no word where it is 1. */
    below(count: number): number;
    /** Make one block first, since most texts are short, and more at a time later. */
    private fill;
}
/** What is left of `high * 2^32 + low`, below 2^62, divided by a size below 2^53. */
export declare function remainder(high: number, low: number, size: number): number;
