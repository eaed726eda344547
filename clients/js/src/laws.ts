import type { Artifact, Setting } from "./artifact.js";
import { Brr } from "./brr.js";
import { artifactError } from "./errors.js";
import type { Law } from "./law.js";
import { Response } from "./response.js";
import { Tree } from "./tree.js";

/** The law of a setting, which loses no more than the setting claims. */
export function lawOf(artifact: Artifact, setting: Setting): Law {
  const { header } = artifact;
  const { mechanism } = header;
  if (mechanism === "tree") return new Tree(artifact, setting);
  if (mechanism === "brr") return new Brr(artifact, setting);
  if (header.policy) return new Response(artifact, setting);
  throw artifactError("its mechanism is none that this client knows");
}
