import { sha256 } from "@noble/hashes/sha2.js";

import { hex, numbers, signed } from "./bytes.js";
import { argumentError, artifactError } from "./errors.js";
import { type Protection, WEAK, isAtMost, protection, worse } from "./protection.js";
import type { Lists } from "./text.js";
import type { Parts } from "./unicode.js";

const FORMAT = "mondegreen-device/1";
const DIGEST = 32;
const HEADER =
  "format mechanism space public words unicode text policies noise adversary settings sections";
const TEXT = "signs currency blanks apostrophes gap same longest endings hosts";
const SETTING = "epsilon digest guarantee summary preview protection";
const GUARANTEE =
  "mechanism parameters epsilon metric scale space space_digest certified_how proof certified delta " +
  "equivalents unit hides_among disclosed conditions assumptions noise noise_is_secret protection";
const PREVIEW = "of words unchanged near recovered";
const SECTIONS = "words classes removed combining sigma decompositions compositions lower";
const POLICY = "rules ordinary groups rest name address hosts";
const OF_POLICY = "known shared counts capitals upper starts first letters";
/** Number of the rules of lookup, formats and printing that this client has. */
const RULES = 5;
const MOST = 1 << 24; // words
const REST = "s g d r p";
/** Number words and times that are formats of a few words; and how few one may have. */
const FORMATS: ReadonlyMap<string, readonly string[]> = new Map([
  [
    "number_word",
    "two to nine,ten to ninety,hundred and more,hundreds and more,ordinal,Roman".split(","),
  ],
  ["time", "weekday,weekdays,short weekday,month,short month,season".split(",")],
]);
const FEWEST = 5;
/** What each mechanism adds: its public table, the law of a setting, and its sections. */
const OWN: Readonly<Record<string, readonly [string, string, string]>> = {
  tree: ["tree", "weights", "printed tree"],
  brr: ["codes", "threshold", "printed codes unknown counts"],
  urr: ["", "stray", OF_POLICY],
  krr: ["", "stray", OF_POLICY],
};
const OVER_POLICIES = ["urr", "krr"];
/** The policies that are known, for words of a space and for symbols of a policy. */
const POLICIES: Readonly<Record<string, readonly string[]>> = {
  case: ["lower"],
  structure: ["keep"],
  unknown: ["word"],
};
const POLICIES_OF_SYMBOLS: typeof POLICIES = {
  case: ["truecase"],
  structure: ["keep", "plain"],
  unknown: ["word"],
  same: ["place", "record"],
};

/** What passes in clear. An artifact that lets more pass would make its promise void. */
const CLEAR: Partial<Lists> = {
  signs: "!\"#%&'()*+,-./:;<=>?@[\\]^_`{|}~‘’‚“”„«»‹›–—…•·¡¿、。，！？：；（）「」『』،؛؟।",
  currency: "$¢£¥€₹₩₽",
  blanks: " \t\n\r\u00a0",
  apostrophes: "'’",
  gap: 8,
  same: 32,
};
/** The names of all that a guarantee discloses, and whom it protects. */
const DISCLOSED: Readonly<Record<string, readonly string[]>> = {
  keep: ["number and positions of words", "white space and punctuation", "the ending 's"],
  plain: ["number of words"],
};
const GROUPED = "0 within a group of the policy, 1 otherwise";
const UNIT = "one word, at its place in one text";

/**
 * What is promised, in the fields of `Guarantee.to_dict()` of the Python package.
 *
 * Without a digest, only what this client checks or computes: fields that are sentences, names or
 * measurements of the artifact are missing, and `disclosed` has names alone.
 */
export interface Guarantee {
  readonly mechanism: string;
  readonly epsilon: number;
  readonly certified: number | null;
  readonly metric: string;
  readonly certified_how?: string;
  readonly scale?: Readonly<Record<string, number>>;
  readonly hides_among: number | null;
  readonly disclosed: readonly string[];
  readonly conditions: readonly string[];
  readonly noise?: string;
  readonly noise_is_secret: boolean;
  readonly protection: Protection;
  readonly [field: string]: unknown;
}

/** A guarantee as an artifact has it, with all fields. */
export type Told = Required<Guarantee>;

/** The guarantee without what anybody may have written, and with the protection that was computed. */
export function checkedOf(guarantee: Told, word: Protection): Guarantee {
  const { mechanism, epsilon, certified, metric, delta, unit, hides_among, conditions, noise_is_secret } = guarantee;
  const disclosed = guarantee.disclosed.map((each) => each.split(":")[0]!);
  const checked = { mechanism, epsilon, metric, certified, delta, unit, hides_among, disclosed, conditions };
  return { ...checked, noise_is_secret, protection: word };
}

