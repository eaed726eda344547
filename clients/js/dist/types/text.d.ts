import { type Unicode } from "./unicode.js";
/** The public lists of the tokenizer and of the lookup, as an artifact has them. */
export interface Lists {
    readonly signs: string;
    readonly currency: string;
    readonly blanks: string;
    readonly apostrophes: string;
    readonly gap: number;
    readonly same: number;
    readonly longest: number;
    readonly endings: Readonly<Record<string, string>>;
    readonly hosts: Readonly<Record<string, string>>;
}
/** Cuts texts into structure and words, and finds the form that words are looked up in. */
export declare class Tokenizer {
    private readonly lists;
    private readonly unicode;
    private readonly signs;
    private readonly endings;
    private readonly hosts;
    private points;
    constructor(lists: Lists, unicode: Unicode);
    /** `[structure, word, structure, ..., word, structure]`, which join to the text. */
    cut(text: string): string[];
    /** The form under which a word is looked up; the next word matters where it is n't. */
    canonical(word: string, following?: string): string;
    /** The form in which the lists of a policy hold a word: endings stay, long words are small. */
    folded(word: string): string;
    /** A folded word without marks; "" if it has none, or other letters: `without_marks` of Python. */
    unmarked(folded: string): string;
    /** Whether a word is the ending n't, in any case and with any apostrophe. */
    isNegation(word: string): boolean;
    hasApostrophe(word: string): boolean;
    private straight;
    /** Where the word ends that begins at a place, or a place that is not behind it. */
    private wordEnd;
    /** A word whose first letter is read, up to `next`; or its n, of n't, alone. */
    private fromLetter;
    /** Whether 't follows, and the word ends with it. */
    private isT;
    /** What is behind an apostrophe, if it is an ending of a word. */
    private endingAt;
    private currencyAt;
    /** A run of content that begins with no letter, such as an emoji and its marks. */
    private other;
    private run;
    private kind;
    private isLetter;
    private isRest;
    private isListed;
    private isContent;
    private is;
    private isOneOf;
    /** Turn what is too long for a gap into a word; all of it is below U+10000. */
    private cutGaps;
    /** Whether a gap has more units than may pass. */
    isLong(gap: string): boolean;
    /** How many characters count as one: an 's, or up to 32 equal blanks or line ends. */
    private unit;
}
