import type { Restorer } from "./restore.js";
import type { Units } from "./units.js";
/**
 * Add units until each line of a hidden text comes back, outside of markup: `mondegreen.prompts.echoes`.
 *
 * What does not come back becomes a unit with its run, and then with more runs on both sides.
 */
export declare function learnEchoes(units: Units, parts: readonly string[], sent: readonly string[], canonical: (text: string) => string, begin: () => Restorer): void;
