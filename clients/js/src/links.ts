const KEPT = 32;
const SCHEME = /(?:[/\\]{2}|https?:|www\.)$/i;
const HOST = /[A-Za-z0-9]\.[A-Za-z]{2,24}[/?#]$/;
const TAG = /<[A-Za-z/!?]$/;
const RAW = /<(\/?)(?:style|script)$/i;

const isBlank = (sign: string): boolean => " \t\r\n".includes(sign);

/** Tells whether an answer is inside a link, image or tag: `LinkScanner` of Python. */
export class LinkScanner {
  /** Whether a target in Markdown begins here. */
  isAtStart = false;
  /** Whether the value of an attribute begins here. */
  isAtValue = false;
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
    return inTag || this.isInRun || this.isAngle || this.isRaw || this.depth > 0;
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
    if ("/\\:.?#".includes(sign) && (SCHEME.test(this.last) || HOST.test(this.last))) this.isInRun = true;
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
