import type { Privatizer } from "../src/privatizer.js";

/**
 * Draws of a text that is being typed: a word that did not change keeps its draw.
 *
 * They are shown to the person who types, and to nobody else: whoever saw two of them
 * would know for sure which words were changed, which no epsilon allows.
 */
export class Preview {
  private inputs: readonly number[] = [];
  private outputs: readonly unknown[] = [];

  constructor(private readonly privatizer: Privatizer) {}

  /** What is printed for each word of a text that was cut. */
  drawn(parts: readonly string[]): unknown[] {
    const inputs = this.privatizer.inputs(parts);
    const most = Math.min(inputs.length, this.inputs.length);
    let before = 0;
    while (before < most && inputs[before] === this.inputs[before]) before++;
    let after = 0;
    while (after < most - before && inputs.at(-1 - after) === this.inputs.at(-1 - after)) after++;
    const end = inputs.length - after;
    const middle = this.privatizer.drawn(parts, inputs.slice(before, end), undefined, before);
    const kept = this.outputs.length - after;
    this.outputs = [...this.outputs.slice(0, before), ...middle, ...this.outputs.slice(kept)];
    this.inputs = inputs;
    return [...this.outputs];
  }
}
