// The examples of the how-to run as they stand there.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";

import { transform } from "esbuild";

import { hex } from "../dist/node.js";
import { launch, skip } from "./chromium.mjs";
import { files } from "./files.mjs";

const PAGE = readFileSync(new URL("../../../docs/how-to/privatize-in-the-browser.md", import.meta.url), "utf8");
const blocks = Object.fromEntries(
  [...PAGE.matchAll(/```(html|jsx|js)\n(.*?)```/gs)].map(([, kind, code]) => [
    kind,
    code.replace("THE DIGEST", hex(files.policy.subarray(-32))),
  ]),
);
const TEXT = "The doctor met Ann in Oslo";

let browser;
before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());

async function opened(body) {
  const page = await (await browser.newContext()).newPage();
  const sent = [];
  await page.route("http://docs.test/**", (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === "/feedback") sent.push(new URLSearchParams(route.request().postData()));
    if (pathname === "/") return route.fulfill({ body, contentType: "text/html" });
    if (pathname === "/sensitive.mdg") return route.fulfill({ body: Buffer.from(files.policy) });
    if (pathname !== "/mondegreen.js") return route.fulfill({ status: 204 });
    const module = readFileSync(new URL("../dist/mondegreen.js", import.meta.url), "utf8");
    return route.fulfill({ body: module, contentType: "text/javascript" });
  });
  await page.goto("http://docs.test/");
  return { page, sent };
}

function isRelease(text) {
  return text !== TEXT && text.split(" ").length === 6;
}

test("the form sends a release", { skip }, async () => {
  const { page, sent } = await opened(blocks.html);
  await page.waitForFunction(() => customElements.get("mondegreen-input"));
  await page.click("label");
  await page.keyboard.type(TEXT);
  await page.click("button");
  while (!sent.length) await page.waitForTimeout(20);
  assert.ok(isRelease(sent[0].get("note")));
});

test("the content script replaces what is in the field", { skip }, async () => {
  const { page } = await opened("<textarea autofocus></textarea>");
  await page.evaluate(() => {
    const runtime = { getURL: (name) => `http://docs.test/${name}` };
    runtime.onMessage = { addListener: (heard) => (window.told = heard) };
    window.chrome = { runtime };
  });
  await page.fill("textarea", TEXT);
  await page.addScriptTag({ content: blocks.js, type: "module" });
  await page.waitForFunction(() => window.told);
  await page.evaluate(() => window.told("something else"));
  assert.equal(await page.inputValue("textarea"), TEXT);
  await page.evaluate(() => window.told("privatize"));
  assert.ok(isRelease(await page.inputValue("textarea")));
});

test("the component for React draws when it is sent, and not when it is shown", async () => {
  const { code } = await transform(blocks.jsx, { loader: "jsx", jsxFactory: "h" });
  const body = code.replace(/^import .*$/m, "").replace(/^export /m, "");
  const state = [];
  const React = {
    load: (await import("../dist/mondegreen.js")).load,
    useMemo: (make) => (state.memo ??= make()),
    useState: (first) => [state.text ?? first, (text) => (state.text = text)],
    h: (kind, props, ...children) => ({ kind, props, children }),
  };
  const Feedback = new Function(...Object.keys(React), `${body}; return Feedback;`)(...Object.values(React));
  const sent = [];
  const props = { artifact: files.policy, digest: hex(files.policy.subarray(-32)), send: (text) => sent.push(text) };
  const shown = () => Feedback(props);
  shown().children[0].props.onChange({ target: { value: TEXT } });
  assert.equal(shown().children[0].props.value, TEXT);
  assert.equal(sent.length, 0);
  shown().props.onSubmit({ preventDefault: () => {} });
  assert.equal(sent.length, 1);
  assert.ok(isRelease(sent[0]));
  assert.equal(shown().children[0].props.value, "");
});
