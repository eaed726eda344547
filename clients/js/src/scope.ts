import { MondegreenError } from "./errors.js";
import type { Output, Policy } from "./policy.js";
import { type Stream, remainder } from "./stream.js";

/** Draws a symbol for each symbol. */
export type Sample = (symbols: readonly number[]) => number[];

/** Draw a member of each symbol: all inputs share this law, whatever bias it has. */
export function drawMembers(policy: Policy, symbols: readonly number[], stream: Stream): Output[] {
  return symbols.map((symbol) => {
    stream.step62();
    return { symbol, member: remainder(stream.high, stream.low, policy.sizeOf(symbol)), lap: 0 };
  });
}

/** Every place is an entity of its own: nothing tells which words are equal. */
export function drawPlaces(
  policy: Policy,
  symbols: readonly number[],
  sample: Sample,
  stream: Stream,
): Output[] {
  return drawMembers(policy, sample(symbols), stream);
}

/**
 * A sensitive word has one output throughout a text, and no other of its group has.
 *
 * `keys` are the words in canonical form: equal ones of one symbol are one entity.
 */
export function drawRecord(
  policy: Policy,
  symbols: readonly number[],
  keys: readonly string[],
  sample: Sample,
  stream: Stream,
): Output[] {
  const seen = new Map<string, number>();
  const first: number[] = []; // the symbol of each entity
  const entities = symbols.map((symbol, i) => {
    const key = `${symbol} ${keys[i]}`;
    const known = policy.isGroup(symbol) ? seen.get(key) : undefined;
    if (known !== undefined) return known;
    if (policy.isGroup(symbol)) seen.set(key, first.length);
    return first.push(symbol) - 1;
  });
  const found = drawMembers(policy, sample(first), stream);
  const takers = found.flatMap(({ symbol }, k) => (policy.isGroup(symbol) ? [k] : []));
  const drawn = new Set(takers.map((k) => `${found[k]!.symbol} ${found[k]!.member}`));
  if (drawn.size < takers.length) {
    const members = new Members(policy);
    for (const k of takers) found[k] = members.take(found[k]!, stream);
  }
  return entities.map((entity) => found[entity]!);
}

const LARGEST = (1n << 63n) - 1n;

/** Gives away the members of groups, each once in a lap; `isBarred` tells what nobody may get. */
export class Members {
  private readonly laps = new Map<number, { lap: number; taken: Set<number> }>();
  private firsts: bigint[] | undefined;

  constructor(
    private readonly policy: Policy,
    private readonly isBarred: (output: Output) => boolean = () => false,
  ) {}

  /** Give away an output if it is free, else a free one that the stream draws. */
  take({ symbol, member: drawn }: Output, stream: Stream): Output {
    const { policy } = this;
    const size = policy.sizeOf(symbol);
    let { lap, taken } = this.laps.get(symbol) ?? { lap: 0, taken: new Set<number>() };
    let member = drawn;
    for (;;) {
      if (taken.size === size) {
        lap++;
        taken = new Set();
        this.laps.set(symbol, { lap, taken });
      }
      if (lap > 500 && this.isBeyond({ symbol, member, lap })) {
        throw new MondegreenError(
          "data",
          "a text has too many different words of one group; nothing was released",
        );
      }
      if (!taken.has(member)) {
        // A barred member stays taken, so that a lap always comes to its end.
        this.laps.set(symbol, { lap, taken: taken.add(member) });
        if (!this.isBarred({ symbol, member, lap })) return { symbol, member, lap };
      }
      member = drawMembers(policy, [symbol], stream)[0]!.member;
    }
  }

  /** Whether the number of an output exceeds 63 bits, as Python counts them. */
  private isBeyond({ symbol, member, lap }: Output): boolean {
    const firsts = (this.firsts ??= this.sumSizes());
    return firsts[symbol]! + BigInt(member) + BigInt(lap) * firsts.at(-1)! > LARGEST;
  }

  /** The first output of each symbol, and behind them the number of all outputs. */
  private sumSizes(): bigint[] {
    const firsts = [0n];
    for (let each = 0; each < this.policy.size; each++) {
      firsts.push(firsts[each]! + BigInt(this.policy.sizeOf(each)));
    }
    return firsts;
  }
}
