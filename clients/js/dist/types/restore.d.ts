import type { Policy } from "./policy.js";
import type { Surrogates } from "./surrogates.js";
import type { Tokenizer } from "./text.js";
import { type Units } from "./units.js";
/** Restores one answer. What comes of two pieces is what comes of the whole. */
export declare class Restorer {
    private readonly surrogates;
    private readonly units;
    private readonly policy;
    private readonly tokenizer;
    private readonly longest;
    private readonly links;
    private rest;
    private behind;
    private isEnd;
    private isInWord;
    /** The part of a date before that is kept: 1 for a day, 2 for a month, 3 for a day that was not sent. */
    private kept;
    constructor(surrogates: Surrogates, units: Units, policy: Policy, tokenizer: Tokenizer, longest: number);
    /** Take a piece of the answer; return what is certain by now. */
    feed(text: string): string;
    /** Return the rest. */
    end(): string;
    /** Restore what follows `behind` to its end; call `note` with the end and the text of each step. */
    walk(text: string, behind: string, note: (end: number, shown: string) => void): void;
    private pass;
    private take;
    /** Decide on what begins here: how many code units, and what they become. */
    private step;
    private sign;
    /** How many code units a unit takes here: 0 if it is not here. */
    private match;
    /** Whether a day or a month keeps its surrogate by another part of its date. */
    private matchRest;
    /** Note whether a part of a date keeps its surrogate: the others then do. */
    private noteDate;
    /** Whether a letter is the ending of a word: "Ann's" holds no initial S. */
    private isEnding;
    /** Whether a surrogate is among the words before. */
    private isNear;
    /**
     * Whether the name of a day or month is that of another language: spelled as there, and no word that was
     * given out or is public. A capital that it has not inside a sentence makes it a name, such as Julio, unless
     * a sentence begins here or no such name is known.
     */
    private isTranslated;
    /** Whether what a date leaves out stands beside it: then it is another date. */
    private matchMissing;
    /** Whether a day or the name of a month stands before a year. */
    private isOfDate;
    /** Whether a number is no part of a longer one, and no marker of a list. */
    private isApart;
    /** Whether a short number is the marker of a list. */
    private isMarker;
    /** Whether an address is here as it was sent, and no longer one. */
    private matchAddress;
    /**
     * Whether an address is no part of a link, or a whole target. One without a scheme, such as of mail, is relative to
     * another server; one that ends with its host is whole if its target ends too.
     */
    private isOwn;
    /** Restore a name or another word of a group. */
    private word;
    /** Whether what ends here is part of a host or of a user before one: looks one label ahead. */
    private isJoined;
    private original;
    /** Write an original as its surrogate is written: small, or in capitals. */
    private spell;
    /** Restore the plural of a name, unless it is another word. */
    private plural;
}
