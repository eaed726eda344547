// Checks a built documentation site in Chromium, and takes pictures of its pages:
// node site.mjs SITE [FOLDER [PAGE...]]
import { createReadStream, existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";

import { launch } from "./test/chromium.mjs";
import { readability } from "./test/readability.mjs";

const PAGES = [
  "index.html",
  "tutorial/first-release.html",
  "how-to/install.html",
  "how-to/choose-a-policy.html",
  "how-to/privatize-files.html",
  "how-to/count-releases.html",
  "how-to/attack-a-release.html",
  "explanation/threat-model.html",
  "explanation/speed.html",
  "proofs/tem.html",
  "reference/command-line.html",
  "reference/python.html",
  "try.html",
];
const VIEWS = [400, 1200].flatMap((width) => ["light", "dark"].map((colorScheme) => ({ width, colorScheme })));
const TYPES = { ".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml", ".html": "text/html" };

const [site, pictures, ...named] = process.argv.slice(2);
const root = path.resolve(site);
const server = createServer((request, answer) => {
  const file = path.join(root, decodeURIComponent(new URL(request.url, "http://x").pathname));
  if (!file.startsWith(root) || !existsSync(file)) return answer.writeHead(404).end();
  answer.setHeader("content-type", TYPES[path.extname(file)] ?? "application/octet-stream");
  createReadStream(file).pipe(answer);
});
await new Promise((go) => server.listen(0, "127.0.0.1", go));
const origin = `http://127.0.0.1:${server.address().port}`;
if (pictures) mkdirSync(pictures, { recursive: true });

const browser = await launch();
const problems = new Set();
for (const { width, colorScheme } of VIEWS) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  page.on("request", (request) => {
    const isOurs = [origin, "data:", "blob:"].some((start) => request.url().startsWith(start));
    if (!isOurs) problems.add(`request to ${request.url()}`);
  });
  for (const name of named.length ? named : PAGES) {
    await page.goto(`${origin}/${name}`, { waitUntil: "load" });
    await page.waitForTimeout(300);
    const found = await page.evaluate(readability);
    found.push(
      ...(await page.evaluate(() => {
        const noAlt = [...document.images].filter((image) => !image.alt.trim()).map((image) => `no alt: ${image.src}`);
        const wide = document.documentElement.scrollWidth - innerWidth;
        return wide > 0 ? [...noAlt, `${wide} px wider than the screen`] : noAlt;
      })),
    );
    for (const each of found) problems.add(`${name}, ${colorScheme}, ${width} px: ${each}`);
    if (pictures) {
      const file = `${name.replace(/\W+/g, "-").replace(/-html$/, "")}-${width}-${colorScheme}.png`;
      await page.screenshot({ path: path.join(pictures, file) });
    }
  }
  await context.close();
}

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
console.log(problems.size ? `${problems.size} problems` : "no problems");
process.exitCode = problems.size ? 1 : 0;
