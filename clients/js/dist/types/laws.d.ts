import type { Artifact, Setting } from "./artifact.js";
import type { Law } from "./law.js";
/** The law of a setting, which loses no more than the setting claims. */
export declare function lawOf(artifact: Artifact, setting: Setting): Law;
