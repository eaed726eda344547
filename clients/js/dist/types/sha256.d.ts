/** SHA-256 (FIPS 180-4). */
export declare function sha256(data: Uint8Array): Uint8Array;
