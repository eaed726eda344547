// Writes dist/ and the pages; --check fails where they are not what the sources give.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

import { build } from "esbuild";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const TYPES = "dist/types";
const PAGES = [
  { name: "index", template: "template.html", script: "page.ts", artifact: "policy" },
  { name: "conversation", template: "conversation-template.html", script: "conversation.ts", artifact: "names" },
];

/** Private members that only their own class uses, by `this`: minified bundles have short names for them. */
function privateNames() {
  const folder = path.join(HERE, "src");
  const text = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), "utf8")).join("\n");
  const code = text.replace(/\/\*[^]*?\*\/|\/\/.*/g, "");
  const names = new Set(Array.from(code.matchAll(/\bprivate (?:static )?(?:readonly )?(\w+)/g), ([, name]) => name));
  const count = (pattern) => code.match(new RegExp(pattern, "g"))?.length ?? 0;
  return [...names].filter((each) => count(`\\b${each}\\b`) === count(`(?:this\\.|\\bprivate (?:readonly )?)${each}\\b`));
}

async function bundle(entry, how = {}) {
  const { outputFiles } = await build({
    absWorkingDir: HERE,
    bundle: true,
    charset: "utf8",
    entryPoints: [entry],
    format: "esm",
    ...(how.minify ? { mangleProps: new RegExp(`^(?:${privateNames().join("|")})$`) } : {}),
    minifyWhitespace: true, // comments too, which are half of the libraries
    target: "es2022",
    write: false,
    ...how,
  });
  return outputFiles[0].text;
}

function types(folder) {
  const tsc = createRequire(import.meta.url).resolve("typescript/package.json");
  const command = path.join(path.dirname(tsc), "bin", "tsc");
  const how = ["-p", HERE, "--stripInternal", "--outDir", folder];
  execFileSync(process.execPath, [command, ...how], { stdio: "inherit" });
  return readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name), "utf8")]);
}

function hash(text) {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** A page: one file that opens from disk, with all in it, and asks for nothing. */
async function page({ template, script: source, artifact }) {
  const read = (name) => readFileSync(path.join(HERE, "page", name), "utf8");
  const packed = readFileSync(path.join(HERE, `../../tests/vectors/device/${artifact}.mdg.gz`));
  const script = await bundle(`page/${source}`, { minify: true });
  const style = read("style.css").trim();
  const values = {
    SCRIPT: script.trim(),
    STYLE: style,
    ARTIFACT: packed.toString("base64"),
    DIGEST: gunzipSync(packed).subarray(-32).toString("hex"),
    SCRIPT_HASH: hash(script.trim()),
    STYLE_HASH: hash(style),
  };
  return read(template).replace(/\{\{(\w+)\}\}/g, (_, name) => values[name]);
}

async function outputs(folder) {
  const found = types(folder).map(([name, text]) => [`${TYPES}/${name}`, text]);
  found.push(["dist/mondegreen.js", await bundle("src/index.ts", { minify: true })]);
  found.push(["dist/conversation.js", await bundle("src/conversation.ts", { minify: true })]);
  found.push(["dist/node.js", await bundle("src/node.ts", { platform: "node" })]);
  for (const each of PAGES) found.push([`page/${each.name}.html`, await page(each)]);
  for (const name of ["LICENSE", "NOTICE"]) {
    found.push([name, readFileSync(path.join(HERE, "../..", name), "utf8")]);
  }
  return found;
}

const temporary = path.join(HERE, "build");
rmSync(temporary, { recursive: true, force: true });
const made = await outputs(temporary);
rmSync(temporary, { recursive: true, force: true });
let stale = 0;
for (const [name, text] of made) {
  const file = path.join(HERE, name);
  if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
  if (process.argv.includes("--check")) {
    console.error(`${name} is not what the sources give: npm run build`);
    stale++;
  } else {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.log(`${name}: ${text.length} characters`);
  }
}
process.exitCode = stale ? 1 : 0;
