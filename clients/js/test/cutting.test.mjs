// What a policy takes as a word: dates and times whole, no references of HTML.
import assert from "node:assert/strict";
import test from "node:test";

import { load } from "../dist/node.js";
import { load as conversations } from "../dist/conversation.js";
import { files } from "./files.mjs";

const policy = load(files.names);
const words = (text) => policy.cut(text).filter((_, i) => i % 2);
const describe = (word) => policy.explain(word).group;
const symbols = (text) => policy.inputs(policy.cut(text));

test("a date or a time is one word, whatever its value", () => {
  const text = "On 31/12/1999, 2024-05-12 and 12.05.2024 at 92:84 (9:05-10:45) or 10:30pm";
  assert.deepEqual(words(text), ["On", "31/12/1999", "2024-05-12", "and", "12.05.2024", "at", "92:84", "9:05", "10:45", "or", "10:30pm"]);
  for (const part of ["192.168.0.1", "12:34:56:78:90", "a-2024-05-12", "10:301", "10:30\u0301", "1/2/2024/3"]) {
    assert.ok(!words(part).some((word) => word.includes(":") || word.includes("-") || word.includes("/")), part);
  }
  assert.equal(symbols("10:30")[0], symbols("92:84")[0]);
  assert.notEqual(symbols("10:30")[0], symbols("9:30")[0]);
});

test("what is printed for a date is valid", () => {
  const conversation = conversations(files.names).begin();
  for (let i = 0; i < 200; i++) {
    const [date, time] = conversation.hide(`99/99/${1000 + i} ${String(i).padStart(3, "0").slice(1)}:99`).split(" ");
    assert.match(date, /^(?:0[1-9]|1[0-2])\/(?:0[1-9]|1[0-2])\/(?:19|20)[0-9]{2}$/);
    assert.match(time, /^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/);
  }
});

test("a conversation restores dates and times", () => {
  const said = "On 31/12/1999 and 2024-05-12, 12.05.2024 at 10:30 or 9:15pm, 1/2/03 and 10:30:15.";
  const conversation = conversations(files.names).begin();
  assert.notEqual(conversation.hide(said), said);
  assert.equal(conversation.restore(conversation.hide(said)), said);
});

test("references are structure, and the s of one is an ending", () => {
  assert.deepEqual(words("The firm #39;s plan &amp; &quot;so&quot; it&#x27;s &lt;"), ["The", "firm", "plan", "so", "it"]);
  assert.deepEqual(words("#40; &foo; amp & 39; #39;s"), ["40", "foo", "amp", "39", "s"]);
  assert.deepEqual(symbols("I don&#39;t, we #39;ll"), symbols("I don't, we'll"));
  assert.ok(words(`a ${"&amp;".repeat(50)}b`).length > 7);
});

test("names and places with marks hide among their kind", () => {
  assert.equal(describe("Zürich").class, "place");
  assert.equal(describe("José").class, "first_name");
  assert.deepEqual(symbols("and Müller"), symbols("and Muller"));
  assert.equal(describe("café").class, "ordinary");
  assert.notEqual(describe("Café").class, "ordinary");
  assert.notEqual(describe("thé").class, "ordinary");
});

test("in lines in capitals abbreviations are words, and names hide", () => {
  const line = "THIS IS FOR US OR ME IN HERE";
  assert.deepEqual(symbols(line), symbols(line.toLowerCase()));
  assert.notDeepEqual(symbols("US OR ME"), symbols("us or me"));
  assert.notEqual(symbols(`${line} HOPE`).at(-1), symbols("hope")[0]);
});
