const KEPT = 80;
const SCHEME = /(?:[/\\]{2}|http[sſ]?\\?:|www\\?\.)$/i;
// One of . / : ? # and the backslash.
const ENTITY =
  /&(?:#0*(?:35|4[67]|58|63|92)|#x0*(?:2[3ef]|3[af]|5c)|num|period|sol|colon|quest|bsol);$/i;
const IPV6 = /\[[\da-f.]*:[\da-f.]*:[\da-f:.]*(?:%[\w.~-]+)?\]$/i;
const TAG = /<[A-Za-z/!?]$/;
const RAW = /<(\/?)(style|script)$/i;

// Elements that send their content, load something, or are as wide as their content.
const HOLDERS = new Set(
  (
    "applet audio base button canvas caption col colgroup datalist details dialog embed fencedframe fieldset form " +
    "frame frameset iframe image img input isindex legend link marquee math menu menuitem meta meter noembed " +
    "noframes noscript object optgroup option output picture plaintext portal progress select slot source summary " +
    "svg table tbody td template textarea tfoot th thead tr track video xmp"
  ).split(" "),
);

// Signs of a quotation or a list, which may stand before a definition, as blanks may.
const MARKER = /[\s\x85>*+\d.):-]/;

const OPENS = /\][\s\x85]?$/; // before the ( of a target
const WIDE = /[\s\x85]/; // what some programs take for a blank

// How long surrogates are kept, whatever comes.
const TO_LINE = 1;
const TO_BLANK_LINE = 2;
const TO_END = 3;

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
    } else if (/[-\w\u0080-\u{10ffff}]/u.test(sign)) this.read(sign, last);
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
    const isDigit = /\d/.test(sign);
    this.isPort = this.hasPort = this.isPort && isDigit;
    this.length++;
    this.isName ||= !isDigit;
    this.isSingle ||= !isDigit;
    const isName = this.points > 0 && this.length > 1 && this.isName;
    this.isHost ||= isName || this.points > 2 || /localho[sſ]t$/i.test(last);
  }
}

/** Tells whether an answer is inside a link, image or tag: `LinkScanner` of Python. */
export class LinkScanner {
  private readonly readings = [new Reading(), new Reading()]; // as it is written; with the escapes of JSON undone
  private before = ""; // the last sign of the line that is no blank
  private escape = ""; // as much of one as has come
  private isJson = false; // whether a string of JSON may have begun

  /** Whether a link, an image, a tag or brackets go on. The name of a tag is none of these. */
  get isInside(): boolean {
    return this.readings.some((reading) => reading.isInside);
  }

  /** The sign that ends the target that begins here; nothing where an address may be sent to another one. */
  get ownEnd(): string {
    const [end, other] = this.readings.map((reading) => reading.ownEnd);
    return end === other ? end! : "";
  }

  /** Whether a word that comes next would be the name of a tag: a style sheet may load something for it. */
  get isAtTag(): boolean {
    return this.readings.some((reading) => reading.isAtTag);
  }

  /** Whether a letter that comes next would be a part of an escape of JSON. */
  get isInEscape(): boolean {
    return this.escape === "\\";
  }

