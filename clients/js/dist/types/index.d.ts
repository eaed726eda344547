/** Words replaced where they are typed: the same law as the Python package, bit for bit. */
export type { Guarantee, Measured } from "./artifact.js";
export { MondegreenError } from "./errors.js";
export { defineInput } from "./input.js";
export type { Keyed } from "./noise.js";
export type { Protection } from "./protection.js";
export { type LoadOptions, type Privatizer, type Release, type Span, load } from "./privatizer.js";
export type { Explanation } from "./way.js";
