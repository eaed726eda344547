// The examples of the README run as they stand there, and it names options that exist.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { hex } from "../dist/node.js";
import { files } from "./files.mjs";

const at = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const PAGE = at("../README.md");
const blocks = [...PAGE.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);

/** Run an example with the module that it imports; give what it names at last. */
async function run(code, module, result, beside = {}) {
  const { load } = await import(`../dist/${module}.js`);
  const body = code.replace(/^import .*$/m, "").replace("THE DIGEST", hex(files.policy.subarray(-32)));
  const fetch = async () => ({ arrayBuffer: async () => files.policy });
  const given = { load, fetch, ...beside };
  const AsyncFunction = (async () => {}).constructor;
  return new AsyncFunction(...Object.keys(given), `${body}; return ${result};`)(...Object.values(given));
}

test("the first example replaces a name, and explains", async () => {
  const privatizer = await run(blocks[0], "mondegreen", "privatizer");
  assert.notEqual(privatizer.privatize("I met Ann in Oslo.").text, "I met Ann in Oslo.");
  assert.ok(privatizer.explain("doctor").group);
  assert.equal(privatizer.protection, "weak");
});

test("the conversation restores the name", async () => {
  const { sent, shown } = await run(blocks[1], "conversation", "{ sent, shown }", { bytes: files.policy });
  assert.ok(!sent.includes("Okonkwo"));
  assert.equal(shown, "Dear Okonkwo.");
});

test("the command has the options that are named", () => {
  const section = PAGE.split("## On the command line")[1].split("## ")[0];
  const usage = at("../cli.mjs");
  const named = new Set(section.match(/--[a-z-]+/g));
  assert.ok(named.size >= 5);
  for (const option of named) assert.ok(usage.includes(`  ${option}`), option);
});
