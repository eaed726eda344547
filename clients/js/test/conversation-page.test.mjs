import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, skip } from "./chromium.mjs";

const PAGE = new URL("../page/conversation.html", import.meta.url).href;
const TEXT = "I am Okonkwo of Ibadan, born 07/31/1961.";
let browser;

before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());

/** The page from disk, offline, and all that it asks for. */
async function opened(how = {}) {
  const context = await browser.newContext({ offline: true, ...how });
  const page = await context.newPage();
  const requests = [];
  const problems = [];
  context.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await page.goto(PAGE);
  await page.waitForSelector("html[data-ready]", { timeout: 60_000 });
  return { context, page, requests, problems };
}

const shown = (page, id) => page.locator(`#${id}`).textContent();

async function hide(page, text) {
  await page.fill("#text", text);
  await page.waitForSelector("#copy:not([disabled])");
  return shown(page, "sent");
}

test("it hides, restores, and asks for nothing but itself", { skip }, async () => {
  const { context, page, requests, problems } = await opened();
  const sent = await hide(page, TEXT);
  assert.ok(!/Okonkwo|Ibadan|07\/31\/1961/.test(sent), sent);
  assert.match(sent, /^I am \S+ of \S+, born \d+\/\d+\/\d{4}\.$/);
  await page.fill("#answer", `So: ${sent}`);
  assert.equal(await shown(page, "shown"), `So: ${TEXT}`);
  assert.equal(await hide(page, `${TEXT} Okonkwo`), `${sent} ${sent.split(" ")[2]}`);
  assert.deepEqual(requests, [PAGE]);
  assert.deepEqual(problems, []);
  await context.close();
});

test("a new conversation has other surrogates, and forgets the old ones", { skip }, async () => {
  const { context, page } = await opened();
  const sent = await hide(page, TEXT);
  await page.click("#anew");
  assert.equal(await page.inputValue("#text"), "");
  await page.fill("#answer", sent);
  assert.equal(await shown(page, "shown"), sent);
  assert.notEqual(await hide(page, TEXT), sent);
  await context.close();
});

test("keyboard alone, with names for screen readers", { skip }, async () => {
  const { context, page } = await opened();
  const order = [];
  await page.keyboard.press("Tab");
  await page.keyboard.type(TEXT);
  await page.waitForSelector("#copy:not([disabled])");
  for (let i = 0; i < 6; i++) {
    order.push(await page.evaluate(() => document.activeElement.id));
    await page.keyboard.press("Tab");
  }
  assert.deepEqual(order, ["text", "sent", "copy", "answer", "shown", "anew"]);
  const tree = await page.locator("main").ariaSnapshot();
  for (const name of [/textbox "1. Your prompt/, /region "2. What to send"/, /textbox "3. The answer/, /region "4. The answer/]) {
    assert.match(tree, name);
  }
  await context.close();
});

test("400 pixels: nothing is wider than the screen; nothing that is typed is stored", { skip }, async () => {
  const { context, page } = await opened({ viewport: { width: 400, height: 800 } });
  await hide(page, `${TEXT} ${"Okonkwo".repeat(60)}`);
  const found = await page.evaluate(() => [
    document.documentElement.scrollWidth - innerWidth, localStorage.length, sessionStorage.length, document.cookie,
  ]);
  assert.deepEqual(found, [0, 0, 0, ""]);
  await context.close();
});
