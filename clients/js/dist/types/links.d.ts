/** Tells whether an answer is inside a link, image or tag: `LinkScanner` of Python. */
export declare class LinkScanner {
    /** Whether a target in Markdown begins here. */
    isAtStart: boolean;
    /** Whether the value of an attribute begins here. */
    isAtValue: boolean;
    private readonly host;
    private last;
    private depth;
    private opened;
    private quote;
    private isAngle;
    private isDefinition;
    private isDefined;
    private isEscape;
    private isInTag;
    private isInRun;
    private isRaw;
    private outer;
    /** Whether a link, an image or a tag goes on. The name of a closing tag is none of these. */
    get isInside(): boolean;
    feed(text: string): void;
    private step;
    /** End a run at a blank, or at the quote that it stands in. */
    private endRun;
    /** Follow the target of a definition, `[label]: target`. */
    private define;
    /** Follow the target of a link or an image, `](target)`. */
    private target;
    /** Follow a tag; what is quoted behind `=` does not end it. */
    private tag;
}
