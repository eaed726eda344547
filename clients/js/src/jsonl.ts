import { MondegreenError } from "./errors.js";

/** A text of a record, or null, and where its value stands in the line. */
export interface Value {
  readonly start: number;
  readonly end: number;
  readonly text: string | null;
}

/** What one line of JSON Lines holds: its id, and its texts in order. */
export interface Found {
  readonly id: string | null;
  readonly values: readonly Value[];
}

const DEEPEST = 500;
const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;
const SCALAR = /true|false|null|NaN|-?Infinity|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
const STRING = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SPACE = /[ \t\n\r]*/y;
const LONE = /\p{Cs}/u;

/** Whether a line holds white space alone, as Python sees it. */
export function isBlank(line: string): boolean {
    return /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/.test(line);
}

/**
 * Find the texts at one key of the object in a line, and the id at another.
 *
 * A text is a string, null, or each of a list of these. Whatever else is in the line is
 * checked to be JSON, as Python's parser does it, and left as it is.
 */
export function scan(line: string, column: string, idKey: string | null): Found {
  return new Scanner(line, column, idKey).scan();
}

class Scanner {
  private at = 0;
  private readonly values: Value[] = [];
  private readonly ids: string[] = [];
  private hasColumn = false;

  constructor(
    private readonly line: string,
    private readonly column: string,
    private readonly idKey: string | null,
  ) {}

  scan(): Found {
    this.space();
    if (this.line[this.at] !== "{") throw bad("not a valid JSON object");
    this.object(0, (key) => this.field(key));
    this.space();
    if (this.at !== this.line.length) throw bad("not a valid JSON object");
    if (!this.hasColumn) throw bad("it lacks the column of texts");
    if (this.idKey !== null && this.ids.length !== 1) throw bad("it needs one id, and has not");
    return { id: this.ids[0] ?? null, values: this.values };
  }

  private field(key: string): void {
    if (key === this.column) {
      this.hasColumn = true;
      this.texts(1);
    } else if (key === this.idKey) {
      this.ids.push(this.id());
    } else {
      this.value(1);
    }
  }

  private texts(depth: number): void {
    const start = this.at;
    const mark = this.line[start];
    if (mark === "[") {
      this.list(depth, () => this.texts(depth + 1));
      return;
    }
    if (mark !== '"' && mark !== "n") {
      throw bad("its text is neither a string nor null nor a list of these");
    }
    const raw = this.value(depth);
    const text: string | null = mark === "n" ? null : JSON.parse(raw);
    if (text !== null && LONE.test(text)) throw bad("half of a surrogate pair in a text");
    this.values.push({ start, end: this.at, text });
  }

  private id(): string {
    const raw = this.value(1);
    const id: string = raw.startsWith('"') ? JSON.parse(raw) : INTEGER.test(raw) ? raw : "";
    if (!id || LONE.test(id)) throw bad("its id is neither a string nor an integer, or empty");
    return id;
  }

  /** Go past a value, and return its text. */
  private value(depth: number): string {
    const start = this.at;
    const mark = this.line[start];
    if (mark === "{") this.object(depth, () => this.value(depth + 1));
    else if (mark === "[") this.list(depth, () => this.value(depth + 1));
    else this.match(mark === '"' ? STRING : SCALAR);
    return this.line.slice(start, this.at);
  }

  private object(depth: number, field: (key: string) => void): void {
    this.items(depth, "}", () => {
      const key: string = JSON.parse(this.match(STRING));
      this.space();
      if (this.line[this.at++] !== ":") throw bad("not a valid JSON object");
      this.space();
      field(key);
    });
  }

  private list(depth: number, item: () => void): void {
    this.items(depth, "]", item);
  }

  private items(depth: number, end: string, item: () => void): void {
    if (depth > DEEPEST) throw bad("nested too deeply");
    this.at++;
    this.space();
    if (this.line[this.at] === end) {
      this.at++;
      return;
    }
    for (;;) {
      item();
      this.space();
      const mark = this.line[this.at++];
      if (mark === end) return;
      if (mark !== ",") throw bad("not a valid JSON object");
      this.space();
    }
  }

  private space(): void {
    this.match(SPACE);
  }

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.line);
    if (!found) throw bad("not a valid JSON object");
    this.at = pattern.lastIndex;
    return found[0];
  }
}

function bad(problem: string): MondegreenError {
  return new MondegreenError("data", problem);
}
