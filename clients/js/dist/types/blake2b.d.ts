/** BLAKE2b (RFC 7693) of 32 bytes, with a key and a personal string if they are given. */
export declare function blake2b(data: Uint8Array, key?: Uint8Array, person?: string): Uint8Array;
