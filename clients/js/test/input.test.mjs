import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";

import { launch, skip } from "./chromium.mjs";
import { files } from "./files.mjs";

const TEXT = "The doctor met Ann in Oslo";
const PAGE = `<!doctype html><form action="/send" method="post">
<label for="note">Your note</label><mondegreen-input id="note" name="note" required></mondegreen-input>
<input name="id" value="7"><button>Send</button></form>
<script type="module">
import { load, defineInput } from "./mondegreen.js";
const bytes = await (await fetch("tree.mdg")).arrayBuffer();
defineInput(load(bytes, { epsilon: 10 }));
window.heard = [];
for (const type of ["input", "beforeinput", "keydown", "keyup", "keypress", "change", "paste"])
  document.addEventListener(type, (event) => heard.push(event.data ?? event.key ?? ""));
document.documentElement.dataset.ready = "yes";
</script>`;

let browser;
before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());

async function opened(body = PAGE) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const sent = [];
  await context.route("http://form.test/**", (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === "/send") sent.push(new URLSearchParams(route.request().postData()));
    const served = {
      "/": { body, contentType: "text/html" },
      "/mondegreen.js": {
        body: readFileSync(new URL("../dist/mondegreen.js", import.meta.url), "utf8"),
        contentType: "text/javascript",
      },
      "/tree.mdg": { body: Buffer.from(files.tree), contentType: "application/octet-stream" },
    };
    return route.fulfill(served[pathname] ?? { status: 204 });
  });
  await page.goto("http://form.test/");
  await page.waitForSelector("html[data-ready]", { timeout: 60_000 });
  return { context, page, sent };
}

async function typed(page, text = TEXT) {
  await page.evaluate(() => document.querySelector("mondegreen-input").focus());
  await page.keyboard.type(text);
}

test("a form sends the release, drawn once, and no word of the text", { skip }, async () => {
  const { context, page, sent } = await opened();
  await typed(page);
  const value = await page.evaluate(() => document.querySelector("mondegreen-input").value);
  for (let i = 1; i <= 3; i++) {
    await page.click("button");
    while (sent.length < i) await page.waitForTimeout(20);
  }
  for (const data of sent) {
    assert.deepEqual([...data.keys()], ["id", "note"]);
    assert.equal(data.get("note"), value);
  }
  assert.equal(value.split(" ").length, TEXT.split(" ").length);
  assert.notEqual(value, TEXT.toLowerCase());
  await context.close();
});

test("an edit is another release, and the old text has its old one", { skip }, async () => {
  const { context, page } = await opened();
  const value = () => page.evaluate(() => new FormData(document.forms[0]).get("note"));
  await typed(page);
  const first = await value();
  await page.keyboard.type(" today and tomorrow");
  // All anew: a word that kept its draw would show for sure that it is the same one.
  assert.ok(!(await value()).startsWith(first));
  for (let i = 0; i < " today and tomorrow".length; i++) await page.keyboard.press("Backspace");
  assert.equal(await value(), first);
  await context.close();
});

test("the page hears that something was typed, and not what", { skip }, async () => {
  const { context, page } = await opened();
  await typed(page);
  const heard = await page.evaluate(() => window.heard);
  assert.equal(heard.length, TEXT.length);
  assert.deepEqual([...new Set(heard)], [""]);
  const found = await page.evaluate((text) => {
    const element = document.querySelector("mondegreen-input");
    const all = [element.shadowRoot, element.outerHTML, element.textContent, document.body.innerText];
    return JSON.stringify(all).includes(text);
  }, TEXT);
  assert.equal(found, false);
  await context.close();
});

test("required, disabled, reset and its label work as those of a textarea", { skip }, async () => {
  const { context, page, sent } = await opened();
  // Screen readers see into the closed tree.
  const session = await context.newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  const boxes = nodes.filter(({ role }) => role?.value === "textbox");
  assert.ok(boxes.some(({ name, description }) => name.value === "Your note" && /^All words are replaced on this page/.test(description.value)));
  assert.equal(await page.evaluate(() => document.forms[0].checkValidity()), false);
  await page.click("button");
  await typed(page, "hello");
  assert.equal(await page.evaluate(() => document.forms[0].checkValidity()), true);
  assert.equal(sent.length, 0);
  const entries = (code) => page.evaluate(`${code}; [...new FormData(document.forms[0]).keys()].join()`);
  const element = "document.querySelector('mondegreen-input')";
  assert.equal(await entries(`${element}.setAttribute('disabled', '')`), "id");
  assert.equal(await entries(`${element}.removeAttribute('disabled')`), "id,note");
  await page.evaluate(() => document.forms[0].reset());
  assert.equal(await page.evaluate(`${element}.value`), "");
  await page.click("label");
  await page.keyboard.type("again");
  assert.notEqual(await page.evaluate(`${element}.value`), "");
  await context.close();
});

test("without a chosen epsilon it is not defined", { skip }, async () => {
  const body = PAGE.replace(", { epsilon: 10 }", "").replace("defineInput(", "window.why = ''; try { defineInput(").replace("));\nwindow.heard", ")) } catch (error) { window.why = error.message };\nwindow.heard");
  const { context, page } = await opened(body);
  assert.match(await page.evaluate(() => window.why), /epsilon must be given/);
  assert.equal(await page.evaluate(() => new FormData(document.forms[0]).has("note")), false);
  await context.close();
});
