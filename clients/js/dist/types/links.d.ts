/** Tells whether an answer is inside a link, image or tag: `LinkScanner` of Python. */
export declare class LinkScanner {
    private readonly readings;
    private before;
    private escape;
    private isJson;
    /** Whether a link, an image, a tag or brackets go on. The name of a tag is none of these. */
    get isInside(): boolean;
    /** The sign that ends the target that begins here; nothing where an address may be sent to another one. */
    get ownEnd(): string;
    /** Whether a word that comes next would be the name of a tag: a style sheet may load something for it. */
    get isAtTag(): boolean;
    /** Whether a letter that comes next would be a part of an escape of JSON. */
    get isInEscape(): boolean;
    feed(text: string): void;
    /** What a sign adds to the text without escapes: nothing if one goes on. */
    private undo;
}
