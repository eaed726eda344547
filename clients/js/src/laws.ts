import type { Artifact, Setting } from "./artifact.js";
import { Brr } from "./brr.js";
import { artifactError } from "./errors.js";
import type { Law } from "./law.js";
import { Tree } from "./tree.js";

/** The law of a setting, which loses no more than the setting claims. */
export function lawOf(artifact: Artifact, setting: Setting): Law {
  const { mechanism } = artifact.header;
  if (mechanism === "tree") return new Tree(artifact, setting);
  if (mechanism === "brr") return new Brr(artifact, setting);
  throw artifactError("its mechanism is none that this client knows");
}
