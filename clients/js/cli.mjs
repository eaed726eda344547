#!/usr/bin/env node
// Privatizes JSON Lines as `mondegreen privatize - --format jsonl --read none` does.
import { readFileSync, statSync } from "node:fs";
import { parseArgs } from "node:util";

import { MondegreenError, isBlank, isKey, load, scan } from "./dist/node.js";

const USAGE = `usage: node cli.mjs ARTIFACT --epsilon E [--key-file K] < IN.jsonl > OUT.jsonl

Privatizes the text of each object, and leaves all else as it is.
  --epsilon E     one of the artifact
  --key-file K    keyed noise: the same record repeats its release; needs ids
  --column NAME   key of the text [text]
  --id NAME       key of the id, for a key [id]
  --digest HEX    SHA-256 that the artifact must have: the one that
                  the command printed that wrote it; without it, you are warned
  --quiet         print warnings alone`;

const OPTIONS = {
  epsilon: { type: "string" },
  "key-file": { type: "string" },
  column: { type: "string", default: "text" },
  id: { type: "string", default: "id" },
  digest: { type: "string" },
  quiet: { type: "boolean", short: "q", default: false },
  help: { type: "boolean", short: "h", default: false },
};

class UsageError extends Error {}

/** The options and the artifact of the command line. */
function told() {
  try {
    const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
    if (values.help) return { ...values, artifact: "" };
    const epsilon = Number(values.epsilon);
    if (positionals.length !== 1 || !(epsilon > 0)) throw new Error("name one ARTIFACT and an epsilon above 0, such as: node cli.mjs sensitive.mdg --epsilon 12");
    if (values.column === values.id) throw new Error("--column and --id must differ");
    return { ...values, epsilon, artifact: positionals[0] };
  } catch (error) {
    throw new UsageError(`${error.message}\n\n${USAGE}`);
  }
}

/** A key that its owner alone can read. */
function keyOf(path) {
  let key;
  try {
    const isOpen = process.platform !== "win32" && statSync(path).mode & 0o077;
    if (isOpen) throw new UsageError(`key file ${path} can be read by others: chmod 600 it`);
    const read = readFileSync(path);
    const digits = read.toString("latin1").trim();
    key = new Uint8Array(/^[0-9a-f]{64}$/i.test(digits) ? Buffer.from(digits, "hex") : read);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`key file ${path} cannot be read`);
  }
  if (key.length > 4096 || !isKey(key)) {
    throw new UsageError(`key file ${path} is no key; make one: head -c 32 /dev/urandom`);
  }
  return key;
}

/** Lines of standard input with their ends, and the byte order mark before the first. */
async function* lines(input) {
  let pieces = []; // of a line that has no end yet, joined once
  let isStart = true;
  for await (const chunk of input) {
    const end = chunk.lastIndexOf(10) + 1;
    if (end) {
      yield* split(Buffer.concat([...pieces, chunk.subarray(0, end)]), isStart);
      isStart = false;
      pieces = [];
    }
    pieces.push(chunk.subarray(end));
  }
  const rest = Buffer.concat(pieces);
  if (rest.length) yield* split(rest, isStart);
}

function* split(block, isStart) {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text;
  try {
    text = decoder.decode(block);
  } catch {
    throw new MondegreenError("data", "standard input is not UTF-8");
  }
  const bom = isStart && text.startsWith("\ufeff") ? "\ufeff" : "";
  const found = text.slice(bom.length).match(/[^\n]*\n|[^\n]+$/g) ?? [""];
  for (const [i, line] of found.entries()) yield { bom: i ? "" : bom, line };
}

/** A line with its texts replaced. */
function released(line, privatizer, key, { column, id }) {
  const found = scan(line, column, key ? id : null);
  const pieces = [];
  let done = 0;
  let place = 0;
  for (const { start, end, text } of found.values) {
    pieces.push(line.slice(done, start));
    if (text === null) pieces.push("null");
    else {
      const record = key ? { key, id: found.id, column, place: place++ } : undefined;
      pieces.push(JSON.stringify(privatizer.privatize(text, record).text));
    }
    done = end;
  }
  return pieces.join("") + line.slice(done);
}

async function put(text) {
  if (!process.stdout.write(text)) {
    await new Promise((resolve) => process.stdout.once("drain", resolve));
  }
}

async function main() {
  const options = told();
  if (options.help) {
    console.log(USAGE);
    return;
  }
  const key = options["key-file"] === undefined ? null : keyOf(options["key-file"]);
  let bytes;
  try {
    bytes = readFileSync(options.artifact);
  } catch {
    throw new UsageError(`${options.artifact} cannot be read`);
  }
  const how = { epsilon: options.epsilon };
  if (options.digest !== undefined) how.digest = options.digest;
  const privatizer = load(bytes, how);
  const said = privatizer.summary.split("\n"); // checks the law, also where nothing is printed
  const shown = options.quiet ? said.filter((line) => line.startsWith("WARNING")) : said;
  for (const line of shown) console.error(line);
  let row = 0;
  let isEnd = false;
  for await (const { bom, line } of lines(process.stdin)) {
    await put(bom);
    if (!line || isBlank(line)) {
      isEnd ||= line !== "";
      await put(line);
      continue;
    }
    row++;
    try {
      if (isEnd) throw new MondegreenError("data", "a blank line stands before it");
      await put(released(line, privatizer, key, options));
    } catch (error) {
      // Neither the text of the record nor where in it the problem is.
      const why = error instanceof MondegreenError ? error.message : "it could not be read";
      throw new MondegreenError("data", `standard input, row ${row}: ${why}`);
    }
  }
}

process.stdout.on("error", () => process.exit(1)); // whoever read it has gone
main().catch((error) => {
  const isKnown = error instanceof MondegreenError || error instanceof UsageError;
  console.error(`Error: ${isKnown ? error.message : "a bug of this client; nothing more is released"}`);
  const data = error instanceof MondegreenError && error.kind !== "argument";
  process.exitCode = !isKnown ? 1 : data ? 3 : 2;
});
