// Checks every page of a built documentation site in Chromium, and takes pictures of them:
// node site.mjs SITE [--out FOLDER] [--width 400]... [--scheme dark]... [PAGE...]
import { createReadStream, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { parseArgs } from "node:util";

import { launch } from "./test/chromium.mjs";
import { drawings } from "./test/drawings.mjs";
import { layout } from "./test/layout.mjs";
import { readability } from "./test/readability.mjs";

const TYPES = { ".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml", ".html": "text/html" };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string" },
    width: { type: "string", multiple: true, default: ["400", "1200"] },
    scheme: { type: "string", multiple: true, default: ["light", "dark"] },
  },
});
const [site, ...named] = positionals;
const root = path.resolve(site);
const pages = readdirSync(root, { recursive: true }).filter((name) => name.endsWith(".html"));
const chosen = (named.length ? named : pages).map((name) => name.replaceAll(path.sep, "/")).sort();

const server = createServer((request, answer) => {
  const file = path.join(root, decodeURIComponent(new URL(request.url, "http://x").pathname));
  const isFile = file.startsWith(root + path.sep) && existsSync(file) && statSync(file).isFile();
  if (!isFile) return answer.writeHead(404).end();
  answer.setHeader("content-type", TYPES[path.extname(file)] ?? "application/octet-stream");
  createReadStream(file).pipe(answer);
});
await new Promise((go) => server.listen(0, "127.0.0.1", go));
const origin = `http://127.0.0.1:${server.address().port}`;
if (values.out) mkdirSync(values.out, { recursive: true });

const problems = new Set();
const browser = await launch();
/** Looks at every page, at each width. */
async function check(colorScheme) {
  const context = await browser.newContext({ colorScheme });
  const page = await context.newPage();
  page.setDefaultTimeout(180_000); // a page of the reference is very long
  page.on("request", (request) => {
    const isOurs = [origin, "data:", "blob:"].some((start) => request.url().startsWith(start));
    if (!isOurs) problems.add(`request to ${request.url()}`);
  });
  page.on("response", (answer) => {
    if (answer.status() >= 400) problems.add(`${answer.status()} for ${answer.url().slice(origin.length)}`);
  });
  page.on("pageerror", (error) => problems.add(`${new URL(page.url()).pathname}: ${error.message}`));
  for (const name of chosen) {
    await page.goto(`${origin}/${name}`, { waitUntil: "load" });
    if (name === "try.html") await page.waitForSelector("html[data-ready]", { timeout: 60_000 });
    for (const width of values.width) {
      await page.setViewportSize({ width: Number(width), height: 900 });
      await page.evaluate(() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go))));
      for (const look of [readability, layout, drawings]) {
        for (const each of await page.evaluate(look)) problems.add(`${name}, ${colorScheme}, ${width} px: ${each}`);
      }
      if (!values.out) continue;
      const file = `${name.replace(/\W+/g, "-").replace(/-html$/, "")}-${width}-${colorScheme}.png`;
      await page.screenshot({ path: path.join(values.out, file), fullPage: true });
    }
  }
  await context.close();
}

await Promise.all(values.scheme.map(check)); // side by side: each is a process of the browser

const page = await browser.newPage();
await page.goto(`${origin}/index.html`);
await page.locator("input[data-md-component=search-query], input.md-search__input").first().fill("ledger");
try {
  await page.waitForSelector(".md-search-result__item a[href*='count-releases']", { state: "attached", timeout: 60_000 });
} catch {
  problems.add("search for 'ledger' does not find its page");
}
await browser.close();
server.closeAllConnections();
server.close();
for (const each of problems) console.error(each);
console.log(`${chosen.length} pages: ${problems.size || "no"} problems`);
process.exitCode = problems.size ? 1 : 0;
