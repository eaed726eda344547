/**
 * Whether a printed word is an abbreviation, behind which no sentence begins: `Abbreviations` of
 * `mondegreen.policy.abbreviations`. One letter is one if a full stop joins it to the word in front.
 */
export declare function isAbbreviation(parts: readonly string[], i: number, printed: string): boolean;
