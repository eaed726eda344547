import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { launch, skip } from "./chromium.mjs";
import { readability } from "./readability.mjs";

const PAGE = new URL("../page/index.html", import.meta.url).href;
const TEXT = "The doctor met Ann in Oslo.";
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

test("it works from disk and offline, and asks for nothing but itself", { skip }, async () => {
  const { context, page, requests, problems } = await opened();
  await page.fill("#text", TEXT);
  await page.click("#draw");
  const release = await shown(page, "release");
  assert.match(release, /^\S+ \S+ \S+ \S+ \S+ \S+\.$/);
  assert.notEqual(release, TEXT);
  assert.deepEqual(requests, [PAGE]);
  assert.deepEqual(problems, []);
  await context.close();
});

test("its policy stops a request that somebody would add", { skip }, async () => {
  let asked = 0;
  const server = createServer((_, answer) => answer.end(String(asked++))).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  const { context, page } = await opened({ offline: false });
  const blocked = await page.evaluate(async (port) => {
    const url = `http://127.0.0.1:${port}/`;
    const stopped = [];
    addEventListener("securitypolicyviolation", (event) => stopped.push(event.effectiveDirective));
    const tries = [
      () => fetch(url),
      () => new Image().setAttribute("src", url),
      () => document.body.append(Object.assign(document.createElement("iframe"), { src: url })),
      () => new WebSocket(url.replace("http", "ws")),
      () => navigator.sendBeacon(url, "x"),
      () => document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: url })),
    ];
    for (const each of tries) {
      try {
        await each();
      } catch {
        // that is what is asked for
      }
    }
    for (let i = 0; i < 100 && stopped.length < 6; i++) await new Promise((go) => setTimeout(go, 50));
    return stopped.sort();
  }, port);
  const all = ["connect-src", "connect-src", "connect-src", "frame-src", "img-src", "style-src-elem"];
  assert.deepEqual(blocked, all);
  assert.equal(asked, 0);
  // The server would have been reached, had the policy not been there.
  const bare = await context.newPage();
  await bare.goto(`http://127.0.0.1:${port}/`);
  assert.ok(asked > 0);
  server.closeAllConnections();
  server.close();
  await context.close();
});

test("the release is drawn once, whatever the preview shows", { skip }, async () => {
  const { context, page } = await opened();
  await page.fill("#text", TEXT);
  await page.click("#draw");
  const release = await shown(page, "release");
  await page.fill("#text", `${TEXT} And more`);
  assert.equal(await shown(page, "release"), "");
  assert.equal(await page.isDisabled("#copy"), true);
  await page.fill("#text", TEXT);
  assert.equal(await shown(page, "release"), release);
  for (let i = 0; i < 5; i++) await page.click("#draw");
  assert.equal(await shown(page, "release"), release);
  assert.match(await shown(page, "told"), /already has a release/);
  await context.close();
});

test("a release is drawn apart from the preview, and can be copied", { skip }, async () => {
  const { context, page } = await opened();
  await page.fill("#text", TEXT);
  await page.click("#draw");
  const first = await shown(page, "release");
  assert.notEqual(first, await shown(page, "preview"));
  await page.fill("#text", `${TEXT} Yes`);
  await page.click("#draw");
  assert.ok(!(await shown(page, "release")).startsWith(`${first} `));
  assert.match(await shown(page, "told"), /release 2/);
  await page.click("#copy");
  await page.waitForSelector("#told:text-matches('Copied|selected')");
  await context.close();
});

test("a word that did not change keeps its draw in the preview", { skip }, async () => {
  const { context, page } = await opened();
  await page.fill("#text", TEXT);
  const first = (await shown(page, "preview")).split(" ");
  await page.focus("#text");
  await page.keyboard.press("End");
  await page.keyboard.type(" Yes");
  const then = (await shown(page, "preview")).split(" ");
  assert.deepEqual(then.slice(0, first.length), first);
  assert.equal(then.length, first.length + 1);
  await context.close();
});

test("keyboard alone: type, move the slider, draw; the word at the cursor is told", { skip }, async () => {
  const { context, page } = await opened();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.id), "epsilon");
  const before = await shown(page, "shown");
  await page.keyboard.press("End");
  assert.equal(await shown(page, "shown"), "14");
  assert.notEqual(before, "14");
  assert.equal(await page.getAttribute("#epsilon", "aria-valuetext"), "epsilon 14");
  for (let i = 0; i < 4; i++) await page.keyboard.press("Tab"); // past three samples
  assert.equal(await page.evaluate(() => document.activeElement.id), "text");
  await page.keyboard.type("my doctor");
  assert.match(await shown(page, "word"), /^doctor is sensitive \(.* \d+ of 100 times, a random word of its group replaces it\./);
  const near = await shown(page, "word");
  for (let i = 0; i < 4; i++) await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Home");
  assert.equal(await shown(page, "shown"), "6");
  assert.notEqual(await shown(page, "word"), near);
  assert.match(await shown(page, "promise"), /epsilon 6\)/);
  for (let i = 0; i < 12; i++) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate(() => document.activeElement.id)) === "draw") break;
  }
  await page.keyboard.press("Enter");
  assert.match(await shown(page, "release"), /^\S+ \S+$/);
  await context.close();
});

