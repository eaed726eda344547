const KEPT = 80;
const SCHEME = /(?:[/\\]{2}|https?:|www\.)$/i;
// One of . / : ? # and the backslash.
const ENTITY =
  /&(?:#0{0,8}(?:35|46|47|58|63|92)|#x0{0,8}(?:23|2e|2f|3a|3f|5c)|num|period|sol|colon|quest|bsol);$/i;
const IPV6 = /\[[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(?:%[0-9A-Za-z._~-]{1,16})?\]$/;
const TAG = /<[A-Za-z/!?]$/;
const RAW = /<(\/?)(?:style|script)$/i;

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
  private depth = 0;
  private opened = ""; // a quote that stands open before a run
  private quote = ""; // of an attribute
  private isAngle = false;
  private isDefinition = false;
  private isDefined = false;
  private isEscape = false;
  private isInTag = false;
  private isInRun = false;
  private isRaw = false;
  private outer = false; // whether a run goes on behind the target or tag

  /** Whether a link, an image or a tag goes on. The name of a closing tag is none of these. */
  get isInside(): boolean {
    const inTag = this.isInTag && !this.last.endsWith("</");
    return inTag || this.isInRun || this.isAngle || this.isRaw || this.depth > 0 || this.host.isAtPort;
  }

  feed(text: string): void {
    for (const sign of text) this.step(sign);
  }

  private step(sign: string): void {
    const [before, isEscaped, wasAtStart] = [this.last, this.isEscape, this.isAtStart];
    this.isEscape = sign === "\\" && !isEscaped;
    this.last = (before + sign).slice(-KEPT);
    this.isAtStart = false;
    this.endRun(sign);
    this.define(sign);
    if (this.isAngle) this.isAngle = sign !== "\r" && sign !== "\n" && (sign !== ">" || isEscaped);
    else if (this.depth) this.target(sign, wasAtStart, isEscaped);
    else if (sign === "(" && before.endsWith("]")) {
      [this.depth, this.outer, this.isAtStart] = [1, this.isInRun, true];
    }
    this.tag(sign, before);
    const isBegun = "/\\:.;".includes(sign) && (SCHEME.test(this.last) || ENTITY.test(this.last));
    if (this.host.ends(sign, this.last) || isBegun) this.isInRun = true;
  }

  /** End a run at a blank, or at the quote that it stands in. */
  private endRun(sign: string): void {
    if (isBlank(sign)) {
      this.isInRun = this.outer = this.isDefined = false;
      this.opened = "";
    } else if (this.isDefined) return;
    else if ("\"'`".includes(sign)) {
      if (sign === this.opened) [this.isInRun, this.opened] = [false, ""];
      else if (!this.isInRun) this.opened = sign;
    } else if (sign === "<") this.isInRun = false;
  }

  /** Follow the target of a definition, `[label]: target`. */
  private define(sign: string): void {
    if (this.last.endsWith("]:")) this.isDefinition = true;
    else if (this.isDefinition && !isBlank(sign)) {
      this.isDefinition = false;
      this.isAngle = this.isAtStart = sign === "<";
      this.isDefined = !this.isAngle;
    }
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

  /** Follow a tag; what is quoted behind `=` does not end it. */
  private tag(sign: string, before: string): void {
    this.isAtValue = false;
    if (!this.isInTag) {
      if (before.endsWith("<") && TAG.test(this.last)) {
        [this.isInTag, this.quote] = [true, ""];
        this.outer ||= this.isInRun && this.isDefined;
      }
    } else if (this.quote) {
      if (sign === this.quote) this.quote = "";
    } else if ((sign === '"' || sign === "'") && /=[ \t\r\n]*$/.test(before)) {
      [this.quote, this.isAtValue] = [sign, true];
    } else if (sign === ">") [this.isInTag, this.isInRun] = [false, this.outer];
    else this.isAtValue = sign === "=";
    const raw = RAW.exec(this.last);
    if (raw) this.isRaw = !raw[1];
  }
}
