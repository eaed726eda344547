/** Tells whether an answer is inside a link, image or tag: `LinkScanner` of Python. */
export declare class LinkScanner {
    private last;
    private depth;
    private isInTag;
    private isInRun;
    get isInside(): boolean;
    feed(text: string): void;
}