/** What was measured of a setting, in the fields of `Preview.to_dict()`; no guarantee. */
export interface Measured {
  /** Whose words these are. */
  readonly of: string;
  readonly words: number;
  /** Share of words that are unchanged. */
  readonly unchanged: number;
  /** Share that is unchanged or becomes a word of near meaning; null without vectors. */
  readonly near: number | null;
  /** Share that the `adversary` recovers; null where nobody has tried. */
  readonly recovered: number | null;
  /** Under a policy: share of words that are ordinary and shown; all others are of the rest. */
  readonly shown?: number;
  /**
   * Under a shipped policy: the least and the largest share of sensitive words that an attacker
   * with other texts of the same domain recovered, and in how many kinds of texts.
   */
  readonly in_domain?: readonly [number, number, number] | null;
}

/** One epsilon of an artifact. */
export interface Setting {
  readonly epsilon: number;
  /** Integers over 2^62, of each level of the tree, words first. */
  readonly weights?: readonly string[];
  /** Of 2^64: how often a bit flips, under brr. */
  readonly threshold?: string;
  /** Of 2^62: the weight of each symbol of a policy that comes out for another one. */
  readonly stray?: string;
  /** SHA-256 of all that shapes a draw, for keyed releases. */
  readonly digest: string;
  readonly guarantee: Told;
  readonly summary: string;
  readonly preview: Measured;
  /** The worst of what is proved and of what was measured, in one word. */
  readonly protection: Protection;
}

/** What an artifact says of a policy beside its words. */
export interface PolicyHeader {
  readonly rules: number;
  /** Number of ordinary words, which are the first. */
  readonly ordinary: number;
  /** Class, form and number of printed words of each group. */
  readonly groups: readonly (readonly [string, string, number])[];
  /** The group of unknown words of each form, and of unknown names. */
  readonly rest: Readonly<Record<string, number>>;
  readonly name: number;
  /** Words that are ordinary in addresses too. */
  readonly address: readonly string[];
  /** Ordinary words that each ending is joined to; behind others it is spelled out. */
  readonly hosts: Readonly<Record<string, readonly string[]>>;
}

export interface Header {
  readonly format: string;
  readonly mechanism: string;
  readonly space: { readonly name: string; readonly digest: string };
  readonly public: Readonly<Record<string, string>>;
  readonly words: number;
  readonly policy?: PolicyHeader;
  readonly unicode: { readonly tokenizer: string; readonly lookup: string };
  readonly text: Lists;
  readonly policies: Readonly<Record<string, string>>;
  readonly noise: { readonly fresh: string; readonly keyed: string };
  readonly adversary: string;
  readonly settings: readonly Setting[];
  readonly sections: readonly (readonly [string, number])[];
}

/** An artifact that is whole, and asks for nothing that this client does not know. */
export interface Artifact {
  readonly header: Header;
  /** SHA-256 of all before it, in hex. */
  readonly digest: string;
  /** The words, each at its place. */
  readonly words: readonly string[];
  /** What is printed at each place: the word itself, unless it is never printed. */
  readonly printed: readonly string[];
  readonly part: Parts;
}

/** Read an artifact; one that is not whole, or has another digest, is refused. */
export function parse(bytes: Uint8Array, expected?: string): Artifact {
  const start = FORMAT.length + 1;
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) throw artifactError("it is packed: unpack it first");
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const magic = String.fromCharCode(...bytes.subarray(0, start));
  if (magic !== `${FORMAT}\n`) throw artifactError(`it does not begin with ${FORMAT}`);
  const end = bytes.length - DIGEST;
  const digest = hex(bytes.subarray(Math.max(end, 0)));
  if (end < start + 4 || hex(sha256(bytes.subarray(0, end))) !== digest) {
    throw artifactError("it is cut off or changed: its digest is another one");
  }
  if (expected !== undefined && typeof expected !== "string") throw argumentError("digest", "a string, or not given");
  if (expected !== undefined && expected.toLowerCase() !== digest) {
    throw artifactError("its digest is not the one that was asked for");
  }
  const size = new DataView(bytes.buffer, bytes.byteOffset + start, 4).getUint32(0, true);
  const found = decoded(() => JSON.parse(decoder.decode(bytes.subarray(start + 4, start + 4 + size))));
  const header = checked(found);
  const parts = new Map<string, Uint8Array>();
  let at = start + 4 + size;
  for (const [name, length] of header.sections) {
    parts.set(name, bytes.subarray(at, (at += length)));
  }
  if (at !== end) throw artifactError("its parts are not as long as it says");
  const part = (name: string): Uint8Array => {
    const found = parts.get(name);
    if (!found) throw artifactError(`it has no part ${name}`);
    return found;
  };
  const words = decoded(() => decoder.decode(part("words"))).split("\n");
  if (words.length !== header.words || new Set(words).size !== words.length || words.includes("")) {
    throw artifactError("its words are not as many as it says, or one is there twice");
  }
  const steps = header.policy ? [] : numbers(part("printed"));
  return { header, digest, words, printed: printed(words, steps), part };
}

