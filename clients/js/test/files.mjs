// The artifacts and vectors that Python wrote.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const FOLDER = new URL("../../../tests/vectors/", import.meta.url);
const unpacked = (name) => gunzipSync(readFileSync(new URL(`device/${name}.gz`, FOLDER)));

export const files = {
  tree: new Uint8Array(unpacked("tree.mdg")),
  sixteen: new Uint8Array(unpacked("sixteen.mdg")),
  bits: new Uint8Array(unpacked("bits.mdg")),
  policy: new Uint8Array(unpacked("policy.mdg")),
  names: new Uint8Array(unpacked("names.mdg")),
  vectors: JSON.parse(unpacked("vectors.json")),
  conversations: JSON.parse(unpacked("conversations.json")),
  policies: JSON.parse(unpacked("policies.json")),
  doors: JSON.parse(readFileSync(new URL("policy.json", FOLDER), "utf8")),
  keyed: JSON.parse(readFileSync(new URL("keyed.json", FOLDER), "utf8")),
};
