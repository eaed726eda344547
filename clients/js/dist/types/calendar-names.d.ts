/** Monday to Sunday, January to December: `benchmarks calendar_names`. */
export declare const NAMES: Readonly<Record<string, readonly string[]>>;