function decoded<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw artifactError("it is no UTF-8 or JSON where it must be");
  }
}

/** What this client does not know could matter, so it is refused. */
function checked(header: Header): Header {
  const isPolicy = OVER_POLICIES.includes(header?.mechanism);
  only("header", header, isPolicy ? `${HEADER} policy` : HEADER);
  const own = Object.hasOwn(OWN, header.mechanism) ? OWN[header.mechanism] : undefined;
  if (!own) throw artifactError("its mechanism is none that this client knows");
  const known = isPolicy ? POLICIES_OF_SYMBOLS : POLICIES;
  only("space", header.space, "name digest");
  only("public tables", header.public, own[0]);
  only("versions", header.unicode, "tokenizer lookup");
  only("text", header.text, TEXT);
  only("policies", header.policies, Object.keys(known).join(" "));
  only("noise", header.noise, "fresh keyed");
  const policies = Object.entries(header.policies);
  if (header.format !== FORMAT || policies.some(([name, value]) => !known[name]!.includes(value))) {
    throw artifactError("its format or a policy is none that this client knows");
  }
  const clear = Object.keys(CLEAR) as (keyof Lists)[];
  if (clear.some((name) => header.text[name] !== CLEAR[name])) {
    throw artifactError("it lets other characters pass in clear than this client knows");
  }
  if (isPolicy) checkPolicy(header.policy!, header.text.endings);
  listed(header.settings).forEach((each) => checkSetting(each, header, own[1]));
  // Two laws of one digest would share their keyed noise.
  const given = header.settings.map(({ epsilon, digest }) => [epsilon, digest] as const);
  const isTwice = [0, 1].some((i) => new Set(given.map((each) => each[i])).size < given.length);
  if (!given.length || isTwice) throw artifactError("it has no setting, or one twice");
  const names = listed(header.sections).map((pair) => {
    const [name, size, ...more] = listed<unknown>(pair);
    if (more.length || !Number.isSafeInteger(size) || Number(size) < 0) {
      throw artifactError("its parts are not as long as it says");
    }
    return String(name);
  });
  exactly("sections", names, `${SECTIONS} ${own[2]}`);
  return header;
}

/** Refuse groups that are none, and numbers that name none. */
function checkPolicy(policy: PolicyHeader, endings: Lists["endings"]): void {
  only("policy", policy, POLICY);
  only("forms of unknown words", policy.rest, REST);
  only("hosts", policy.hosts, Object.keys(endings).join(" "));
  const groups = listed<readonly unknown[]>(policy.groups);
  const isCount = (value: unknown, most: number): boolean =>
    Number.isInteger(value) && within(value, 0, most);
  const isWhole =
    policy.rules === RULES &&
    isCount(policy.ordinary, MOST) &&
    groups.length > 0 &&
    groups.every((group) => {
      const [name, form, size, ...more] = listed(group);
      const isNamed = typeof name === "string" && typeof form === "string" && !more.length;
      return isNamed && isCount(size, MOST) && size !== 0;
    }) &&
    [policy.name, ...Object.values(policy.rest)].every((group) => isCount(group, groups.length - 1)) &&
    [policy.address, ...Object.values(policy.hosts)].every((words) =>
      listed<unknown>(words).every((word) => typeof word === "string"),
    );
  if (!isWhole) throw artifactError("its policy is none that this client knows");
}

/** What a guarantee must say of an artifact beside its law. */
function expectedOf({ mechanism, words, policy, policies }: Header): {
  hidesAmong: number;
  conditions: string;
  disclosed: string;
} {
  const names = [...DISCLOSED[policies["structure"]!]!];
  if (!policy) return { hidesAmong: words, conditions: "", disclosed: names.join() };
  if (mechanism === "urr") names.unshift("ordinary words");
  names.push("lines in title case", "lines in capitals", "character references", "dates and times");
  names.push(policies["structure"] === "keep" ? "separators of numbers" : "removed signs");
  if (policies["same"] === "record") names.push("equal words");
  const conditions = mechanism === "urr" ? "are sensitive words of the policy" : "";
  const kinds = policy.groups.filter((group) => !isFormat(group));
  const hidesAmong = Math.min(...kinds.map(([, , size]) => size));
  return { hidesAmong, conditions, disclosed: names.join() };
}

/** Formats, as digits are: they do not count for what a word hides among. */
function isFormat([kind, form, size]: readonly [string, string, number]): boolean {
  return !!FORMATS.get(kind)?.includes(form) && size >= FEWEST;
}

