import assert from "node:assert/strict";
import test from "node:test";

import { million } from "./checks.mjs";
import { files } from "./files.mjs";

test("a million keyed draws are those of Python", () => {
  const found = million(files);
  assert.deepEqual(found, files.vectors.million);
  assert.ok(found.words >= 1_000_000);
});
