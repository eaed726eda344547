// Uses the page of the proxy in Chromium, by keyboard where that is the question.
// Arguments: the module that launches Chromium, a proxy, and a proxy that sends nothing.
import { once } from "node:events";
import { createServer } from "node:http";

const [launcher, address, dryAddress] = process.argv.slice(2);
const { launch } = await import(launcher);
const browser = await launch();
const TEXT = "I am Okonkwo. I was born in New York in the United States of America.";
const found = { text: TEXT, outside: [], problems: [], widths: {}, focused: [] };

async function opened(base, how = {}) {
  const context = await browser.newContext(how);
  const page = await context.newPage();
  page.on("request", (request) => {
    if (!request.url().startsWith(base)) found.outside.push(request.url());
  });
  page.on("pageerror", (error) => found.problems.push(String(error)));
  await page.goto(`${base}/ui`);
  await page.waitForSelector("html[data-ready]");
  return page;
}

const shown = (page, id) => page.locator(`#${id}`).textContent();

// By keyboard: type, show, and send.
const page = await opened(address);
for (let i = 0; i < 7; i++) {
  await page.keyboard.press("Tab");
  found.focused.push(await page.evaluate(() => document.activeElement.id));
}
await page.focus("#text");
await page.keyboard.type(TEXT);
await page.keyboard.press("Control+Enter");
await page.waitForSelector("#words tr");
found.marked = await page.locator("#sent mark").count();
found.guessed = await page.locator("#sent mark.guessed").count();
await page.focus("#model");
await page.keyboard.press("Enter");
await page.waitForFunction(() => document.getElementById("shown").textContent.startsWith("You"));
found.shown = await shown(page, "shown");
const surrogate = await page.locator("#words tr:first-child td:nth-child(2)").textContent();

// A second turn, which repeats the first: what changed is shown before it is sent.
await page.fill("#text", "And where does Okonkwo live?");
await page.click("#send");
await page.waitForFunction(() => document.getElementById("problem").textContent.includes("send again"));
await page.click("#send");
await page.waitForFunction(() => document.getElementById("shown").textContent.startsWith("You wrote: And"));
found.second = await shown(page, "shown");

// An answer that is pasted.
async function paste(page, said) {
  await page.check("#paste");
  await page.fill("#said", said);
  await page.click("#restore");
  await page.waitForFunction(() => document.getElementById("shown").textContent.startsWith("Dear"));
  return shown(page, "shown");
}
found.pasted = await paste(page, `Dear ${surrogate}.`);
found.stored = await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]);

const loaded = [...found.outside];

// The policy of the page stops what somebody would add.
const elsewhere = createServer((_, answer) => answer.end("x")).listen(0, "127.0.0.1");
await once(elsewhere, "listening");
const port = elsewhere.address().port;
found.blocked = await page.evaluate(async (port) => {
  const stopped = [];
  addEventListener("securitypolicyviolation", (event) => stopped.push(event.effectiveDirective));
  await fetch(`http://127.0.0.1:${port}/`).catch(() => {});
  new Image().src = `http://127.0.0.1:${port}/`;
  for (let i = 0; i < 100 && stopped.length < 2; i++) await new Promise((go) => setTimeout(go, 50));
  return stopped.sort();
}, port);

// Another page in this browser cannot ask.
const other = await (await browser.newContext()).newPage();
await other.goto(`http://127.0.0.1:${port}/`);
found.crossed = await other.evaluate(async (address) => {
  const body = JSON.stringify({ text: "Okonkwo" });
  const tries = [{ "content-type": "application/json" }, { "content-type": "text/plain" }];
  for (const headers of tries) {
    try {
      const answer = await fetch(`${address}/ui/hide`, { method: "POST", headers, body });
      return `answered ${answer.status}`;
    } catch {
      // that is what is asked for
    }
  }
  return "refused";
}, address);
elsewhere.closeAllConnections();
elsewhere.close();

// A dry run sends nothing, and restores what is pasted.
const dry = await opened(dryAddress);
const isOff = await dry.isDisabled("#ask");
await dry.fill("#text", TEXT);
await dry.click("#hide");
await dry.waitForSelector("#words tr");
const own = await dry.locator("#words tr:first-child td:nth-child(2)").textContent();
found.dry = [isOff, await paste(dry, `Dear ${own}.`)];

for (const [width, colorScheme] of [[400, "dark"], [1200, "light"]]) {
  const narrow = await opened(address, { viewport: { width, height: 800 }, colorScheme });
  await narrow.fill("#text", `${TEXT} ${"Okonkwo".repeat(50)}`);
  await narrow.click("#hide");
  await narrow.waitForSelector("#words tr");
  found.widths[width] = await narrow.evaluate(() => document.documentElement.scrollWidth);
}
found.outside = loaded;
await browser.close();
console.log(JSON.stringify(found));