test("three samples fill the text by keyboard, and their names are replaced", { skip }, async () => {
  const { context, page, requests, problems } = await opened();
  const names = [/Ingrid|Okonkwo|Bergen/, /Samira|Haddad|88213|Leeds|0721/, /Porto|Tiago|diabetes|insulin/];
  const samples = page.locator("[data-sample]");
  assert.equal(await samples.count(), 3);
  await page.focus("#epsilon");
  await page.keyboard.press("Home");
  for (const [i, name] of names.entries()) {
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const text = await page.inputValue("#text");
    assert.equal(text, await samples.nth(i).getAttribute("data-sample"));
    assert.match(text, name);
    const stayed = await page.locator("#preview .stayed").count();
    const words = await page.locator("#preview span").count();
    assert.ok(words > 20 && stayed < words, `${stayed} of ${words}`);
    const all = new RegExp(name, "g");
    const kept = (await shown(page, "preview")).match(all) ?? [];
    // Each stays 1 time in 30 or less, so all of them in 27,000 or less.
    assert.ok(kept.length < text.match(all).length, String(kept));
  }
  await page.click("#draw");
  assert.ok((await shown(page, "release")).length > 40);
  assert.deepEqual(requests, [PAGE]);
  assert.deepEqual(problems, []);
  await context.close();
});

test("no text is under 14 pixels, and contrast is AA, light and dark", { skip }, async () => {
  for (const colorScheme of ["light", "dark"]) {
    const { context, page } = await opened({ colorScheme });
    await page.locator("[data-sample]").first().click();
    await page.locator("summary").click();
    await page.click("#draw");
    assert.deepEqual(await page.evaluate(readability), []);
    await context.close();
  }
});

test("the check of readability sees what is wrong", { skip }, async () => {
  const { context, page } = await opened();
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("h1 { font-size: 13px } header p { color: #999 }");
    document.adoptedStyleSheets = [sheet];
  });
  assert.equal((await page.evaluate(readability)).length, 2);
  await context.close();
});

test("screen readers: every control has a name, changes are told", { skip }, async () => {
  const { context, page } = await opened();
  const tree = await page.locator("main").ariaSnapshot();
  for (const name of [/slider "Privacy budget/, /textbox "Your text/, /button "Draw the release"/, /region "Preview/]) {
    assert.match(tree, name);
  }
  await page.fill("#text", TEXT);
  await page.waitForSelector("#spoken:not(:empty)", { state: "attached", timeout: 60_000 });
  assert.equal(await shown(page, "spoken"), await shown(page, "preview"));
  assert.equal(await page.getAttribute("#spoken", "aria-live"), "polite");
  await context.close();
});

test("400 pixels: nothing is wider than the screen", { skip }, async () => {
  const { context, page } = await opened({ viewport: { width: 400, height: 800 } });
  await page.fill("#text", "a".repeat(300));
  await page.locator("[data-sample]").last().click();
  const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.equal(widths[0], widths[1]);
  await context.close();
});

test("a page whose artifact was changed releases nothing", { skip }, async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.route("http://page.test/", async (route) => {
    const { readFileSync } = await import("node:fs");
    const whole = readFileSync(new URL(PAGE), "utf8");
    const body = whole.replace(/data-digest="./, 'data-digest="?');
    await route.fulfill({ body, contentType: "text/html" });
  });
  await page.goto("http://page.test/");
  await page.waitForSelector("#promise:not(:empty)", { timeout: 60_000 });
  assert.match(await shown(page, "promise"), /damaged/);
  await page.fill("#text", TEXT);
  assert.equal(await shown(page, "preview"), "");
  await context.close();
});

test("nothing that is typed is stored", { skip }, async () => {
  const { context, page } = await opened();
  await page.fill("#text", TEXT);
  await page.click("#draw");
  const stored = await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie, location.href]);
  assert.deepEqual(stored, [0, 0, "", PAGE]);
  await page.reload();
  await page.waitForSelector("html[data-ready]", { timeout: 60_000 });
  assert.equal(await page.inputValue("#text"), "");
  await context.close();
});
