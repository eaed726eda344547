// It fails closed: what is not whole, or not known, releases nothing.
import assert from "node:assert/strict";
import test from "node:test";

import { MondegreenError, load } from "../dist/mondegreen.js";
import { hex, utf8 } from "../dist/node.js";
import { files } from "./files.mjs";
import * as forge from "./forge.mjs";

const KEY = Uint8Array.from({ length: 32 }, (_, i) => i);
const refused = (kind) => (error) => error instanceof MondegreenError && error.kind === kind;

const forged = (change, bytes = files.sixteen) => forge.forged(change, bytes);
const first = (header) => header.settings[0];
const privatized = (bytes) => load(bytes, { epsilon: 2 }).privatize("colda");

test("an artifact that was written anew, unchanged, is taken", () => {
  assert.equal(privatized(forged(() => {})).spans.length, 1);
});

test("every cut, and a flip of any byte, is refused", () => {
  const bytes = files.sixteen;
  for (let size = 0; size < bytes.length; size += 997) {
    assert.throws(() => load(bytes.subarray(0, size)), refused("artifact"));
  }
  for (let at = 0; at < bytes.length; at += 1499) {
    const changed = bytes.slice();
    changed[at] ^= 1;
    assert.throws(() => load(changed), refused("artifact"));
  }
  assert.throws(() => load(Buffer.concat([bytes, Buffer.of(0)])), refused("artifact"));
});

test("another artifact than the one that was asked for is refused", () => {
  const digest = hex(files.sixteen.subarray(-32));
  assert.equal(load(files.sixteen, { digest }).digest, digest);
  const other = forged((header) => (first(header).summary = "All is well."));
  assert.throws(() => load(other, { digest }), refused("artifact"));
});

const FORGERIES = {
  "a policy that is not known": (h) => (h.policies.unknown = "mask"),
  "one policy more": (h) => (h.policies.read = "sentence"),
  "one policy less": (h) => delete h.policies.case,
  "a field that is not known": (h) => (h.later = 1),
  "a field less": (h) => delete h.noise,
  "a field of a setting that is not known": (h) => (first(h).x = 1),
  "the same, of a setting that is not chosen": (h) => (h.settings[1].x = 1),
  "the law of another mechanism besides": (h) => (first(h).threshold = "1"),
  "a field of a setting less": (h) => delete first(h).preview,
  "a setting that is no object": (h) => (h.settings[1] = null),
  "settings that are no list": (h) => (h.settings = {}),
  "a field of a guarantee that is not known": (h) => (first(h).guarantee.later = 1),
  "a field of the space that is not known": (h) => (h.space.x = 1),
  "a field of the public table that is not known": (h) => (h.public.codes = "x"),
  "a version that is not known": (h) => (h.unicode.x = 1),
  "a list of the text that is not known": (h) => (h.text.x = 1),
  "noise that is not known": (h) => (h.noise.seeded = "x"),
  "a section that is not known": (_, p) => p.set("later", new Uint8Array(1)),
  "a share above 1": (h) => (first(h).preview.recovered = 9),
  "a share below 0": (h) => (first(h).preview.unchanged = -0.1),
  "a share that is no number": (h) => (first(h).preview.near = "0.5"),
  "a field of a preview that is not known": (h) => (first(h).preview.later = 1),
  "an epsilon that is no number": (h) => (first(h).epsilon = first(h).guarantee.epsilon = "2"),
  "a digest that is none": (h) => (first(h).digest = "x"),
  "a summary that is none": (h) => (first(h).summary = 1),
  "a guarantee of another mechanism": (h) => (first(h).guarantee.mechanism = "brr"),
  "a secret that is only truthy": (h) => (first(h).guarantee.noise_is_secret = "no"),
  "a mechanism without a proof": (h) => (first(h).guarantee.certified_how = "not proved: x"),
  "no protection": (h) => (first(h).protection = "none"),
  "a protection that is no word of ours": (h) => (first(h).guarantee.protection = "perfect"),
  "a certified epsilon below 0": (h) => (first(h).guarantee.certified = -1),
  "a delta of 1": (h) => (first(h).guarantee.delta = 1),
  "another format": (h) => (h.format = "mondegreen-device/2"),
  "another mechanism": (h) => (h.mechanism = "tem"),
  "noise that others can repeat": (h) => (first(h).guarantee.noise_is_secret = false),
  "a guarantee of another epsilon": (h) => (first(h).guarantee.epsilon = 1),
  "one epsilon twice": (h) => h.settings.push({ ...first(h), digest: "0".repeat(64) }),
  "one digest twice": (h) => (h.settings[1].digest = first(h).digest),
  "integers that do not sum": (h) => (first(h).weights[0] = "1"),
  "integers below 0": (h) => (first(h).weights[0] = "-1"),
  "nothing left for the root": (h) => {
    const { weights } = first(h);
    weights[0] = String(BigInt(weights[0]) + BigInt(weights.at(-1)));
    weights[weights.length - 1] = "0";
  },
  "a level less": (h) => first(h).weights.shift(),
  "a word less": (h) => h.words--,
  "a word twice": (_, p) => p.set("words", utf8(new TextDecoder().decode(p.get("words")).replace("coldb", "colda"))),
  "words that are no UTF-8": (_, p) => (p.get("words")[0] = 0xff),
  "a tree of other words": (_, p) => (p.get("tree")[1]++),
  "a tree that is cut off": (_, p) => p.set("tree", p.get("tree").slice(0, -1)),
  "no tree": (_, p) => p.delete("tree"),
  "no table of Unicode": (_, p) => p.delete("lower"),
  "a table that is cut off": (_, p) => p.set("classes", p.get("classes").slice(0, -1)),
  "a word printed as none": (_, p) => p.set("printed", Uint8Array.of(0, 100)),
};
for (const [name, change] of Object.entries(FORGERIES)) {
  test(`refused: ${name}`, () => {
    assert.throws(() => privatized(forged(change)), refused("artifact"));
  });
}

