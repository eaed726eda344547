/** Tells whether an answer is inside a link, image or tag: `LinkScanner` of Python. */
export declare class LinkScanner {
    /** Whether a target in Markdown begins here. */
    isAtStart: boolean;
    /** Whether the value of an attribute begins here. */
    isAtValue: boolean;
    private readonly host;
    private last;
    private tags;
    private brackets;
    private depth;
    private isAngle;
    private isAtLine;
    private isBlank;
    private isComment;
    private isDefinition;
    private isDefined;
    private isEscape;
    private isInRun;
    private isLabel;
    private isLabelled;
    private isPrefix;
    private isRaw;
    private isValue;
    private outer;
    /** Whether a link, an image, a tag or brackets go on. The name of a tag is none of these. */
    get isInside(): boolean;
    /** Whether what comes next may be a label: definitions, also later ones, say what is loaded for each. */
    get isInBrackets(): boolean;
    /** Whether a word that comes next would be the name of a tag: a style sheet may load something for it. */
    get isAtTag(): boolean;
    private get isClosing();
    private get isOutsideOfQuotes();
    feed(text: string): void;
    private step;
    /** Count the brackets that are open; none is behind a blank line. */
    private bracket;
    /** Follow a label at the beginning of a line, which may begin a definition, or a footnote. */
    private label;
    /** Follow the target of a definition, `[label]: target`. */
    private define;
    /** Follow the target of a link or an image, `](target)`. */
    private target;
    /** Follow all tags that may be open here, since browsers and Markdown read different ones. */
    private tag;
}
