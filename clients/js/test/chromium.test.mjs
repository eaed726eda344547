import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

import { launch, skip } from "./chromium.mjs";
import { files } from "./files.mjs";

test("Chromium gives what Python gave, too", { skip }, async (t) => {
  const { outputFiles } = await build({
    bundle: true,
    entryPoints: [fileURLToPath(new URL("checks.mjs", import.meta.url))],
    format: "iife",
    globalName: "checks",
    write: false,
  });
  const browser = await launch();
  t.after(() => browser.close()); // also where the test fails: else Node waits for ever
  const page = await browser.newPage();
  await page.goto("about:blank");
  await page.addScriptTag({ content: outputFiles[0].text });
  const packed = { vectors: files.vectors, keyed: files.keyed, policies: files.policies, doors: files.doors };
  for (const name of ["tree", "sixteen", "bits", "policy"]) packed[name] = Buffer.from(files[name]).toString("base64");
  const bad = await page.evaluate((packed) => {
    for (const name of ["tree", "sixteen", "bits", "policy"]) {
      packed[name] = Uint8Array.from(atob(packed[name]), (char) => char.charCodeAt(0));
    }
    const names = ["tokenization", "canonical", "releases", "redraws", "shared", "policies", "doors"];
    const found = Object.fromEntries(names.map((name) => [name, checks[name](packed)]));
    packed.vectors.texts[7][1] = [1];
    return { ...found, changed: checks.tokenization(packed), fresh: checks.unkeyed(packed) };
  }, packed);
  const { fresh, changed, ...same } = bad;
  assert.deepEqual(same, { tokenization: [], canonical: [], releases: [], redraws: [], shared: [], policies: [], doors: [] });
  assert.deepEqual(changed, [7]);
  for (const { square, freedom } of fresh) {
    assert.ok(square < freedom + 6 * Math.sqrt(2 * freedom) + 12, `${square} of ${freedom}`);
  }
});