  feed(text: string): void {
    for (const sign of text) {
      const isQuote = sign === '"' && !this.escape;
      this.readings[0]!.step(sign);
      for (const undone of this.undo(sign)) this.readings[1]!.step(undone);
      if (isQuote) this.isJson = true;
      if (isQuote && /^[{[,:(>|`*+\ufeff-]?$/.test(this.before)) this.readings[1]!.isPrefix = true;
      if (sign === "\n") this.before = "";
      else if (!isBlank(sign)) this.before = sign;
    }
  }

  /** What a sign adds to the text without escapes: nothing if one goes on. */
  private undo(sign: string): string {
    if (!this.isJson || (!this.escape && sign !== "\\")) return sign;
    const escape = this.escape + sign;
    this.escape = /^\\(?:u[\da-f]{0,3})?$/i.test(escape) ? escape : "";
    if (this.escape) return "";
    try {
      return JSON.parse(`"${escape}"`);
    } catch {
      return escape;
    }
  }
}

/** Reads an answer by one way of writing. */
class Reading {
  private readonly host = new HostScanner();
  private last = "";
  private readonly tags = new Set<string>(); // that may be open: "" outside of quotes, or the quote inside of them
  private brackets = 0; // that are open
  private depth = 0;
  private isAngle = false;
  private isAtLine = false; // whether a definition begins its line
  private isAtStart = false; // whether a target in Markdown begins here
  private isBlank = false; // whether the line has nothing but blanks yet
  private isDefinition = false;
  private isEscape = false;
  private isInRun = false;
  private isLabel = false;
  private isLabelled = false; // whether the label of a line ends here
  private isNote = false; // whether the last label is that of a footnote
  private isQuoted = false; // whether the paragraph may be a quotation
  private kept = 0; // how long all keeps its surrogates
  private runAt = 0; // how many brackets were open where the run began
  isPrefix = true; // whether nothing but markers stands before in the line
  private readonly raw = new Set<string>(); // elements without tags in them that may be open
  private isValue = false; // whether the value of an attribute may begin

  get isInside(): boolean {
    const isTarget = this.isAtLine && this.isDefinition;
    const isTag = this.tags.size > 0 && !this.isClosing;
    const isOpen = this.depth + this.brackets + this.kept > 0;
    return isTag || isTarget || isOpen || this.isInRun || this.isAngle || this.raw.size > 0 || this.host.isAtPort;
  }

  get ownEnd(): string {
    const isSent = this.isInRun && this.runAt <= this.brackets;
    if (isSent || this.brackets || this.raw.size || this.kept > (this.isAtStart && !this.depth ? 1 : 0)) return "";
    return !this.isAtStart || this.tags.size ? "" : this.isAngle ? ">" : this.depth ? ")" : "\n";
  }

  get isAtTag(): boolean {
    return this.last.endsWith("<") || this.isClosing;
  }

  private get isClosing(): boolean {
    return this.isOutsideOfQuotes && this.last.endsWith("</");
  }

  private get isOutsideOfQuotes(): boolean {
    return this.tags.size === 1 && this.tags.has("");
  }

  step(sign: string): void {
    const [before, isEscaped, wasAtStart, wasLabelled] = [this.last, this.isEscape, this.isAtStart, this.isLabelled];
    const wasAngle = this.isAngle;
    this.isEscape = sign === "\\" && !isEscaped;
    this.last = (before + sign).slice(-KEPT);
    this.isAtStart = false;
    if (/[\0-\x08\x0e-\x1f]/.test(sign)) this.kept = TO_END; // some programs remove it
    // No other sign ends a run, nor does a target or tag: they may be none, and an address goes on.
    if (isBlank(sign) && !(isEscaped && /[\r\n]/.test(sign))) this.isInRun = false;
    this.bracket(sign, isEscaped);
    this.label(sign, isEscaped);
    this.define(sign, wasLabelled);
    if (/[)\]]\{$|\{:$/.test(this.last)) this.keep(TO_LINE); // attributes
    if (wasAngle) {
      if ("(<`".includes(sign)) this.keep(TO_BLANK_LINE); // some programs read it to its end, and others do not
      this.isAngle = sign !== ">" || isEscaped;
    } else if (this.depth && !this.isAngle) this.target(sign, before, wasAtStart, isEscaped);
    else if (sign === "(" && OPENS.test(before)) {
      [this.depth, this.isAtStart] = [1, true];
    }
    this.tag(sign);
    if (this.host.ends(sign, this.last) || SCHEME.test(this.last) || ENTITY.test(this.last)) this.beginRun();
  }

  private beginRun(): void {
    if (!this.isInRun) [this.isInRun, this.runAt] = [true, this.brackets];
    if (this.isNote) this.keep(TO_LINE);
  }

  private keep(kept: number): void {
    if (this.kept < kept) this.kept = kept;
  }

  /** Count the brackets that are open; none is behind a blank line. An escaped one counts inside of others. */
  private bracket(sign: string, isEscaped: boolean): void {
    if (sign === "[" && (!isEscaped || this.brackets || this.depth)) this.brackets++;
    if (sign === "]" && !isEscaped && this.brackets) this.brackets--;
    if (sign === "\n") {
      if (this.kept <= (this.isBlank ? TO_BLANK_LINE : TO_LINE) && !isEscaped) this.kept = 0; // some programs read on
      if (this.isBlank) {
        this.brackets = 0;
        this.isLabel = this.isNote = this.isQuoted = false;
      }
      this.isBlank = true;
    } else if (!isBlank(sign)) this.isBlank = false;
  }

  /** Follow a label at the beginning of a line, which may begin a definition, or a footnote. */
  private label(sign: string, isEscaped: boolean): void {
    this.isLabelled = this.isLabel && sign === "]" && !isEscaped;
    this.isLabel &&= !this.isLabelled;
    if (/[\r\n]/.test(sign)) this.isPrefix = true;
    else if (this.isPrefix && !MARKER.test(sign)) {
      this.isPrefix = /\b[A-Za-z]$/.test(this.last); // one letter may be the marker of a list
      if (sign === "[" && !this.isLabel) [this.isLabel, this.isNote] = [true, false];
    } else if (this.isLabel && this.last.endsWith("[^")) this.isNote = true;
    if (this.isLabelled && /\[[ xX]\]$/.test(this.last)) this.isPrefix = true; // behind the box of a task
  }

  /** Follow the target of a definition, `[label]: target`, to the end of its line: some programs read blanks in it. */
  private define(sign: string, isLabelled: boolean): void {
    if (this.last.endsWith("]:")) {
      this.isDefinition = true;
      this.isAtLine = this.isPrefix = isLabelled; // a footnote may hold another definition
    } else if (this.isDefinition && !isBlank(sign)) {
      if (sign === ">" && this.isPrefix) return; // of a quotation, whose next line has the target
      this.isDefinition = false;
      this.isAngle = sign === "<";
      this.isAtStart = this.isAngle && this.isAtLine && !this.depth;
      if (this.isAtLine && this.isNote) this.isInRun ||= !this.isAngle;
      else if (this.isAtLine) this.keep(WIDE.test(sign) ? TO_BLANK_LINE : TO_LINE);
    }
    this.isAtStart ||= this.isDefinition && this.isAtLine && !this.depth;
  }

  /** Follow the target of a link or an image, `](target)`. */
  private target(sign: string, before: string, isStart: boolean, isEscaped: boolean): void {
    if (isStart && (sign === "<" || isBlank(sign))) [this.isAngle, this.isAtStart] = [sign === "<", true];
    else {
      const isUnsure = sign === "(" && (isEscaped || OPENS.test(before));
      if ((isStart && WIDE.test(sign)) || sign === "`" || isUnsure) this.keep(TO_BLANK_LINE);
      if (isEscaped) return;
      this.depth += Number(sign === "(") - Number(sign === ")");
    }
  }

  /** Follow all tags that may be open here, since browsers and Markdown read different ones. */
  private tag(sign: string): void {
    const [wasValue, isQuote] = [this.isValue, /["']/.test(sign)];
    const isMarker = sign === ">" && this.isPrefix; // of a quotation
    this.isValue = sign === "=" || (wasValue && (isBlank(sign) || sign === "\f"));
    if (isQuote && this.tags.size) {
      const opens = wasValue && this.tags.has("");
      if (this.tags.delete(sign)) this.tags.add("");
      if (opens) this.tags.add(sign);
    } else if (sign === ">" && this.tags.has("") && !(isMarker && this.isQuoted)) {
      this.tags.delete("");
    } else if (TAG.test(this.last)) {
      this.tags.add("");
    }
    this.isQuoted ||= isMarker;
    if (this.raw.size && this.last.endsWith("<!--")) this.kept = TO_END; // a script may go on behind its closing tag
    if (HOLDERS.has(/<([a-z]+)[\s/>]$/i.exec(this.last)?.[1]!.toLowerCase() ?? "")) this.kept = TO_END;
    const raw = RAW.exec(this.last);
    if (raw) this.raw[raw[1] ? "delete" : "add"](raw[2]!.toLowerCase());
  }
}
