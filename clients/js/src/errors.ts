/** What went wrong: of the artifact, of an argument, or of the data. It never holds text. */
export type Kind = "artifact" | "argument" | "data";

/** Every error of this module. Nothing is released where one is thrown. */
export class MondegreenError extends Error {
  override readonly name = "MondegreenError";

  constructor(
    readonly kind: Kind,
    message: string,
  ) {
    super(message);
  }
}

export function artifactError(problem: string): MondegreenError {
  return new MondegreenError("artifact", `not an artifact to use: ${problem}`);
}

export function argumentError(name: string, allowed: string): MondegreenError {
  return new MondegreenError("argument", `${name} must be ${allowed}`);
}
