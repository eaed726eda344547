const KEPT = 80;
const SCHEME = /(?:[/\\]{2}|https?:|www\.)$/i;
// One of . / : ? # and the backslash.
const ENTITY =
  /&(?:#0{0,8}(?:35|46|47|58|63|92)|#x0{0,8}(?:23|2e|2f|3a|3f|5c)|num|period|sol|colon|quest|bsol);$/i;
const IPV6 = /\[[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(?:%[0-9A-Za-z._~-]{1,16})?\]$/;
const TAG = /<[A-Za-z/!?]$/;
const RAW = /<(\/?)(?:style|script)$/i;

// Signs of a quotation or a list, which may stand before a definition.
const MARKERS = " \t>*+-0123456789.)";

const isBlank = (sign: string): boolean => " \t\r\n".includes(sign);

/** Follows a host without a scheme, up to the sign behind it: `_HostScanner` of Python. */
class HostScanner {
  private isHost = false;
  private isName = false; // whether a label is more than a number
  private isPort = false;
  private hasPort = false;
  private isSingle = false; // whether any label is more than a number
  private length = 0;
  private points = 0;

  /** Whether what comes next may be the port of a host. */
  get isAtPort(): boolean {
    return this.isHost && this.isPort;
  }

  /** Read a sign, which `last` ends with; tell whether a host ends here. */
  ends(sign: string, last: string): boolean {
    const isEnd = "/\\?#".includes(sign) && (this.isHost || this.hasPort);
    if (sign === ":") this.forget(this.isHost, this.isHost || this.isSingle);
    else if (".。．｡".includes(sign)) {
      this.points += Number(this.length > 0);
      this.length = 0;
      this.isName = this.isPort = this.hasPort = false;
    } else if (/[-_0-9A-Za-z\u0080-\u{10ffff}]/u.test(sign)) this.read(sign, last);
    else if (sign !== "\\") this.forget(sign === "]" && IPV6.test(last), false); // it may escape the next sign
    return isEnd;
  }

  private forget(isHost: boolean, isPort: boolean): void {
    this.isHost = isHost;
    this.isPort = isPort;
    this.hasPort = this.isName = this.isSingle = false;
    this.length = this.points = 0;
  }

  /** Read on in a label or a port. */
  private read(sign: string, last: string): void {
    const isDigit = /[0-9]/.test(sign);
    this.isPort = this.hasPort = this.isPort && isDigit;
    this.length++;
    this.isName ||= !isDigit;
    this.isSingle ||= !isDigit;
    this.isHost ||= (this.points > 0 && this.length > 1 && this.isName) || this.points > 2 || /localhost$/i.test(last);
  }
}

/** Tells whether an answer is inside a link, image or tag: `LinkScanner` of Python. */
export class LinkScanner {
  /** Whether a target in Markdown begins here. */
  isAtStart = false;
  /** Whether the value of an attribute begins here. */
  isAtValue = false;
  private readonly host = new HostScanner();
  private last = "";
  private tags = new Set<string>(); // that may be open: "" outside of quotes, or the quote inside of them
  private brackets = 0; // that are open
  private depth = 0;
  private isAngle = false;
  private isAtLine = false; // whether a definition begins its line
  private isBlank = false; // whether the line has nothing but blanks yet
  private isComment = false; // in a script
  private isDefinition = false;
  private isDefined = false;
  private isEscape = false;
  private isInRun = false;
  private isLabel = false;
  private isLabelled = false; // whether the label of a line ends here
  private isPrefix = true; // whether nothing but markers stands before in the line
  private isRaw = false;
  private isValue = false; // whether the value of an attribute may begin
  private outer = false; // whether a run goes on behind the target or tag

  /** Whether a link, an image, a tag or brackets go on. The name of a tag is none of these. */
  get isInside(): boolean {
    const isTarget = this.isAtLine && (this.isDefinition || this.isDefined);
    return (
      (this.tags.size > 0 && !this.isClosing) || isTarget || this.isInRun || this.isAngle || this.isRaw || this.depth > 0 ||
      this.isInBrackets || this.host.isAtPort
    );
  }

  /** Whether what comes next may be a label: definitions, also later ones, say what is loaded for each. */
  get isInBrackets(): boolean {
    return this.brackets > 0;
  }

  /** Whether a word that comes next would be the name of a tag: a style sheet may load something for it. */
  get isAtTag(): boolean {
    return this.last.endsWith("<") || this.isClosing;
  }

  private get isClosing(): boolean {
    return this.isOutsideOfQuotes && this.last.endsWith("</");
  }

  private get isOutsideOfQuotes(): boolean {
    return this.tags.size === 1 && this.tags.has("");
  }

  feed(text: string): void {
    for (const sign of text) this.step(sign);
  }

  private step(sign: string): void {
    const [before, isEscaped, wasAtStart, wasLabelled] = [this.last, this.isEscape, this.isAtStart, this.isLabelled];
    this.isEscape = sign === "\\" && !isEscaped;
    this.last = (before + sign).slice(-KEPT);
    this.isAtStart = false;
    // No quote and no "<" ends a run: programs that look for addresses take them for parts.
    if (isBlank(sign)) this.isInRun = this.outer = this.isDefined = false;
    this.bracket(sign, isEscaped);
    this.label(sign, isEscaped);
    this.define(sign, wasLabelled);
    if (this.isAngle) this.isAngle = sign !== "\r" && sign !== "\n" && (sign !== ">" || isEscaped);
    else if (this.depth) this.target(sign, wasAtStart, isEscaped);
    else if (sign === "(" && before.endsWith("]")) {
      [this.depth, this.outer, this.isAtStart] = [1, this.isInRun, true];
    }
    this.tag(sign, before);
    const isBegun = "/\\:.;".includes(sign) && (SCHEME.test(this.last) || ENTITY.test(this.last));
    if (this.host.ends(sign, this.last) || isBegun) this.isInRun = true;
  }

  /** Count the brackets that are open; none is behind a blank line. */
  private bracket(sign: string, isEscaped: boolean): void {
    if (!isEscaped && sign === "[") this.brackets++;
    if (!isEscaped && sign === "]") this.brackets = Math.max(this.brackets - 1, 0);
    if (sign === "\n") {
      if (this.isBlank) [this.brackets, this.isLabel] = [0, false];
      this.isBlank = true;
    } else if (!isBlank(sign)) this.isBlank = false;
  }

  /** Follow a label at the beginning of a line, which may begin a definition, or a footnote. */
  private label(sign: string, isEscaped: boolean): void {
    this.isLabelled = this.isLabel && sign === "]" && !isEscaped;
    this.isLabel &&= !this.isLabelled;
    if (sign === "\r" || sign === "\n") this.isPrefix = true;
    else if (this.isPrefix && !MARKERS.includes(sign)) {
      this.isPrefix = false;
      this.isLabel ||= sign === "[";
    }
  }

  /** Follow the target of a definition, `[label]: target`. */
  private define(sign: string, isLabelled: boolean): void {
    if (this.last.endsWith("]:")) {
      this.isDefinition = true;
      this.isAtLine = this.isPrefix = isLabelled; // a footnote may hold another definition
    } else if (this.isDefinition && !isBlank(sign)) {
      if (sign === ">" && this.isPrefix) return; // of a quotation, whose next line has the target
      this.isDefinition = false;
      this.isAngle = this.isAtStart = sign === "<";
      this.isDefined = !this.isAngle;
    }
    if (this.isDefinition && this.isAtLine) this.isAtStart = true;
    if (this.isDefined && (sign === "&" || sign === "\\")) this.isInRun = true; // may spell a scheme
  }

  /** Follow the target of a link or an image, `](target)`. */
  private target(sign: string, isStart: boolean, isEscaped: boolean): void {
    if (isStart && (sign === "<" || isBlank(sign))) [this.isAngle, this.isAtStart] = [sign === "<", true];
    else if (!isEscaped) {
      this.depth += Number(sign === "(") - Number(sign === ")");
      if (!this.depth) this.isInRun = this.outer;
    }
  }

  /** Follow all tags that may be open here, since browsers and Markdown read different ones. */
  private tag(sign: string, before: string): void {
    const [wasValue, isAlone, isQuote] = [this.isValue, this.isOutsideOfQuotes, sign === '"' || sign === "'"];
    this.isValue = sign === "=" || (wasValue && (isBlank(sign) || sign === "\f"));
    this.isAtValue = isAlone && (isQuote ? wasValue : sign === "=");
    if (isQuote && this.tags.size) {
      const opened = wasValue && this.tags.has("") ? [sign] : [];
      this.tags = new Set([...[...this.tags].map((tag) => (tag === sign ? "" : tag)), ...opened]);
    } else if (sign === ">" && this.tags.has("")) {
      this.tags.delete("");
      if (!this.tags.size) this.isInRun = this.outer;
    } else if (before.endsWith("<") && TAG.test(this.last)) {
      if (!this.tags.size) this.outer ||= this.isInRun;
      this.tags.add("");
    }
    if (this.isRaw && this.last.endsWith("<!--")) this.isComment = true; // a script may go on behind its closing tag
    const raw = RAW.exec(this.last);
    if (raw) this.isRaw = !raw[1] || this.isComment;
  }
}
