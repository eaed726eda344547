/** Tells whether an answer is inside a link, image or tag: `LinkScanner` of Python. */
export class LinkScanner {
  private last = "";
  private depth = 0;
  private isInTag = false;
  private isInRun = false;

  get isInside(): boolean {
    return this.isInTag || this.isInRun || this.depth > 0;
  }

  feed(text: string): void {
    for (const sign of text) {
      this.last = (this.last + sign).slice(-6);
      if (/[ \t\r\n"'<>`]/.test(sign)) this.isInRun = false;
      if (this.depth) {
        this.depth += Number(sign === "(") - Number(sign === ")");
        if (!this.depth) this.isInRun = false;
      } else if (this.last.endsWith("](")) this.depth = 1;
      if (this.isInTag) this.isInTag = sign !== ">";
      else if (/<[A-Za-z/!?]$/.test(this.last)) this.isInTag = true;
      if (/(?:[/\\]{2}|https?:|www\.)$/i.test(this.last)) this.isInRun = true;
    }
  }
}
