// The checks of site.mjs see what is wrong, and nothing else.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, skip } from "./chromium.mjs";
import { drawings } from "./drawings.mjs";
import { layout } from "./layout.mjs";

const PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
let browser;

before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());

async function find(check, body) {
  const page = await browser.newPage({ viewport: { width: 400, height: 600 } });
  await page.route("**/*", (route) => {
    const [, size, x] = /size-(\d+)-at-(\d+)/.exec(route.request().url()) ?? [];
    const text = `<text font-size="${size}" x="${x}" y="50">hello</text>`;
    const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="300" height="100" viewBox="0 0 300 100">${text}</svg>`;
    if (size) return route.fulfill({ contentType: "image/svg+xml", body: drawing });
    return route.fulfill({ contentType: "text/html", body: `<body style="margin:0">${body}` });
  });
  await page.goto("http://site.example/");
  const found = await page.evaluate(check);
  await page.close();
  return found;
}

for (const [wrong, body, right] of [
  [/300 px wider than the screen/, `<div style="width:700px;height:9px"></div>`, `<div style="overflow:auto"><div style="width:700px;height:9px"></div></div>`],
  [/wider than its box/, `<p style="width:99px">${"a".repeat(99)}</p>`, `<p style="width:99px;overflow-wrap:anywhere">${"a".repeat(99)}</p>`],
  [/outside the column/, `<p style="position:relative;left:-20px">text</p>`, `<p>text</p>`],
  [/no alt text/, `<img src="${PIXEL}">`, `<img src="${PIXEL}" alt="A dot">`],
  [/not loaded/, `<img src="data:image/gif;base64,xx" alt="A dot">`, `<img src="${PIXEL}" alt="A dot">`],
]) {
  test(`layout: ${wrong.source}`, { skip }, async () => {
    assert.match((await find(layout, body)).join(), wrong);
    assert.deepEqual(await find(layout, right), []);
  });
}

test("a table whose first column hides the others", { skip }, async () => {
  const table = (width) =>
    `<article><div class="md-typeset__scrollwrap" style="overflow:auto"><table><tr><th style="min-width:${width}px">first<th style="min-width:500px">second</table></div></article>`;
  assert.match((await find(layout, table(300))).join(), /covers a table: first/);
  assert.deepEqual(await find(layout, table(100)), []);
});

test("texts of pictures that are small or cut off", { skip }, async () => {
  const image = (name, width = 300) => `<img src="${name}.svg" style="width:${width}px">`;
  assert.deepEqual(await find(drawings, image("size-14-at-10")), []);
  assert.match((await find(drawings, image("size-14-at-10", 200))).join(), /hello": 9.3 px/);
  assert.match((await find(drawings, image("size-14-at-290"))).join(), /px cut off/);
});
