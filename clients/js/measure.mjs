// Start, speed and memory in Node or in Chromium, as JSON: node measure.mjs PLACE ARTIFACT TEXTS
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const [place, artifact, texts] = process.argv.slice(2);
const bytes = new Uint8Array(readFileSync(artifact));
const lines = readFileSync(texts, "utf8").split("\n");
const MODULE = new URL("dist/mondegreen.js", import.meta.url);

function measured(load, bytes, lines) {
  const started = performance.now();
  let privatizer = load(bytes);
  privatizer = privatizer.withEpsilon(privatizer.epsilons[0]);
  privatizer.privatize("a first word");
  const start = performance.now() - started;
  const rounds = [];
  let words = 0;
  for (let round = 0; round < 3; round++) {
    words = 0;
    const begun = performance.now();
    for (const line of lines) words += privatizer.privatize(line).spans.length;
    rounds.push(performance.now() - begun);
  }
  return { start_ms: start, words, words_per_second: (1000 * words) / Math.min(...rounds) };
}

async function inNode() {
  const before = process.memoryUsage().rss;
  const started = performance.now();
  const { load } = await import(MODULE);
  const imported = performance.now() - started;
  const found = measured(load, bytes, lines);
  globalThis.gc?.();
  const { rss } = process.memoryUsage();
  return { version: process.version, import_ms: imported, ...found, memory_mb: (rss - before) / 1e6 };
}

async function inChromium() {
  const { launch } = await import("./test/chromium.mjs");
  const browser = await launch();
  const page = await browser.newPage();
  await page.route("http://measure.test/**", (route) => {
    const isModule = route.request().url().endsWith(".js");
    const body = isModule ? readFileSync(fileURLToPath(MODULE), "utf8") : "<!doctype html>";
    return route.fulfill({ body, contentType: isModule ? "text/javascript" : "text/html" });
  });
  await page.goto("http://measure.test/");
  const session = await page.context().newCDPSession(page);
  const heap = async () => {
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize, embedderHeapUsedSize = 0, backingStorageSize = 0 } =
      await session.send("Runtime.getHeapUsage");
    return usedSize + embedderHeapUsedSize + backingStorageSize;
  };
  const held = await page.evaluateHandle((text) => {
    const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
    return { bytes };
  }, Buffer.from(bytes).toString("base64"));
  const before = await heap();
  const found = await page.evaluate(
    async ([held, lines, measured]) => {
      const started = performance.now();
      const { load } = await import("./mondegreen.js");
      const imported = performance.now() - started;
      const keeping = (bytes) => (globalThis.kept = load(bytes));
      return { import_ms: imported, ...new Function(`return ${measured}`)()(keeping, held.bytes, lines) };
    },
    [held, lines, String(measured)],
  );
  const memory = (await heap()) - before;
  const version = browser.version();
  await browser.close();
  return { version, ...found, memory_mb: memory / 1e6 };
}

console.log(JSON.stringify(await (place === "node" ? inNode() : inChromium())));