function checkSetting(setting: Setting, header: Header, law: string): void {
  const { mechanism, policy } = header;
  const { hidesAmong, conditions, disclosed: mustSay } = expectedOf(header);
  only("setting", setting, `${SETTING} ${law}`);
  const { epsilon, digest, guarantee, summary, preview } = setting;
  only("guarantee", guarantee, GUARANTEE);
  only("preview", preview, policy ? `${PREVIEW} shown in_domain` : PREVIEW);
  const { certified } = guarantee;
  const disclosed = listed(guarantee.disclosed).map((each) => String(each).split(":")[0]);
  const isPromise =
    within(epsilon, Number.MIN_VALUE, Number.MAX_VALUE) &&
    guarantee.mechanism === mechanism &&
    guarantee.epsilon === epsilon &&
    guarantee.noise_is_secret === true &&
    !String(guarantee.certified_how).startsWith("not proved") &&
    (certified === null || within(certified, 0, Number.MAX_VALUE)) &&
    guarantee.delta === 0 &&
    guarantee.unit === UNIT &&
    guarantee.hides_among === hidesAmong &&
    listed(guarantee.conditions).join() === conditions &&
    disclosed.join() === mustSay &&
    (!policy || isGrouped(guarantee, mechanism));
  if (!isPromise) throw artifactError("a setting promises nothing, or something else than it is");
  const integers = listed<unknown>(setting.weights ?? [setting.threshold ?? setting.stray]);
  const isTold =
    integers.every((each) => typeof each === "string") &&
    typeof guarantee.metric === "string" &&
    typeof guarantee.scale === "object" &&
    guarantee.scale !== null &&
    /^[0-9a-f]{64}$/.test(digest) &&
    within(preview.unchanged, 0, 1) &&
    (preview.near === null || within(preview.near, 0, 1)) &&
    (preview.recovered === null || within(preview.recovered, 0, 1)) &&
    (preview.shown === undefined || within(preview.shown, 0, 1)) &&
    isOfDomains(preview.in_domain ?? null) &&
    typeof preview.of === "string" &&
    typeof summary === "string";
  if (!isTold) throw artifactError("a field of a setting is not what it must be");
  checkProtection(setting, policy !== undefined);
}

/** Whether these are a least share, a largest one and a number of kinds of texts. */
function isOfDomains(found: readonly [number, number, number] | null): boolean {
  if (found === null) return true;
  const [least, most, kinds] = listed(found);
  return found.length === 3 && within(least, 0, 1) && within(most, least, 1) && within(kinds, 1, MOST);
}

/** Whether the metric is that of groups, in which any two words are at most 1 apart. */
function isGrouped({ metric, scale }: Told, mechanism: string): boolean {
  const whose = mechanism === "urr" ? "on sensitive words: " : "";
  return metric === whose + GROUPED && scale?.["diameter"] === 1;
}

/** Refuse words that are better than the loss that is claimed and the shares that were measured. */
function checkProtection(setting: Setting, isPolicy: boolean): void {
  const { epsilon, guarantee, preview, protection: word } = setting;
  const { unchanged, near, recovered } = preview;
  const loss = (guarantee.certified ?? epsilon) * Number(guarantee.scale["diameter"]);
  // Words of one group lose nothing, and ordinary ones are shown: never vacuous, never strong.
  const proved = isPolicy ? worse("moderate", protection({ loss: Math.min(loss, WEAK) })) : protection({ loss });
  const measured = protection({
    recovered: Math.max(unchanged, recovered ?? 0),
    near: near ?? 0,
  });
  if (!isAtMost(guarantee.protection, proved) || !isAtMost(word, worse(proved, measured))) {
    throw artifactError("it names more protection than its figures give");
  }
}

function within(value: unknown, least: number, most: number): value is number {
  return typeof value === "number" && value >= least && value <= most;
}

function listed<T>(value: readonly T[]): readonly T[] {
  if (!Array.isArray(value)) throw artifactError("its header holds no list where one must be");
  return value;
}

/** Refuse an object that has other fields than these. */
function only(what: string, value: object, fields: string): void {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  exactly(what, isObject ? Object.keys(value) : [], fields);
}

function exactly(what: string, names: readonly string[], expected: string): void {
  if ([...names].sort().join(" ") !== expected.split(" ").sort().join(" ")) {
    throw artifactError(`it has other fields than this client knows: ${what}`);
  }
}

function printed(words: readonly string[], steps: readonly number[]): string[] {
  const found = [...words];
  let place = 0;
  for (let i = 0; i + 1 < steps.length; i += 2) {
    place += steps[i]!;
    const other = words[place + signed(steps[i + 1]!)];
    if (place >= words.length || other === undefined) {
      throw artifactError("it prints what is no word");
    }
    found[place] = other;
  }
  return found;
}
