/** Tells whether an answer is inside a link, image or tag: `LinkScanner` of Python. */
export declare class LinkScanner {
    private readonly host;
    private last;
    private readonly tags;
    private brackets;
    private depth;
    private isAngle;
    private isAtLine;
    private isAtStart;
    private isAtValue;
    private isBlank;
    private isDefinition;
    private isEscape;
    private isInRun;
    private isLabel;
    private isLabelled;
    private isNote;
    private isQuoted;
    private kept;
    private runAt;
    private isPrefix;
    private isRaw;
    private isValue;
    /** Whether a link, an image, a tag or brackets go on. The name of a tag is none of these. */
    get isInside(): boolean;
    /** The sign that ends the target or the value that begins here; nothing where an address would be sent to another. */
    get ownEnd(): string;
    /** Whether a word that comes next would be the name of a tag: a style sheet may load something for it. */
    get isAtTag(): boolean;
    private get isClosing();
    private get isOutsideOfQuotes();
    feed(text: string): void;
    private step;
    private beginRun;
    private keep;
    /** Count the brackets that are open; none is behind a blank line. An escaped one counts inside of others. */
    private bracket;
    /** Follow a label at the beginning of a line, which may begin a definition, or a footnote. */
    private label;
    /** Follow the target of a definition, `[label]: target`, to the end of its line: some programs read blanks in it. */
    private define;
    /** Follow the target of a link or an image, `](target)`. */
    private target;
    /** Follow all tags that may be open here, since browsers and Markdown read different ones. */
    private tag;
}