/** Claim a smaller epsilon wherever one is told. */
function claim(header, epsilon) {
  const { guarantee } = Object.assign(first(header), { epsilon });
  Object.assign(guarantee, { epsilon, certified: epsilon, parameters: { ...guarantee.parameters, epsilon } });
}

/** Name no protection at all, which is never too good. */
function admit(header) {
  first(header).protection = first(header).guarantee.protection = "vacuous";
}

const metric = (h, heights) => (first(h).guarantee.metric = first(h).guarantee.metric.replace(/\(.*/, heights));
const SINGLE = ["4611686018427387903", "0", "0", "1"];

// Each has a checksum that fits, and claims what Python would never write for its law.
const LIES = {
  "one weight that holds almost all": (h) => (first(h).weights = SINGLE),
  "the same, certified by nothing": (h) => {
    first(h).weights = SINGLE;
    first(h).guarantee.certified = null;
  },
  "the same, of another epsilon": (h) => {
    first(h).weights = SINGLE;
    claim(h, 0.1);
  },
  "an epsilon that is too small by a thousandth": (h) => claim(h, 1.998),
  "a certified epsilon that is too small": (h) => (first(h).guarantee.certified = 1.99),
  "an epsilon that is too small, certified as it is": (h) => {
    first(h).epsilon = first(h).guarantee.epsilon = 0.1;
  },
  "a group whose words lose more than its height says": (h) => metric(h, "(heights 0.03, 0.5, 1)"),
  "heights of other levels": (h) => metric(h, "(heights 0.03, 0.5, 0.6, 1)"),
  "a root that is higher": (h) => metric(h, "(heights 0.03, 0.6, 100)"),
  "a height that is none": (h) => metric(h, "(heights 0.03, -, 1)"),
  "heights that fall": (h) => metric(h, "(heights 99, 0.6, 1)"),
  "a scale that is none": (h) => (first(h).guarantee.scale = null),
  "a metric that is none": (h) => (first(h).guarantee.metric = null),
  "a metric that says more": (h) => (first(h).guarantee.metric += "\nAll is well."),
  "integers that are no list": (h) => (first(h).weights = "4611686018427387904"),
  "integers that are lists": (h) => (first(h).weights = first(h).weights.map((each) => [each])),
  "more levels than a tree has": (_, p) => p.set("tree", new Uint8Array(100_000)),
  "a metric that nobody knows": (h) => (first(h).guarantee.metric = "a distance of one's own"),
  "a diameter that is too small": (h) => (first(h).guarantee.scale.diameter = 0.01),
  "groups of one word each": (_, p) => p.set("tree", Uint8Array.of(0, 16, ...Array(16).fill(1), 16, ...Array(16).fill(1))),
  "letters among the signs": (h) => (h.text.signs += "abcdefghijklmnopqrstuvwxyz"),
  "letters among the apostrophes": (h) => (h.text.apostrophes += "co"),
  "letters among the blanks": (h) => (h.text.blanks += "c"),
  "letters among the currencies": (h) => (h.text.currency += "c"),
  "a gap that is longer": (h) => (h.text.gap = 1e9),
  "more blanks that count as one": (h) => (h.text.same = 1e9),
  "a delta": (h) => (first(h).guarantee.delta = 0.5),
  "a condition": (h) => (first(h).guarantee.conditions = ["are the same"]),
  "a larger unit": (h) => (first(h).guarantee.unit = "a whole text"),
  "nothing that is disclosed": (h) => (first(h).guarantee.disclosed = []),
  "something more that is disclosed": (h) => first(h).guarantee.disclosed.push("the first letters: as they are"),
  "more words to hide among": (h) => (first(h).guarantee.hides_among = 1e6),
  "no words to hide among": (h) => (first(h).guarantee.hides_among = null),
  "a word that is too good for the loss": (h) => (first(h).guarantee.protection = "strong"),
  "a setting whose word is too good for the loss": (h) => (first(h).protection = "strong"),
  "a word that is too good for the claimed loss": (h) => claim(h, 9),
  "a word that is too good for what is unchanged": (h) => (first(h).preview.unchanged = 0.26),
  "a word that is too good for what is near": (h) => (first(h).preview.near = 0.76),
  "a word that is too good for what an attacker recovers": (h) => (first(h).preview.recovered = 0.26),
};
for (const [name, change] of Object.entries(LIES)) {
  test(`a promise that is not kept is refused: ${name}`, () => {
    const bytes = forged(change);
    const made = () => load(bytes).withEpsilon(load(bytes).epsilons[0]);
    for (const told of ["summary", "guarantee", "preview", "protection"]) {
      assert.throws(() => made()[told], refused("artifact"));
    }
    assert.throws(() => made().privatize("colda"), refused("artifact"));
    assert.throws(() => made().explain("colda"), refused("artifact"));
  });
}

test("of codes too, a promise that is not kept is refused", () => {
  const changes = [
    (h) => (first(h).threshold = "1"),
    (h) => (first(h).threshold = String(BigInt(first(h).threshold) - (1n << 44n))),
    (h) => claim(h, 0.2499),
    (h) => (first(h).guarantee.metric = "Hamming distance of 8-bit codes"),
    (h) => (first(h).guarantee.metric = "Hamming distance of 1600-bit codes"),
    (h) => (first(h).guarantee.scale.diameter = 4),
    (h) => (first(h).guarantee.scale.diameter = 17),
    (h) => delete first(h).guarantee.scale.diameter,
  ];
  assert.equal(load(forged(() => {}, files.bits)).privatize("colda").spans.length, 1);
  for (const change of changes) {
    assert.throws(() => load(forged(change, files.bits)).privatize("colda"), refused("artifact"));
  }
});

/** A change of one text in a part. */
const replaced = (name, one, other) => (_, p) =>
  p.set(name, utf8(new TextDecoder().decode(p.get(name)).replace(one, other)));

/** The groups of an artifact with one size changed. */
const group = (place, more) => (h) => (h.policy.groups[place][2] += more);

// Of a policy: each has a checksum that fits, and claims what Python would never write.
const POLICY_LIES = {
  "strays that are too rare": (h) => (first(h).stray = "1"),
  "strays that are a little too rare": (h) => (first(h).stray = String((BigInt(first(h).stray) * 999n) / 1000n)),
  "no strays": (h) => (first(h).stray = "0"),
  "strays below 0": (h) => (first(h).stray = "-1"),
  "more strays than there are": (h) => (first(h).stray = String(1n << 61n)),
  "strays that are no text": (h) => (first(h).stray = Number(first(h).stray)),
  "weights of a tree": (h) => (first(h).weights = ["1"]),
  "a smaller epsilon": (h) => claim(h, 5.9),
  "more groups than the law has": (h) => h.policy.groups.push(["health", "none", 1]),
  "the law of the other mechanism": (h) => {
    h.mechanism = "krr";
    const { guarantee } = first(h);
    Object.assign(guarantee, { mechanism: "krr", conditions: [], metric: guarantee.metric.slice(20) });
    guarantee.disclosed.shift();
  },
  "an empty group": (h) => (h.policy.groups[0][2] = 0),
  "a group of half a word": group(0, 0.5),
  "a group below 0": (h) => (h.policy.groups[0][2] = -1),
  "groups of other words": group(0, 1),
  "a small group": ({ policy: { groups } }) => (groups[1][2] += groups[0][2] - 5, groups[0][2] = 5),
  "a small group that calls itself a format": ({ policy: { groups } }) =>
    (groups[1][2] += groups[0][2] - 4, groups[0][2] = 4, groups[0][0] = "number_word", groups[0][1] = "Roman"),
  "a small group that calls itself a season of illnesses": ({ policy: { groups } }) =>
    (groups[1][2] += groups[0][2] - 5, groups[0][2] = 5, groups[0][0] = "health", groups[0][1] = "season"),
  "a group without a form": (h) => h.policy.groups[0].splice(1, 1),
  "no groups": (h) => (h.policy.groups = []),
  "groups that are no list": (h) => (h.policy.groups = {}),
  "fewer ordinary words": (h) => h.policy.ordinary--,
  "ordinary words that are no number": (h) => (h.policy.ordinary = "8869"),
  "rules that are not known": (h) => (h.policy.rules = 1),
  "a field of the policy that is not known": (h) => (h.policy.x = 1),
  "no policy": (h) => delete h.policy,
  "a policy beside a tree's law": (h) => (h.mechanism = "tree"),
  "names of no group": (h) => (h.policy.name = 1000),
  "unknown words of no group": (h) => (h.policy.rest.s = -1),
  "a form that is not known": (h) => (h.policy.rest.x = 1),
  "addresses that are no words": (h) => (h.policy.address = [1]),
  "an ending without hosts": (h) => delete h.policy.hosts["'m"],
  "an ending that is not known": (h) => (h.policy.hosts["'x"] = ["i"]),
  "hosts that are no list": (h) => (h.policy.hosts["'m"] = "i"),
  "nothing of separators": (h) => first(h).guarantee.disclosed.pop(),
  "a scope that is not known": (h) => (h.policies.same = "key"),
  "a scope that is not told": (h) => (h.policies.same = "record"),
  "a structure that is not told": (h) => (h.policies.structure = "plain"),
  "the case of the input": (h) => (h.policies.case = "restore"),
  "nothing of ordinary words": (h) => first(h).guarantee.disclosed.shift(),
  "no condition": (h) => (first(h).guarantee.conditions = []),
  "one condition more": (h) => first(h).guarantee.conditions.push("are old"),
  "a promise about all words": (h) => (first(h).guarantee.metric = first(h).guarantee.metric.slice(20)),
  "a smaller diameter": (h) => (first(h).guarantee.scale.diameter = 0.5),
  "more words to hide among": (h) => (first(h).guarantee.hides_among = 100),
  "a word that is too good": (h) => (first(h).guarantee.protection = "moderate"),
  "a setting whose word is too good": (h) => (first(h).protection = "moderate"),
  "a word that is too good for what is unchanged": (h) => (first(h).preview.unchanged = 0.51),
  "a preview without its share": (h) => delete first(h).preview.shown,
  "a share that is none": (h) => (first(h).preview.shown = 2),
  "a preview without what attackers recovered": (h) => delete first(h).preview.in_domain,
  "a share of attackers that is none": (h) => (first(h).preview.in_domain = [0.1, 1.1, 6]),
  "a least share above the largest one": (h) => (first(h).preview.in_domain = [0.5, 0.1, 6]),
  "shares of no texts": (h) => (first(h).preview.in_domain = [0.1, 0.5, 0]),
  "one share of attackers": (h) => (first(h).preview.in_domain = [0.1]),
  "one word in two groups": (h, p) => {
    const words = new TextDecoder().decode(p.get("words")).split("\n");
    words[words.length - 1] = words[h.policy.ordinary];
    p.set("words", utf8(words.join("\n")));
  },
  "an ordinary word in a group, in capitals": (_, p) => {
    const words = new TextDecoder().decode(p.get("words")).split("\n");
    words[words.length - 1] = words[0].toUpperCase();
    p.set("words", utf8(words.join("\n")));
  },
  "an ordinary word among those that hide": replaced("known", /^[^\n]*/, "the"),
  "a known word less": replaced("known", /\n[^\n]*$/, ""),
  "a known word more": replaced("known", /$/, "\nzyx"),
  "counts of other words": (_, p) => (p.get("counts")[0] ^= 1),
  "capitals of no group": (_, p) => p.set("capitals", Uint8Array.of(0, 120)),
  "capitals of no word": (_, p) => p.set("capitals", Uint8Array.of(0xff, 0xff, 0xff, 0x7f, 1)),
  "another word at the start of a sentence": (_, p) => p.set("first", utf8("0 Secret")),
  "a table of letters that is cut off": (_, p) => p.set("letters", p.get("letters").slice(0, -1)),
  "no known words": (_, p) => p.delete("known"),
  "the words of a tree": (_, p) => p.set("tree", Uint8Array.of(1, 1)),
};
for (const [name, change] of Object.entries(POLICY_LIES)) {
  test(`of a policy, a promise that is not kept is refused: ${name}`, () => {
    const bytes = forged(change, files.policy);
    const made = () => load(bytes).withEpsilon(load(bytes).epsilons[0]);
    for (const told of ["summary", "guarantee", "preview", "protection"]) {
      assert.throws(() => made()[told], refused("artifact"));
    }
    assert.throws(() => made().privatize("diabetes"), refused("artifact"));
  });
}

test("an artifact of a policy that was written anew, unchanged, is taken", () => {
  assert.equal(load(forged(() => {}, files.policy), { epsilon: 6 }).privatize("I have diabetes").spans.length, 3);
});

/** What all pairs of symbols lose, by the chances of all outputs; ordinary inputs count as cover. */
function worstLoss(law, inputs, outputs) {
  const all = inputs.map((input) => law.chances(input));
  let most = 0;
  for (const one of all) for (const other of all) for (const y of outputs) most = Math.max(most, Math.log(one[y] / other[y]));
  return most;
}

test("what a policy loses is what all pairs of its sensitive symbols lose, and their cover", () => {
  for (const { header } of files.policies.variants) {
    const change = (h) => Object.assign(h, header);
    const made = load(forged(change, files.policy));
    const { ordinary, groups } = made.tables.artifact.header.policy;
    const isCover = header.mechanism === "urr";
    const hidden = Array.from({ length: groups.length + 43 }, (_, i) => ordinary + i);
    const some = [0, 7, ordinary - 1];
    const found = worstLoss(made.law, [...hidden, ...some], isCover ? hidden : [...hidden, ...some]);
    assert.ok(Math.abs(found - made.law.loss) < 1e-6, `${found}, not ${made.law.loss}`);
    // An ordinary word that urr prints was that word: this is told, and no part of the promise.
    if (isCover) assert.equal(made.law.chances(ordinary)[0], 0);
  }
});

test("without a digest, nothing is said of a policy but what was computed", () => {
  const lie = forged((h) => (first(h).summary = "All is well."), files.policy);
  const [said, warning, ...more] = load(lie, { epsilon: 12 }).summary.split("\n");
  assert.match(said, /^Privacy guarantee: urr \(epsilon 12\): .* any two sensitive words by a factor of at most e\^12\./);
  assert.match(said, /Its lists, which anybody may have written, have [0-9]+ ordinary words\. Ordinary words are shown\.$/);
  assert.match(warning, /^WARNING: no digest was given/);
  assert.deepEqual(more, []);
  assert.equal(load(lie, { epsilon: 12 }).protection, "vacuous");
  const digest = hex(files.policy.subarray(-32));
  assert.match(load(files.policy, { epsilon: 12, digest }).summary, /hides among at least/);
});

test("explain: an ordinary word stays, a sensitive one is one of its group", () => {
  const privatizer = load(files.policy, { epsilon: 12 });
  const the = privatizer.explain("The");
  assert.deepEqual([the.lookedUpAs, the.group.class, the.group.size], ["the", "ordinary", 1]);
  assert.ok(the.stay > 0.99);
  const illness = privatizer.explain("diabetes");
  assert.equal(illness.group.class, "health");
  assert.ok(illness.stay > 0 && illness.stay < 0.02 && illness.group.size >= 100);
  assert.equal(illness.likeliest.length, 10);
  const number = privatizer.explain("4711");
  assert.deepEqual([number.lookedUpAs, number.group.form, number.group.size], [null, "4 digits", 8800]);
});

/** The largest logarithm of two chances of one output, over all pairs of inputs. */
function bruteForce(law, count) {
  const all = Array.from({ length: count + 1 }, (_, input) => law.chances(input));
  let most = 0;
  for (const one of all) for (const other of all) one.forEach((p, y) => (most = Math.max(most, Math.log(p / other[y]))));
  return most;
}

test("what a tree loses is what all pairs of words lose, the unknown word included", () => {
  const trees = [
    [0, 4, 4, 4, 4, 4, 2, 8, 8], [4, 4, 4, 4, 4, 2, 8, 8, 1, 16], [0, 3, 1, 5, 10, 2, 6, 10], [2, 15, 1, 1, 16, 0].slice(0, 3),
    [1, 16], [0, 1, 16], [16, ...Array(16).fill(1), 1, 16, 1, 16],
  ];
  let seed = 7;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (const tree of trees) {
    let levels = 1;
    for (let at = 0; at < tree.length; at += 1 + tree[at]) levels++;
    for (let round = 0; round < 40; round++) {
      const shares = Array.from({ length: levels }, () => (random() < 0.3 ? 0 : random() ** 9));
      const sum = shares.reduce((a, b) => a + b, 1e-6);
      const weights = shares.map((share) => BigInt(Math.floor((share / sum) * 2 ** 62)));
      weights[levels - 1] += (1n << 62n) - weights.reduce((a, b) => a + b, 0n);
      const heights = [...Array(levels - 2).fill("1"), "1"].join(", ");
      const made = load(
        forged((h, p) => {
          p.set("tree", Uint8Array.from(tree));
          first(h).weights = weights.map(String);
          metric(h, `(heights ${heights})`);
          claim(h, 99);
          admit(h);
        }),
        { epsilon: 99 },
      );
      const [found, expected] = [made.law.loss, bruteForce(made.law, 16)];
      assert.ok(Math.abs(found - expected) <= 1e-12 + 1e-12 * expected, `${tree}: ${found}, not ${expected}`);
    }
  }
});

test("without a digest, nothing is said that an artifact says in words", () => {
  const digest = hex(files.sixteen.subarray(-32));
  const trusted = load(files.sixteen, { epsilon: 2, digest });
  assert.match(trusted.summary, /^Privacy guarantee: tree \(epsilon 2\).*at most e\^2.*\nA word hides among 16 words.*\nDisclosed: /);
  assert.doesNotMatch(trusted.summary, /WARNING/);
  const [said, warning, ...more] = load(forged((h) => (first(h).summary = "All is well.")), { epsilon: 2 }).summary.split("\n");
  assert.equal(
    said,
    "Privacy guarantee: tree (epsilon 2): an output changes the odds between any two " +
      "original words by a factor of at most e^2.",
  );
  assert.match(warning, /^WARNING: no digest was given/);
  assert.deepEqual(more, []);
});

/** Put a word into all that no client can check. */
function lied(header) {
  header.adversary = header.noise.fresh = header.noise.keyed = header.space.name = "All is well.";
  header.settings.forEach((setting) => {
    const { guarantee } = setting;
    for (const name of ["proof", "certified_how", "space", "noise"]) guarantee[name] = "All is well.";
    guarantee.equivalents = guarantee.assumptions = ["All is well."];
    guarantee.parameters = { ...guarantee.parameters, well: "All is well." };
    guarantee.scale = { ...guarantee.scale, well: 0.123456 };
    guarantee.disclosed = guarantee.disclosed.map((each) => `${each.split(":")[0]}: All is well.`);
    setting.summary = setting.preview.of = "All is well.";
    setting.preview.words = 0.123456;
  });
}

test("without a digest, no word of the artifact and no measurement is told", () => {
  for (const [bytes, epsilon] of [[forged(lied), 2], [forged(lied, files.policy), 12], [forged(lied, files.bits), undefined]]) {
    const made = load(bytes, { epsilon });
    const told = (each) => JSON.stringify([
      each.summary, each.guarantee, each.preview, each.adversary, each.protection,
      each.privatize("a text").guarantee, each.privatize("a text", { key: KEY, id: 7 }).guarantee,
    ]);
    assert.doesNotMatch(told(made), /All is well|0\.123456/);
    assert.equal(made.preview, null);
    assert.equal(made.adversary, null);
    assert.deepEqual(
      Object.keys(made.privatize("a text").guarantee).sort().join(" "),
      "certified conditions delta disclosed epsilon hides_among mechanism metric noise_is_secret protection unit",
    );
    assert.equal(made.guarantee.protection, made.protection);
    // Whoever gives its digest trusts it.
    assert.match(told(load(bytes, { epsilon, digest: hex(bytes.subarray(-32)) })), /All is well.*0\.123456/);
  }
});

test("a digest that is no string is refused, not passed over", () => {
  for (const digest of [null, 5, {}, []]) assert.throws(() => load(files.sixteen, { epsilon: 2, digest }), refused("argument"));
});

test("without a digest, protection is no better than the loss that the client computed", () => {
  // The diameter of codes is not computed, so all their bits count: 16 times 0.25 nats, or 0.5.
  const digest = hex(files.bits.subarray(-32));
  assert.equal(load(files.bits, { digest }).protection, "moderate");
  assert.equal(load(files.bits).protection, "moderate");
  const bytes = forged((h, p) => {
    // Two codes that differ in one bit, and an unknown word that differs in one more.
    p.set("codes", Uint8Array.of(0, 0, 0, 1));
    p.set("counts", Uint8Array.of(8, 8));
    p.set("unknown", Uint8Array.of(0, 3));
    const { guarantee } = first(h);
    guarantee.scale.diameter = 2;
    first(h).preview.unchanged = 0;
    guarantee.protection = first(h).protection = "strong";
  }, files.bits);
  assert.equal(load(bytes, { digest: hex(bytes.subarray(-32)) }).protection, "strong");
  assert.equal(load(bytes).protection, "moderate");
});

test("a share from 0 to 1, or none, is taken", () => {
  for (const share of [null, 0, 0.5, 1]) {
    const bytes = forged((header) => {
      first(header).preview.recovered = share;
      admit(header);
    });
    assert.equal(load(bytes, { epsilon: 2, digest: hex(bytes.subarray(-32)) }).preview.recovered, share);
  }
});

test("nothing is promised of a law that is none", () => {
  const made = load(forged((header) => (first(header).weights[0] = "1")), { epsilon: 2 });
  for (const told of ["summary", "guarantee", "preview", "protection"]) {
    assert.throws(() => made[told], refused("artifact"));
  }
});

test("no epsilon is taken for granted", () => {
  const some = load(files.sixteen);
  assert.deepEqual(some.epsilons, [2, 3]);
  assert.throws(() => some.privatize("colda"), refused("argument"));
  assert.throws(() => some.guarantee, refused("argument"));
  assert.throws(() => some.withEpsilon(2.5), refused("argument"));
  assert.equal(some.withEpsilon(3).epsilon, 3);
});

test("what is no text, or no record, is refused; no error holds the text", () => {
  const privatizer = load(files.sixteen, { epsilon: 2 });
  for (const text of [null, undefined, 7, ["colda"], new String("colda")]) {
    assert.throws(() => privatizer.privatize(text), refused("argument"));
  }
  const records = [
    {}, { key: KEY }, { id: 7 }, { key: KEY, id: "" }, { key: KEY, id: 1.5 }, { key: KEY, id: 2 ** 60 },
    { key: KEY, id: true }, { key: KEY, id: null }, { key: KEY.subarray(1), id: 7 },
    { key: new Uint8Array(32), id: 7 }, { key: "0".repeat(64), id: 7 }, { key: KEY, id: 7, column: 1 },
    { key: KEY, id: 7, place: -1 }, { key: KEY, id: 7, place: 0.5 }, { key: KEY, id: 7, colunm: "x" }, null,
  ];
  for (const record of records) {
    assert.throws(() => privatizer.privatize("secretword", record), (error) => !String(error).includes("secretword"));
  }
  assert.throws(() => load(files.sixteen, { epsilons: 2 }), refused("argument"));
});

test("an integer id is its digits, in any form", () => {
  const privatizer = load(files.sixteen, { epsilon: 2 });
  const text = "colda coldb coldc coldd warma warmb";
  const release = (id) => privatizer.privatize(text, { key: KEY, id }).text;
  assert.equal(new Set([release(7), release("7"), release(7n)]).size, 1);
  assert.notEqual(release(7), release(8));
});

test("no random source, no release", (context) => {
  const privatizer = load(files.sixteen, { epsilon: 2 });
  context.mock.method(globalThis.crypto, "getRandomValues", () => {
    throw new Error("none");
  });
  assert.throws(() => privatizer.privatize("colda"));
});

test("nothing is asked of the Unicode of the engine", (context) => {
  const privatizer = load(files.tree, { epsilon: 10 });
  const release = () => privatizer.privatize("ΟΔΟΣ ＯＳＬＯ naïve ﬁn’t İ", { key: KEY, id: 7 }).text;
  const before = release();
  const ascii = String.prototype.toLowerCase;
  for (const name of ["normalize", "toLocaleLowerCase", "toLocaleUpperCase", "localeCompare"]) {
    context.mock.method(String.prototype, name, () => assert.fail(name));
  }
  context.mock.method(String.prototype, "toLowerCase", function () {
    assert.match(String(this), /^[\0-\x7f]*$/);
    return ascii.call(this);
  });
  assert.equal(release(), before);
});

test("strange words are words: half pairs, very long ones, controls, emoji", () => {
  const privatizer = load(files.tree, { epsilon: 4 });
  const { printed } = privatizer.tables.artifact;
  const known = new Set(printed);
  for (const text of ["\ud800", "\udc00a", "a".repeat(100_000), "\0\x1b", "👩‍👩‍👧‍👦", "a" + "\u0301".repeat(50_000), "\u{10ffff}"]) {
    const { text: release, spans } = privatizer.privatize(text);
    assert.equal(spans.length, privatizer.words(text).length);
    for (const { start, end } of spans) assert.ok(known.has(release.slice(start, end)));
    assert.ok(!release.includes(text));
  }
});

test("what a release says of itself is what Python said", () => {
  const privatizer = load(files.tree, { epsilon: 10, digest: hex(files.tree.subarray(-32)) });
  const { guarantee } = privatizer.privatize("a text", { key: KEY, id: 7 });
  assert.match(guarantee.noise, /keyed by a secret/);
  assert.match(privatizer.privatize("a text").guarantee.noise, /fresh 256-bit key/);
  const { noise, ...others } = guarantee;
  const { noise: _, ...own } = privatizer.guarantee;
  assert.deepEqual(others, own);
  assert.equal(guarantee.certified <= guarantee.epsilon, true);
  assert.match(privatizer.summary, /^Privacy guarantee: tree \(epsilon 10\)/);
  assert.ok(privatizer.preview.recovered > 0.1 && privatizer.preview.recovered < 0.9);
  assert.equal(privatizer.protection, "weak");
});

test("explain: chances of one word sum to no more than 1, and the word is among them", () => {
  const privatizer = load(files.tree, { epsilon: 10 });
  const { lookedUpAs, stay, likeliest } = privatizer.explain("DOCTOR");
  assert.equal(lookedUpAs, "doctor");
  assert.ok(Math.abs(stay - 0.03965) < 1e-5);
  assert.equal(likeliest.length, 10);
  assert.equal(privatizer.explain("can", "n't").lookedUpAs, "can");
  assert.equal(privatizer.explain("ca", "n’t").lookedUpAs, "can");
  const unknown = privatizer.explain("zyxqzyxq");
  assert.equal(unknown.lookedUpAs, null);
  assert.equal(unknown.stay, 0);
});
