/** What went wrong: of the artifact, of an argument, or of the data. It never holds text. */
export type Kind = "artifact" | "argument" | "data";
/** Every error of this module. Nothing is released where one is thrown. */
export declare class MondegreenError extends Error {
    readonly kind: Kind;
    readonly name = "MondegreenError";
    constructor(kind: Kind, message: string);
}
export declare function artifactError(problem: string): MondegreenError;
export declare function argumentError(name: string, allowed: string): MondegreenError;
