import type { Privatizer } from "../src/privatizer.js";

/**
 * Draws of a text that is being typed: a word that did not change keeps its draw.
 *
 * They are shown to the person who types, and to nobody else: whoever saw two of them
 * would know for sure which words were changed, which no epsilon allows.
 */
export class Preview {
  private inputs: readonly number[] = [];
  private words: readonly string[] = [];

  constructor(private readonly privatizer: Privatizer) {}

  drawn(parts: readonly string[]): string[] {
    const inputs = this.privatizer.inputs(parts);
    const most = Math.min(inputs.length, this.inputs.length);
    let before = 0;
    while (before < most && inputs[before] === this.inputs[before]) before++;
    let after = 0;
    while (after < most - before && inputs.at(-1 - after) === this.inputs.at(-1 - after)) after++;
    const end = inputs.length - after;
    const middle = this.privatizer.drawn(inputs.slice(before, end));
    const kept = this.words.length - after;
    this.words = [...this.words.slice(0, before), ...middle, ...this.words.slice(kept)];
    this.inputs = inputs;
    return [...this.words];
  }
}
