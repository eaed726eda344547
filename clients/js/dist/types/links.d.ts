/** Tells whether an answer is inside a link, image or tag: `LinkScanner` of Python. */
export declare class LinkScanner {
    /** Whether a target in Markdown begins here. */
    isAtStart: boolean;
    /** Whether the value of an attribute begins here. */
    isAtValue: boolean;
    private readonly host;
    private last;
    private tags;
    private depth;
    private isAngle;
    private isAtLine;
    private isComment;
    private isDefinition;
    private isDefined;
    private isEscape;
    private isInRun;
    private isLabel;
    private isPrefix;
    private isRaw;
    private isValue;
    private outer;
    /** Whether a link, an image or a tag goes on. The name of a closing tag is none of these. */
    get isInside(): boolean;
    private get isOutsideOfQuotes();
    feed(text: string): void;
    private step;
    /** Follow a label at the beginning of a line, which may begin a definition; a footnote is none. */
    private label;
    /** Follow the target of a definition, `[label]: target`. */
    private define;
    /** Follow the target of a link or an image, `](target)`. */
    private target;
    /** Follow all tags that may be open here, since browsers and Markdown read different ones. */
    private tag;
}
