import { utf8 } from "./bytes.js";
import { streamOf } from "./noise.js";
import type { Output, Policy } from "./policy.js";
import { Members, drawMembers } from "./scope.js";
import type { Stream } from "./stream.js";
import type { Tokenizer } from "./text.js";

/** A surrogate that was given out, and the word that it stands for in its first spelling. */
export interface Given {
  readonly original: string;
  readonly output: Output;
}

/**
 * One surrogate for each sensitive word of one conversation, and the way back.
 *
 * The law is that of `Surrogates` of `mondegreen.policy.scope`, for a word's own group.
 */
export class Surrogates {
  private readonly outputs = new Map<string, Output>();
  private readonly originals = new Map<string, Given>();
  private readonly members: Members;
  private readonly public: ReadonlySet<string>;

  constructor(
    private readonly policy: Policy,
    private readonly tokenizer: Tokenizer,
    private readonly digest: string,
    private readonly key: Uint8Array,
    barred: readonly string[],
  ) {
    this.public = new Set(barred.map((word) => tokenizer.canonical(word)));
    this.members = new Members(policy, (output) => this.isBarred(output));
  }

  /** The surrogate of a sensitive word. */
  hide(word: string, symbol: number): Output {
    const folded = this.tokenizer.canonical(word);
    const entity = `${symbol} ${folded}`;
    const known = this.outputs.get(entity);
    if (known) return known;
    const stream = streamOf(this.key, utf8(this.digest), String(symbol), 0, folded);
    const output = this.members.take(this.draw(symbol, stream), stream);
    this.outputs.set(entity, output);
    this.originals.set(this.form(output), { original: word, output });
    return output;
  }

  find(word: string): Given | undefined {
    return this.originals.get(this.tokenizer.canonical(word));
  }

  /** Whether a word was declared public, in whatever case. */
  isPublic(word: string): boolean {
    return this.public.has(this.tokenizer.canonical(word));
  }

  private draw(symbol: number, stream: Stream): Output {
    return drawMembers(this.policy, [symbol], stream)[0]!;
  }

  private form(output: Output): string {
    return this.tokenizer.canonical(this.policy.print(output));
  }

  /** Whether a form is public, an ordinary word's, or given away already. */
  private isBarred(output: Output): boolean {
    const form = this.form(output);
    const isOrdinary = (this.policy.symbols.get(form) ?? Infinity) < this.policy.ordinary;
    return isOrdinary || this.public.has(form) || this.originals.has(form);
  }
}
