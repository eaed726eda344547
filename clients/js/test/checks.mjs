// What holds in Node and in a browser alike: the client gives what Python gave.
import { Stream, blake2b, fromHex, hex, load, sha256, utf8 } from "../dist/node.js";
import { forged } from "./forge.mjs";

const PLANE = 0x1000;
const digest = (text) => hex(sha256(utf8(text))).slice(0, 12);

/** The texts that are cut otherwise, or whose words are looked up otherwise. */
export function tokenization({ tree, vectors }) {
  const { tokenizer } = load(tree);
  return vectors.texts.flatMap(([text, lengths, forms], number) => {
    const parts = tokenizer.cut(text);
    const words = parts.filter((_, i) => i % 2);
    const found = words.map((word, i) => tokenizer.canonical(word, words[i + 1] ?? ""));
    const isSame =
      parts.join("") === text &&
      String(parts.map((part) => part.length)) === String(lengths) &&
      digest(found.join("\n")) === forms;
    return isSame ? [] : [number];
  });
}

/** The blocks of 4,096 code points of which some has another canonical form. */
export function canonical({ tree, vectors }) {
  const { tokenizer } = load(tree);
  return vectors.canonical.flatMap((expected, block) => {
    const forms = [];
    for (let point = block * PLANE; point < (block + 1) * PLANE; point++) {
      if (point >= 0xd800 && point < 0xe000) continue;
      forms.push(tokenizer.canonical(String.fromCodePoint(point)));
    }
    return digest(forms.join("\n")) === expected ? [] : [block];
  });
}

export function releases({ tree, vectors }) {
  const key = fromHex(vectors.key, 32);
  const privatizer = load(tree);
  const by = new Map(privatizer.epsilons.map((e) => [e, privatizer.withEpsilon(e)]));
  return vectors.releases.flatMap(({ epsilon, id, column, text, release }, number) =>
    by.get(epsilon).privatize(text, { key, id, column }).text === release ? [] : [number],
  );
}

/** Draws that are undecided, of noise made so, and how much of it is used. */
export function redraws(files) {
  return files.vectors.redraws.flatMap(({ artifact, epsilon, block, text, words, used }, number) => {
    const privatizer = load(files[artifact], { epsilon });
    const stream = new Stream(fromHex(files.vectors.key, 32), block);
    stream.next32();
    const { text: found, spans } = privatizer.release(text, stream);
    const drawn = spans.map(({ start, end }) => found.slice(start, end));
    const after = new Stream(fromHex(files.vectors.key, 32), block);
    for (let i = 0; i < used; i++) after.next32();
    const isSame = String(drawn) === String(words) && after.next32() === stream.next32();
    return isSame ? [] : [number];
  });
}

/** The vectors of keyed noise that all implementations share, as far as they concern us. */
export function shared({ sixteen, bits, keyed: vectors }) {
  const bad = [];
  for (const { key, master } of vectors.masters) {
    const found = blake2b(fromHex(key, key.length / 2), undefined, "mondegreen-key");
    if (hex(found) !== master) bad.push(master);
  }
  let count = 0;
  for (const { space, mechanism, parameters, policies, key, id, column, texts, releases } of vectors.releases) {
    const artifact = { tree: sixteen, brr: bits }[mechanism];
    if (space !== "sixteen" || !artifact || Object.keys(policies).length) continue;
    const privatizer = load(artifact, { epsilon: parameters.epsilon });
    let place = 0;
    texts.forEach((text, i) => {
      if (text === null) return;
      count++;
      const record = { key: fromHex(key, key.length / 2), id, column, place: place++ };
      if (privatizer.privatize(text, record).text !== releases[i]) bad.push(id);
    });
  }
  return count ? bad : ["no vector was met"];
}

/** Releases under a policy: of both laws, scopes and structures, whose words are the same. */
export function policies({ policy, policies: { variants } }) {
  const key = Uint8Array.from({ length: 32 }, (_, i) => i);
  const bad = [];
  const { texts } = variants[0];
  variants.forEach(({ header, releases }, number) => {
    const privatizer = load(forged((all) => Object.assign(all, header), policy));
    releases.forEach((release, id) => {
      if (privatizer.privatize(texts[id], { key, id }).text !== release) bad.push([number, id]);
    });
  });
  return bad;
}

/** The vectors of policies that all doors share, as far as the artifact has them. */
export function doors({ policy, doors: { texts, releases: settings } }) {
  const key = Uint8Array.from({ length: 32 }, (_, i) => i);
  const digest = [...policy.subarray(-32)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const privatizer = load(policy, { epsilon: 12, digest });
  const own = settings.find((each) => each.settings.epsilon === 12 && each.settings.policy === "sensitive");
  if (own.policy !== privatizer.guarantee.space_digest) return ["another policy"];
  return texts.flatMap((text, id) => (privatizer.privatize(text, { key, id }).text === own.releases[id] ? [] : [id]));
}

/** 1,000,000 words and more in 10,000 records: a digest of all releases. */
export function million({ tree, records = 10_000 }) {
  const privatizer = load(tree, { epsilon: 10 });
  const { words } = privatizer.tables.artifact;
  const key = Uint8Array.from({ length: 32 }, (_, i) => i);
  let all = "";
  let count = 0;
  for (let id = 0; id < records; id++) {
    const text = Array.from({ length: 100 }, (_, i) => words[((id * 100 + i) * 7919) % words.length]);
    const { text: release, spans } = privatizer.privatize(text.join(" "), { key, id });
    all = hex(sha256(utf8(all + release)));
    count += spans.length;
  }
  return { digest: all, words: count };
}

/** Chi-square of fresh draws against the law, over the words of one input, and its freedom. */
export function unkeyed({ tree, sixteen }, draws = 60_000) {
  const cases = [
    [load(tree, { epsilon: 10 }), "doctor"],
    [load(tree, { epsilon: 4 }), "zyxq"],
    [load(sixteen, { epsilon: 3 }), "mildc"],
  ];
  return cases.map(([privatizer, word]) => {
    const { artifact } = privatizer.tables;
    const chances = privatizer.law.chances(privatizer.inputs(["", word, ""])[0]);
    const places = new Map(artifact.words.map((each, place) => [each, place]));
    const seen = new Float64Array(chances.length);
    const text = Array(draws / 100).fill(word).join(" ");
    for (let i = 0; i < 100; i++) {
      const { text: release, spans } = drawn(privatizer, text);
      for (const { start, end } of spans) seen[places.get(release.slice(start, end))]++;
    }
    // Words of equal chance are one cell where each is rare.
    const cells = new Map();
    chances.forEach((chance, place) => {
      const name = chance * draws >= 20 ? `word ${place}` : `chance ${chance.toPrecision(9)}`;
      const cell = cells.get(name) ?? { expected: 0, seen: 0 };
      cells.set(name, { expected: cell.expected + chance * draws, seen: cell.seen + seen[place] });
    });
    let square = 0;
    for (const cell of cells.values()) square += (cell.seen - cell.expected) ** 2 / cell.expected;
    return { square, freedom: cells.size - 1, least: Math.min(...Array.from(cells.values(), (c) => c.expected)) };
  });
}

/** A fresh draw in which words that are never printed keep their own names. */
function drawn(privatizer, text) {
  const key = globalThis.crypto.getRandomValues(new Uint8Array(32));
  const { printed, words } = privatizer.tables.artifact;
  for (let i = 0; i < words.length; i++) printed[i] = words[i];
  return privatizer.release(text, new Stream(key));
}

