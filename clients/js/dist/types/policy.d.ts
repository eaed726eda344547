import type { Artifact, PolicyHeader } from "./artifact.js";
import { type Unicode } from "./unicode.js";
/** What is printed for a word: a member of a symbol, in a lap of its members. */
export interface Output {
    readonly symbol: number;
    readonly member: number;
    /** 0, but where all members of a group were given away before. */
    readonly lap: number;
}
/** A symbol for people. */
export interface Described {
    readonly class: string;
    readonly form: string;
    /** Words or tokens that may be printed for it. */
    readonly size: number;
}
/**
 * What is ordinary, what is sensitive, and among which words a sensitive one hides.
 *
 * Symbols `0..ordinary-1` are ordinary words, then come groups of words, then formats.
 */
export declare class Policy {
    readonly words: readonly string[];
    readonly symbols: Map<string, number>;
    /** Words that have another symbol where they have a capital, or are all capitals. */
    readonly capitals: Map<string, number>;
    readonly upper: Map<string, number>;
    readonly starts: Set<string>;
    /** Outputs as they are printed as first words. */
    readonly first: readonly string[];
    readonly address: ReadonlySet<string>;
    readonly ordinary: number;
    readonly size: number;
    private readonly header;
    private readonly begins;
    constructor(words: readonly string[], { header, part }: Pick<Artifact, "header" | "part">, unicode: Unicode);
    /** Words that each ending is joined to. */
    get hosts(): PolicyHeader["hosts"];
    /** The group of unknown words of a grammatical form, or of unknown names. */
    rest(form: string): number;
    /** The symbol of a word that the lists have as a name, where it is one. */
    nameOf(folded: string): number | undefined;
    get name(): number;
    shape(place: number): number;
    isGroup(symbol: number): boolean;
    /** How many outputs a symbol has. */
    sizeOf(symbol: number): number;
    /** Whether a word is among those that are printed for a symbol; a format prints all of its own. */
    prints(symbol: number, folded: string): boolean;
    /** The place of an output among the words; null for the token of a format. */
    placeOf({ symbol, member }: Output): number | null;
    /** The token of an output; later laps of a group have a suffix. */
    print(output: Output): string;
    describe(symbol: number): Described;
    /** Give each known word its symbol; no two words that are printed may be alike. */
    private index;
    private mark;
}
