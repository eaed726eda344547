import assert from "node:assert/strict";
import test from "node:test";

import * as checks from "./checks.mjs";
import { files } from "./files.mjs";

for (const name of ["tokenization", "canonical", "releases", "redraws", "shared", "policies", "doors"]) {
  test(`${name}: as Python gave it`, () => assert.deepEqual(checks[name](files), []));
}

test("a vector that differs would be found", () => {
  const vectors = structuredClone(files.vectors);
  vectors.texts[7][1] = [1];
  vectors.canonical[3] = "";
  vectors.releases[2].release += ".";
  vectors.redraws[1].words[0] = "";
  vectors.redraws[2].used++;
  const policies = structuredClone(files.policies);
  policies.variants[1].releases[7] += ".";
  const doors = structuredClone(files.doors);
  doors.releases[0].releases[3] += ".";
  const changed = { ...files, vectors, policies, doors };
  assert.deepEqual(checks.policies(changed), [[1, 7]]);
  assert.deepEqual(checks.doors(changed), [3]);
  assert.deepEqual(checks.tokenization(changed), [7]);
  assert.deepEqual(checks.canonical(changed), [3]);
  assert.deepEqual(checks.releases(changed), [2]);
  assert.deepEqual(checks.redraws(changed), [1, 2]);
});

test("fresh draws follow the law", () => {
  for (const { square, freedom, least } of checks.unkeyed(files)) {
    assert.ok(least >= 5, `a cell expects ${least} draws`);
    // Six standard deviations: one run in a hundred million fails by chance.
    assert.ok(square < freedom + 6 * Math.sqrt(2 * freedom) + 12, `${square} of ${freedom}`);
  }
});
