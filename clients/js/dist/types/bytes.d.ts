/** UTF-8 of any string; half of a surrogate pair takes three bytes, as in Python. */
export declare function utf8(text: string): Uint8Array;
export declare function hex(bytes: Uint8Array): string;
export declare function fromHex(text: unknown, size: number): Uint8Array;
export declare function joined(parts: readonly Uint8Array[]): Uint8Array;
/** Integers of at least 0, each as LEB128. */
export declare function numbers(bytes: Uint8Array): number[];
/** The integer that was folded into one of at least 0. */
export declare function signed(value: number): number;
