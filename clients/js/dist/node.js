// src/errors.ts
var MondegreenError = class extends Error {
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
  kind;
  name = "MondegreenError";
};
function artifactError(problem) {
  return new MondegreenError("artifact", `not an artifact to use: ${problem}`);
}
function argumentError(name, allowed) {
  return new MondegreenError("argument", `${name} must be ${allowed}`);
}

// src/bytes.ts
function utf8(text) {
  const found = new Uint8Array(3 * text.length);
  let size = 0;
  for (const char of text) {
    const point = char.codePointAt(0);
    if (point < 128) {
      found[size++] = point;
      continue;
    }
    const more = point < 2048 ? 1 : point < 65536 ? 2 : 3;
    found[size++] = 65280 >> more + 1 & 255 | point >> 6 * more;
    for (let left = more - 1; left >= 0; left--) {
      found[size++] = 128 | point >> 6 * left & 63;
    }
  }
  return found.subarray(0, size);
}
function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
function fromHex(text, size) {
  if (typeof text !== "string" || !new RegExp(`^[0-9a-f]{${2 * size}}$`).test(text)) {
    throw artifactError("a digest in it is none");
  }
  return Uint8Array.from({ length: size }, (_, i) => parseInt(text.substr(2 * i, 2), 16));
}
function joined(parts) {
  const found = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    found.set(part, at);
    at += part.length;
  }
  return found;
}
function numbers(bytes) {
  const found = [];
  let value = 0;
  let scale = 1;
  for (const byte of bytes) {
    value += (byte & 127) * scale;
    scale *= 128;
    if (byte < 128) {
      if (value > 4294967295) throw artifactError("a number in it is too large");
      found.push(value);
      value = 0;
      scale = 1;
    }
  }
  if (scale > 1) throw artifactError("its last number is cut off");
  return found;
}
function signed(value) {
  return value % 2 ? -(value + 1) / 2 : value / 2;
}

// src/blake2b.ts
var START = Uint32Array.of(
  4089235720,
  1779033703,
  2227873595,
  3144134277,
  4271175723,
  1013904242,
  1595750129,
  2773480762,
  2917565137,
  1359893119,
  725511199,
  2600822924,
  4215389547,
  528734635,
  327033209,
  1541459225
);
var ORDERS = [
  "0123456789abcdef",
  "ea489fd61c02b753",
  "b8c052fdae367194",
  "7931dcbe265a40f8",
  "905724afe1bc683d",
  "2c6a0b834d75fe19",
  "c51fed4a0763928b",
  "db7ec13950f4862a",
  "6fe9b308c2d714a5",
  "a2847615fb9e3cd0"
].map((row) => Array.from(row, (digit) => parseInt(digit, 16)));
var ROUNDS = 12;
var BLOCK = 128;
var SIZE = 32;
var v = new Uint32Array(32);
var m = new Uint32Array(32);
function add(a, low, high) {
  const sum = v[a] + low;
  v[a + 1] = v[a + 1] + high + (sum >= 2 ** 32 ? 1 : 0);
  v[a] = sum;
}
function mix(a, b, by) {
  const low = v[a] ^ v[b];
  const high = v[a + 1] ^ v[b + 1];
  if (by === 32) {
    v[a] = high;
    v[a + 1] = low;
  } else if (by === 63) {
    v[a] = high >>> 31 | low << 1;
    v[a + 1] = low >>> 31 | high << 1;
  } else {
    v[a] = low >>> by | high << 32 - by;
    v[a + 1] = high >>> by | low << 32 - by;
  }
}
function step(a, b, c, d, x, y) {
  add(a, v[b], v[b + 1]);
  add(a, m[x], m[x + 1]);
  mix(d, a, 32);
  add(c, v[d], v[d + 1]);
  mix(b, c, 24);
  add(a, v[b], v[b + 1]);
  add(a, m[y], m[y + 1]);
  mix(d, a, 16);
  add(c, v[d], v[d + 1]);
  mix(b, c, 63);
}
function compress(state, block, bytes, isLast) {
  v.set(state);
  v.set(START, 16);
  v[24] = v[24] ^ bytes >>> 0;
  v[25] = v[25] ^ Math.floor(bytes / 2 ** 32);
  if (isLast) {
    v[28] = ~v[28];
    v[29] = ~v[29];
  }
  for (let i = 0; i < 32; i++) m[i] = block.getUint32(4 * i, true);
  for (let round = 0; round < ROUNDS; round++) {
    const s = ORDERS[round % 10];
    for (let i = 0; i < 4; i++) {
      step(2 * i, 8 + 2 * i, 16 + 2 * i, 24 + 2 * i, 2 * s[2 * i], 2 * s[2 * i + 1]);
    }
    for (let i = 0; i < 4; i++) {
      const [b, c, d] = [8 + 2 * ((i + 1) % 4), 16 + 2 * ((i + 2) % 4), 24 + 2 * ((i + 3) % 4)];
      step(2 * i, b, c, d, 2 * s[8 + 2 * i], 2 * s[9 + 2 * i]);
    }
  }
  for (let i = 0; i < 16; i++) state[i] = state[i] ^ v[i] ^ v[i + 16];
}
function blake2b(data, key = new Uint8Array(), person = "") {
  const parameters = new Uint8Array(64);
  parameters.set([SIZE, key.length, 1, 1]);
  parameters.set(Array.from(person, (char) => char.charCodeAt(0)), 48);
  const view = new DataView(parameters.buffer);
  const state = START.map((word, i) => word ^ view.getUint32(4 * i, true));
  let whole = data;
  if (key.length) {
    const first = new Uint8Array(BLOCK);
    first.set(key);
    whole = joined([first, data]);
  }
  let at = 0;
  for (; at + BLOCK < whole.length; at += BLOCK) {
    compress(state, new DataView(whole.buffer, whole.byteOffset + at, BLOCK), at + BLOCK, false);
  }
  const last = new Uint8Array(BLOCK);
  last.set(whole.subarray(at));
  compress(state, new DataView(last.buffer), whole.length, true);
  const found = new DataView(new ArrayBuffer(SIZE));
  for (let i = 0; i < SIZE / 4; i++) found.setUint32(4 * i, state[i], true);
  return new Uint8Array(found.buffer);
}

// src/chacha20.ts
var CONSTANTS = [1634760805, 857760878, 2036477234, 1797285236];
var ROUNDS2 = 20;
var Stream = class {
  input = new Uint32Array(16);
  block = new Uint32Array(16);
  place = 16;
  constructor(key, block) {
    if (key.length !== 32) throw new RangeError("a stream needs a key of 32 bytes");
    this.input.set(CONSTANTS);
    const view = new DataView(key.buffer, key.byteOffset, 32);
    for (let i = 0; i < 8; i++) this.input[4 + i] = view.getUint32(4 * i, true);
    if (block) {
      this.fill();
      this.block.set(block);
    }
  }
  next32() {
    if (this.place === 16) this.fill();
    return this.block[this.place++];
  }
  next64() {
    const low = BigInt(this.next32());
    return BigInt(this.next32()) << 32n | low;
  }
  /** An integer below `count`, at most 2^32, without bias; 0 and no word where it is 1. */
  below(count) {
    if (count <= 1) return 0;
    const excluded = BigInt(count);
    const threshold = (1n << 32n) % excluded;
    for (; ; ) {
      const product = BigInt(this.next32()) * excluded;
      if ((product & 0xffffffffn) >= threshold) return Number(product >> 32n);
    }
  }
  fill() {
    const x = this.block;
    x.set(this.input);
    for (let round = 0; round < ROUNDS2; round += 2) {
      quarter(x, 0, 4, 8, 12);
      quarter(x, 1, 5, 9, 13);
      quarter(x, 2, 6, 10, 14);
      quarter(x, 3, 7, 11, 15);
      quarter(x, 0, 5, 10, 15);
      quarter(x, 1, 6, 11, 12);
      quarter(x, 2, 7, 8, 13);
      quarter(x, 3, 4, 9, 14);
    }
    for (let i = 0; i < 16; i++) x[i] = x[i] + this.input[i];
    this.input[12] = this.input[12] + 1;
    if (!this.input[12]) this.input[13] = this.input[13] + 1;
    this.place = 0;
  }
};
function quarter(x, a, b, c, d) {
  turn(x, a, b, d, 16);
  turn(x, c, d, b, 12);
  turn(x, a, b, d, 8);
  turn(x, c, d, b, 7);
}
function turn(x, to, from, mixed, by) {
  x[to] = x[to] + x[from];
  const both = x[mixed] ^ x[to];
  x[mixed] = both << by | both >>> 32 - by;
}

// src/jsonl.ts
var DEEPEST = 500;
var INTEGER = /^(?:0|-?[1-9][0-9]*)$/;
var SCALAR = /true|false|null|NaN|-?Infinity|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
var STRING = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
var SPACE = /[ \t\n\r]*/y;
var LONE = /\p{Cs}/u;
function isBlank(line) {
  return /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/.test(line);
}
function scan(line, column, idKey) {
  return new Scanner(line, column, idKey).scan();
}
var Scanner = class {
  constructor(line, column, idKey) {
    this.line = line;
    this.column = column;
    this.idKey = idKey;
  }
  line;
  column;
  idKey;
  at = 0;
  values = [];
  ids = [];
  hasColumn = false;
  scan() {
    this.space();
    if (this.line[this.at] !== "{") throw bad("not a valid JSON object");
    this.object(0, (key) => this.field(key));
    this.space();
    if (this.at !== this.line.length) throw bad("not a valid JSON object");
    if (!this.hasColumn) throw bad("it lacks the column of texts");
    if (this.idKey !== null && this.ids.length !== 1) throw bad("it needs one id, and has not");
    return { id: this.ids[0] ?? null, values: this.values };
  }
  field(key) {
    if (key === this.column) {
      this.hasColumn = true;
      this.texts(1);
    } else if (key === this.idKey) {
      this.ids.push(this.id());
    } else {
      this.value(1);
    }
  }
  texts(depth) {
    const start = this.at;
    const mark = this.line[start];
    if (mark === "[") {
      this.list(depth, () => this.texts(depth + 1));
      return;
    }
    if (mark !== '"' && mark !== "n") {
      throw bad("its text is neither a string nor null nor a list of these");
    }
    const raw = this.value(depth);
    const text = mark === "n" ? null : JSON.parse(raw);
    if (text !== null && LONE.test(text)) throw bad("half of a surrogate pair in a text");
    this.values.push({ start, end: this.at, text });
  }
  id() {
    const raw = this.value(1);
    const id = raw.startsWith('"') ? JSON.parse(raw) : INTEGER.test(raw) ? raw : "";
    if (!id || LONE.test(id)) throw bad("its id is neither a string nor an integer, or empty");
    return id;
  }
  /** Go past a value, and return its text. */
  value(depth) {
    const start = this.at;
    const mark = this.line[start];
    if (mark === "{") this.object(depth, () => this.value(depth + 1));
    else if (mark === "[") this.list(depth, () => this.value(depth + 1));
    else this.match(mark === '"' ? STRING : SCALAR);
    return this.line.slice(start, this.at);
  }
  object(depth, field) {
    this.items(depth, "}", () => {
      const key = JSON.parse(this.match(STRING));
      this.space();
      if (this.line[this.at++] !== ":") throw bad("not a valid JSON object");
      this.space();
      field(key);
    });
  }
  list(depth, item) {
    this.items(depth, "]", item);
  }
  items(depth, end, item) {
    if (depth > DEEPEST) throw bad("nested too deeply");
    this.at++;
    this.space();
    if (this.line[this.at] === end) {
      this.at++;
      return;
    }
    for (; ; ) {
      item();
      this.space();
      const mark = this.line[this.at++];
      if (mark === end) return;
      if (mark !== ",") throw bad("not a valid JSON object");
      this.space();
    }
  }
  space() {
    this.match(SPACE);
  }
  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.line);
    if (!found) throw bad("not a valid JSON object");
    this.at = pattern.lastIndex;
    return found[0];
  }
};
function bad(problem) {
  return new MondegreenError("data", problem);
}

// src/sha256.ts
var CONSTANTS2 = new Uint32Array(64);
var START2 = new Uint32Array(8);
function fraction(prime, power) {
  const root = prime ** power;
  return Math.floor((root - Math.floor(root)) * 2 ** 32);
}
for (let number = 2, count = 0; count < 64; number++) {
  let isPrime = true;
  for (let d = 2; d * d <= number; d++) isPrime &&= number % d > 0;
  if (!isPrime) continue;
  if (count < 8) START2[count] = fraction(number, 1 / 2);
  CONSTANTS2[count++] = fraction(number, 1 / 3);
}
function rotated(x, by) {
  return x >>> by | x << 32 - by;
}
function sha256(data) {
  const padded = new Uint8Array((data.length + 8 >> 6) + 1 << 6);
  padded.set(data);
  padded[data.length] = 128;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(data.length / 2 ** 29));
  view.setUint32(padded.length - 4, data.length << 3);
  const state = START2.slice();
  const words = new Uint32Array(64);
  for (let at = 0; at < padded.length; at += 64) compress2(state, words, view, at);
  const found = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => found.setUint32(4 * i, word));
  return new Uint8Array(found.buffer);
}
function compress2(state, words, view, at) {
  for (let i = 0; i < 16; i++) words[i] = view.getUint32(at + 4 * i);
  for (let i = 16; i < 64; i++) {
    const x = words[i - 15];
    const y = words[i - 2];
    const low = rotated(x, 7) ^ rotated(x, 18) ^ x >>> 3;
    const high = rotated(y, 17) ^ rotated(y, 19) ^ y >>> 10;
    words[i] = words[i - 16] + low + words[i - 7] + high;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i++) {
    const high = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const first = h + high + (e & f ^ ~e & g) + CONSTANTS2[i] + words[i] | 0;
    const low = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const second = low + (a & b ^ a & c ^ b & c) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, d + first | 0, c, b, a, first + second | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => state[i] = state[i] + word);
}

// src/noise.ts
var KEY = 32;
var LEAST_BYTES = 8;
function fresh() {
  return new Stream(globalThis.crypto.getRandomValues(new Uint8Array(KEY)));
}
function keyed(keyed2, settings, text) {
  const { key, id, column = "text", place = 0, ...unknown } = keyed2;
  if (Object.keys(unknown).length) throw argumentError("options", "key, id, column and place");
  if (!isKey(key)) throw argumentError("key", "at least 32 random bytes");
  if (typeof column !== "string") throw argumentError("column", "a string");
  if (!Number.isSafeInteger(place) || place < 0) throw argumentError("place", "0, 1, 2 ...");
  const record = recordId(id);
  const master = blake2b(key, void 0, "mondegreen-key");
  const scope = sha256(joined([fromHex(settings, KEY), utf8(column)]));
  const fields = [blake2b(scope), blake2b(utf8(record)), bytes8(place), blake2b(utf8(text))];
  return new Stream(blake2b(joined(fields), master, "mondegreen-rec"));
}
function isKey(key) {
  return key instanceof Uint8Array && key.length >= KEY && new Set(key).size >= LEAST_BYTES;
}
function recordId(id) {
  if (typeof id === "string" && id) return id;
  if (typeof id === "bigint" || Number.isSafeInteger(id)) return String(id).replace(/^-0$/, "0");
  throw argumentError("id", "a string that is not empty, or an integer");
}
function bytes8(value) {
  const found = new DataView(new ArrayBuffer(8));
  found.setBigUint64(0, BigInt(value), true);
  return new Uint8Array(found.buffer);
}

// src/artifact.ts
var FORMAT = "mondegreen-device/1";
var DIGEST = 32;
var HEADER = "format mechanism space public words unicode text policies noise adversary settings sections";
var TEXT = "signs currency blanks apostrophes gap same longest endings hosts";
var SETTING = "epsilon digest guarantee summary preview protection";
var GUARANTEE = "mechanism parameters epsilon metric scale space space_digest certified_how proof certified delta equivalents unit hides_among disclosed conditions assumptions noise noise_is_secret protection";
var PREVIEW = "of words unchanged near recovered";
var PROTECTION = ["strong", "moderate", "weak", "vacuous"];
var SECTIONS = "words printed classes removed combining sigma decompositions compositions lower";
var OWN = {
  tree: ["tree", "weights", "tree"],
  brr: ["codes", "threshold", "codes unknown counts"]
};
var POLICIES = {
  case: "lower",
  structure: "keep",
  unknown: "word"
};
function parse(bytes, expected) {
  const start = FORMAT.length + 1;
  if (bytes[0] === 31 && bytes[1] === 139) throw artifactError("it is packed: unpack it first");
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const magic = String.fromCharCode(...bytes.subarray(0, start));
  if (magic !== `${FORMAT}
`) throw artifactError(`it does not begin with ${FORMAT}`);
  const end = bytes.length - DIGEST;
  const digest = hex(bytes.subarray(Math.max(end, 0)));
  if (end < start + 4 || hex(sha256(bytes.subarray(0, end))) !== digest) {
    throw artifactError("it is cut off or changed: its digest is another one");
  }
  if (expected !== void 0 && expected.toLowerCase() !== digest) {
    throw artifactError("its digest is not the one that was asked for");
  }
  const size = new DataView(bytes.buffer, bytes.byteOffset + start, 4).getUint32(0, true);
  const found = decoded(() => JSON.parse(decoder.decode(bytes.subarray(start + 4, start + 4 + size))));
  const header = checked(found);
  const parts = /* @__PURE__ */ new Map();
  let at = start + 4 + size;
  for (const [name, length2] of header.sections) {
    parts.set(name, bytes.subarray(at, at += length2));
  }
  if (at !== end) throw artifactError("its parts are not as long as it says");
  const part = (name) => {
    const found2 = parts.get(name);
    if (!found2) throw artifactError(`it has no part ${name}`);
    return found2;
  };
  const words = decoded(() => decoder.decode(part("words"))).split("\n");
  if (words.length !== header.words || new Set(words).size !== words.length || words.includes("")) {
    throw artifactError("its words are not as many as it says, or one is there twice");
  }
  return { header, digest, words, printed: printed(words, numbers(part("printed"))), part };
}
function decoded(read) {
  try {
    return read();
  } catch {
    throw artifactError("it is no UTF-8 or JSON where it must be");
  }
}
function checked(header) {
  only("header", header, HEADER);
  const own = Object.hasOwn(OWN, header.mechanism) ? OWN[header.mechanism] : void 0;
  if (!own) throw artifactError("its mechanism is none that this client knows");
  only("space", header.space, "name digest");
  only("public tables", header.public, own[0]);
  only("versions", header.unicode, "tokenizer lookup");
  only("text", header.text, TEXT);
  only("policies", header.policies, Object.keys(POLICIES).join(" "));
  only("noise", header.noise, "fresh keyed");
  const policies = Object.entries(header.policies);
  if (header.format !== FORMAT || policies.some(([name, value]) => POLICIES[name] !== value)) {
    throw artifactError("its format or a policy is none that this client knows");
  }
  listed(header.settings).forEach((each) => checkSetting(each, header.mechanism, own[1]));
  const given = header.settings.map((setting) => setting.epsilon);
  if (!given.length || new Set(given).size < given.length) {
    throw artifactError("it has no setting, or one twice");
  }
  const names = listed(header.sections).map((pair) => {
    const [name, size, ...more] = listed(pair);
    if (more.length || !Number.isSafeInteger(size) || Number(size) < 0) {
      throw artifactError("its parts are not as long as it says");
    }
    return String(name);
  });
  exactly("sections", names, `${SECTIONS} ${own[2]}`);
  return header;
}
function checkSetting(setting, mechanism, law) {
  only("setting", setting, `${SETTING} ${law}`);
  const { epsilon, digest, guarantee, summary, preview, protection } = setting;
  only("guarantee", guarantee, GUARANTEE);
  only("preview", preview, PREVIEW);
  const { certified, delta } = guarantee;
  const isPromise = within(epsilon, Number.MIN_VALUE, Number.MAX_VALUE) && guarantee.mechanism === mechanism && guarantee.epsilon === epsilon && guarantee.noise_is_secret === true && !String(guarantee.certified_how).startsWith("not proved") && PROTECTION.includes(guarantee.protection) && PROTECTION.includes(protection) && (certified === null || within(certified, 0, Number.MAX_VALUE)) && within(delta, 0, 1) && delta < 1;
  if (!isPromise) throw artifactError("a setting promises nothing, or something else than it is");
  const isTold = /^[0-9a-f]{64}$/.test(digest) && within(preview.unchanged, 0, 1) && (preview.near === null || within(preview.near, 0, 1)) && (preview.recovered === null || within(preview.recovered, 0, 1)) && typeof preview.of === "string" && typeof summary === "string";
  if (!isTold) throw artifactError("a digest, share or summary of a setting is none");
}
function within(value, least, most) {
  return typeof value === "number" && value >= least && value <= most;
}
function listed(value) {
  if (!Array.isArray(value)) throw artifactError("its header holds no list where one must be");
  return value;
}
function only(what, value, fields) {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  exactly(what, isObject ? Object.keys(value) : [], fields);
}
function exactly(what, names, expected) {
  if ([...names].sort().join(" ") !== expected.split(" ").sort().join(" ")) {
    throw artifactError(`it has other fields than this client knows: ${what}`);
  }
}
function printed(words, steps) {
  const found = [...words];
  let place = 0;
  for (let i = 0; i + 1 < steps.length; i += 2) {
    place += steps[i];
    const other = words[place + signed(steps[i + 1])];
    if (place >= words.length || other === void 0) {
      throw artifactError("it prints what is no word");
    }
    found[place] = other;
  }
  return found;
}

// src/brr.ts
var BLOCK2 = 4096;
var Brr = class {
  size;
  // 32-bit words of a code
  bits;
  count;
  // Codes padded to whole 32-bit words with zeros, the first bit of a byte highest.
  codes;
  unknown;
  starts;
  // of the words of each code
  codeOf;
  // of each word
  upper;
  lower;
  constructor(artifact, setting) {
    const unknown = artifact.part("unknown");
    const counts = numbers(artifact.part("counts"));
    const table = artifact.part("codes");
    this.bits = 8 * unknown.length;
    this.size = Math.ceil(unknown.length / 4);
    this.codes = aligned(table, unknown.length);
    this.unknown = aligned(unknown, unknown.length);
    this.starts = Uint32Array.from([0, ...counts]);
    for (let i = 1; i < this.starts.length; i++) this.starts[i] += this.starts[i - 1];
    this.count = artifact.words.length;
    const isWhole = table.length === counts.length * unknown.length;
    if (!isWhole || !unknown.length || counts.includes(0) || this.starts.at(-1) !== this.count) {
      throw artifactError("its codes do not fit its words");
    }
    this.codeOf = new Uint32Array(this.count);
    counts.forEach((_, code) => this.codeOf.fill(code, this.starts[code], this.starts[code + 1]));
    if (!/^[0-9]{1,20}$/.test(setting.threshold ?? "")) throw artifactError("its law is none");
    const threshold = BigInt(setting.threshold);
    if (threshold < 1n || threshold > 1n << 63n) throw artifactError("its bits hardly flip");
    this.upper = Number(threshold >> 32n);
    this.lower = Number(threshold & 0xffffffffn);
  }
  draw(inputs, stream) {
    const found = [];
    for (let at = 0; at < inputs.length; at += BLOCK2) {
      found.push(...this.block(inputs.slice(at, at + BLOCK2), stream));
    }
    return found;
  }
  chances() {
    return null;
  }
  block(inputs, stream) {
    const undecided = [];
    const drawn = inputs.map((input, place) => {
      const noisy = new Uint32Array(this.size);
      const code = input < this.count ? this.codeOf[input] * this.size : 0;
      noisy.set((input < this.count ? this.codes : this.unknown).subarray(code, code + this.size));
      for (let bit = 0; bit < this.bits; bit++) {
        const half = stream.next32();
        if (half < this.upper) flip(noisy, bit);
        else if (half === this.upper) undecided.push([place, bit]);
      }
      return { noisy, tie: stream.next64() };
    });
    for (const [place, bit] of undecided) {
      if (stream.next32() < this.lower) flip(drawn[place].noisy, bit);
    }
    return drawn.map(({ noisy, tie }) => this.nearest(noisy, tie));
  }
  /** One of the words whose codes are nearest, each with the same chance. */
  nearest(noisy, tie) {
    let least = Infinity;
    let tied = [];
    const { codes, size } = this;
    for (let code = 0, at = 0; at < codes.length; code++) {
      let distance = 0;
      for (let i = 0; i < size; i++) distance += ones(codes[at++] ^ noisy[i]);
      if (distance < least) {
        least = distance;
        tied = [code];
      } else if (distance === least) tied.push(code);
    }
    const total = tied.reduce((sum, code) => sum + this.starts[code + 1] - this.starts[code], 0);
    let place = Number(tie * BigInt(total) >> 64n);
    for (const code of tied) {
      const own = this.starts[code + 1] - this.starts[code];
      if (place < own) return this.starts[code] + place;
      place -= own;
    }
    throw new RangeError("no code is nearest");
  }
};
function aligned(table, bytes) {
  const size = 4 * Math.ceil(bytes / 4);
  const rows = table.length / bytes;
  const found = new Uint8Array(Math.ceil(rows) * size);
  for (let row = 0; row < rows; row++) {
    found.set(table.subarray(row * bytes, (row + 1) * bytes), row * size);
  }
  return new Uint32Array(found.buffer);
}
function flip(code, bit) {
  const bytes = new Uint8Array(code.buffer);
  bytes[bit >> 3] ^= 128 >> (bit & 7);
}
function ones(x) {
  let n = x - (x >>> 1 & 1431655765);
  n = (n & 858993459) + (n >>> 2 & 858993459);
  return Math.imul(n + (n >>> 4) & 252645135, 16843009) >>> 24;
}

// src/tree.ts
var TOTAL = 1n << 62n;
var Tree = class {
  count;
  levels = [];
  constructor(artifact, setting) {
    this.count = artifact.words.length;
    const sizes = levelsOf(numbers(artifact.part("tree")), this.count);
    const weights = (setting.weights ?? []).map((weight) => {
      if (!/^[0-9]{1,19}$/.test(weight)) throw artifactError("an integer of its law is none");
      return BigInt(weight);
    });
    const sum = weights.reduce((all, weight) => all + weight, 0n);
    if (weights.length !== sizes.length || sum !== TOTAL || !weights.at(-1)) {
      throw artifactError("the integers of its law do not fit its tree");
    }
    sizes.forEach((row, level) => {
      const weight = weights[level];
      if (weight > 0n) this.levels.push({ weight, ...this.nodes(row) });
    });
  }
  draw(inputs, stream) {
    const again = [];
    const found = inputs.map((input, place) => {
      let rest = stream.next64() >> 2n;
      let at = 0;
      while (at + 1 < this.levels.length && rest >= this.levels[at].weight) {
        rest -= this.levels[at++].weight;
      }
      const level = this.levels[at];
      const size = level.ends[input] - level.starts[input];
      const quotient = level.weight / BigInt(size);
      if (rest >= quotient * BigInt(size)) {
        again.push([place, level, input]);
        return 0;
      }
      return level.starts[input] + Number(rest / quotient);
    });
    for (const [place, level, input] of again) {
      const start = level.starts[input];
      found[place] = start + stream.below(level.ends[input] - start);
    }
    return found;
  }
  chances(input) {
    const found = new Float64Array(this.count);
    for (const { weight, starts, ends } of this.levels) {
      const size = ends[input] - starts[input];
      const share = Number(weight) / Number(TOTAL) / size;
      for (let place = starts[input]; place < ends[input]; place++) found[place] += share;
    }
    return found;
  }
  /** The node of each word, and of the unknown one, which is in the root everywhere. */
  nodes(sizes) {
    const starts = new Uint32Array(this.count + 1);
    const ends = new Uint32Array(this.count + 1);
    let start = 0;
    for (const size of sizes) {
      starts.fill(start, start, start + size);
      ends.fill(start + size, start, start + size);
      start += size;
    }
    starts[this.count] = 0;
    ends[this.count] = this.count;
    return { starts, ends };
  }
};
function levelsOf(steps, count) {
  const found = [];
  for (let at = 0; at < steps.length; ) {
    const size = steps[at++];
    found.push(size ? steps.slice(at, at + size) : new Array(count).fill(1));
    at += size;
  }
  found.push([count]);
  let below = /* @__PURE__ */ new Set();
  found.forEach((row, level) => {
    const ends = /* @__PURE__ */ new Set();
    let end = 0;
    for (const size of row) ends.add(end += size);
    const isWithin = !level || [...ends].every((each) => below.has(each));
    if (end !== count || row.includes(0) || !isWithin) throw artifactError("its tree is none");
    below = ends;
  });
  return found;
}

// src/law.ts
function lawOf(artifact, setting) {
  const { mechanism } = artifact.header;
  if (mechanism === "tree") return new Tree(artifact, setting);
  if (mechanism === "brr") return new Brr(artifact, setting);
  throw artifactError("its mechanism is none that this client knows");
}

// src/unicode.ts
var [OTHER, LETTER, MARK, DIGIT, FORMAT2] = [0, 1, 2, 3, 4];
var EVERY = 1114112;
var SIGMA = 931;
var [SMALL_SIGMA, FINAL_SIGMA] = [963, 962];
var [L, V, T, S] = [4352, 4449, 4519, 44032];
var [LS, VS, TS] = [19, 21, 28];
function points(text) {
  return Array.from(text, (char) => char.codePointAt(0));
}
var Unicode = class {
  /** The class of every code point. */
  classes;
  removed;
  combining;
  sigma;
  parts;
  small;
  whole = /* @__PURE__ */ new Map();
  constructor(part) {
    this.classes = runs(part("classes"));
    this.removed = runs(part("removed"));
    this.combining = runs(part("combining"));
    this.sigma = runs(part("sigma"));
    this.parts = strings(part("decompositions"));
    this.small = strings(part("lower"));
    for (const [whole, [first, second]] of strings(part("compositions"))) {
      this.whole.set(first * EVERY + second, whole);
    }
  }
  /** NFKC, no format characters, small letters, and NFKC again. */
  folded(text) {
    const plain = this.composed(points(text)).filter((point) => !this.removed[point]);
    const found = this.composed(this.lowered(plain));
    const isPair = found.some((p, i) => p >> 10 === 54 && found[i + 1] >> 10 === 55);
    return isPair ? text : String.fromCodePoint(...found);
  }
  lowered(text) {
    return text.flatMap((point, place) => {
      if (point === SIGMA) return this.isFinal(text, place) ? FINAL_SIGMA : SMALL_SIGMA;
      return this.small.get(point) ?? point;
    });
  }
  /** Whether a sigma ends a word: a letter with case before it, and none behind it. */
  isFinal(text, place) {
    let before = place - 1;
    while (before >= 0 && this.sigma[text[before]] === 2) before--;
    let after = place + 1;
    while (after < text.length && this.sigma[text[after]] === 2) after++;
    return this.sigma[text[before] ?? 0] === 1 && this.sigma[text[after] ?? 0] !== 1;
  }
  composed(text) {
    const found = [];
    let starter = -1;
    let last = -1;
    for (const point of this.decomposed(text)) {
      const kind = this.combining[point];
      const isNext = starter >= 0 && last < kind;
      const whole = isNext ? this.pair(found[starter], point) : void 0;
      if (whole !== void 0) {
        found[starter] = whole;
        continue;
      }
      found.push(point);
      last = kind;
      if (!kind) {
        starter = found.length - 1;
        last = -1;
      }
    }
    return found;
  }
  decomposed(text) {
    const found = [];
    for (const point of text) {
      for (const part of this.partsOf(point)) {
        const kind = this.combining[part];
        let place = found.length;
        if (kind) while (place && this.combining[found[place - 1]] > kind) place--;
        found.splice(place, 0, part);
      }
    }
    return found;
  }
  partsOf(point) {
    const syllable = point - S;
    if (syllable < 0 || syllable >= LS * VS * TS) return this.parts.get(point) ?? [point];
    const tail = syllable % TS;
    const both = Math.floor(syllable / TS);
    const found = [L + Math.floor(both / VS), V + both % VS];
    return tail ? [...found, T + tail] : found;
  }
  pair(first, second) {
    const [l, v2, t, s] = [first - L, second - V, second - T, first - S];
    if (l >= 0 && l < LS && v2 >= 0 && v2 < VS) return S + (l * VS + v2) * TS;
    if (s >= 0 && s < LS * VS * TS && s % TS === 0 && t > 0 && t < TS) return first + t;
    return this.whole.get(first * EVERY + second);
  }
};
function runs(bytes) {
  const found = new Uint8Array(EVERY);
  const steps = numbers(bytes);
  let at = 0;
  for (let i = 0; i + 1 < steps.length; i += 2) {
    at += steps[i];
    found.fill(steps[i + 1], at, at + (steps[i + 2] ?? EVERY));
  }
  if (at >= EVERY || steps.length % 2) throw artifactError("a table of Unicode is broken");
  return found;
}
function strings(bytes) {
  const found = /* @__PURE__ */ new Map();
  const steps = numbers(bytes);
  let at = 0;
  let key = 0;
  while (at < steps.length) {
    key += steps[at];
    const end = at + 2 + steps[at + 1];
    let point = key;
    const all = steps.slice(at + 2, end).map((step2) => point += signed(step2));
    if (key >= EVERY || all.some((each) => !(each >= 0 && each < EVERY))) {
      throw artifactError("a table of Unicode is broken");
    }
    found.set(key, all);
    at = end;
  }
  return found;
}

// src/text.ts
var [LISTED, APOSTROPHE, CURRENCY] = [1, 2, 4];
var NOTHING = -1;
var ENDINGS = ["ll", "re", "ve", "d", "m"];
var Tokenizer = class {
  constructor(lists, unicode) {
    this.lists = lists;
    this.unicode = unicode;
    this.endings = new Map(Object.entries(lists.endings));
    this.hosts = new Map(Object.entries(lists.hosts));
    const kinds = [
      [lists.signs + lists.currency + lists.blanks, LISTED],
      [lists.currency, CURRENCY],
      [lists.apostrophes, APOSTROPHE]
    ];
    for (const [all, kind] of kinds) {
      for (let i = 0; i < all.length; i++) this.signs[all.charCodeAt(i)] |= kind;
    }
  }
  lists;
  unicode;
  signs = new Uint8Array(65536);
  endings;
  hosts;
  // The text in hand, in code points.
  points = [];
  /** `[structure, word, structure, ..., word, structure]`, which join to the text. */
  cut(text) {
    this.points = Array.from(text, (char) => char.codePointAt(0));
    const parts = [];
    let done = 0;
    let unit = 0;
    for (let at = 0; at < this.points.length; ) {
      const end = this.wordEnd(at);
      if (end <= at) {
        unit += units(this.points[at++]);
        continue;
      }
      parts.push(text.slice(done, unit));
      done = unit;
      while (at < end) unit += units(this.points[at++]);
      parts.push(text.slice(done, unit));
      done = unit;
    }
    parts.push(text.slice(done));
    this.points = [];
    return this.cutGaps(parts);
  }
  /** The form under which a word is looked up; the next word matters where it is n't. */
  canonical(word, following = "") {
    if (word.length > this.lists.longest && length(word) > this.lists.longest) return word;
    let form = isAscii(word) ? small(word) : this.unicode.folded(this.straight(word));
    if (this.isNegation(following)) form = this.hosts.get(form) ?? form;
    return this.endings.get(form) ?? form;
  }
  /** Whether a word is the ending n't, in any case and with any apostrophe. */
  isNegation(word) {
    return word.length === 3 && small(this.straight(word)) === "n't";
  }
  hasApostrophe(word) {
    for (let i = 0; i < word.length; i++) {
      if (this.signs[word.charCodeAt(i)] & APOSTROPHE) return true;
    }
    return false;
  }
  straight(word) {
    if (!this.hasApostrophe(word)) return word;
    return Array.from(
      word,
      (char) => this.lists.apostrophes.includes(char) ? "'" : char
    ).join("");
  }
  /** Where the word ends that begins at a place, or a place that is not behind it. */
  wordEnd(at) {
    const point = this.points[at];
    if (this.isLetter(at)) {
      const end = this.run(at + 1);
      const isPlain = at > 0 && !this.is(at - 1, APOSTROPHE) && !this.is(end, APOSTROPHE);
      return isPlain ? end : this.fromLetter(at, at + 1);
    }
    if (this.kind(at) === FORMAT2) {
      let letter = at + 1;
      while (this.kind(letter) === FORMAT2) letter++;
      if (this.isLetter(letter)) return this.fromLetter(at, letter + 1);
    }
    if (this.is(at, APOSTROPHE)) return this.endingAt(at);
    if (this.is(at, CURRENCY)) return this.currencyAt(at);
    return this.isListed(point) ? NOTHING : this.other(at);
  }
  /** A word whose first letter is read, up to `next`; or its n, of n't, alone. */
  fromLetter(at, next) {
    if (this.isOneOf(next - 1, "nN") && this.isLetter(next - 2) && this.isT(next)) {
      return next + 2;
    }
    const end = this.run(next);
    if (end > next && this.isOneOf(end - 1, "nN") && this.isT(end)) return end - 1;
    const isGenitive = end === next && this.isOneOf(next - 1, "sS") && this.is(next - 2, APOSTROPHE) && this.isLetter(next - 3);
    return isGenitive ? at : end;
  }
  /** Whether 't follows, and the word ends with it. */
  isT(at) {
    return this.is(at, APOSTROPHE) && this.isOneOf(at + 1, "tT") && !this.isRest(at + 2);
  }
  /** What is behind an apostrophe, if it is an ending of a word. */
  endingAt(at) {
    if (!this.isLetter(at - 1)) return NOTHING;
    const found = ENDINGS.find(
      (ending) => [...ending].every((char, i) => this.isOneOf(at + 1 + i, char + char.toUpperCase()))
    );
    const end = at + 1 + (found?.length ?? 0);
    return found !== void 0 && !this.isRest(end) ? end : NOTHING;
  }
  currencyAt(at) {
    let end = at + 1;
    while (this.is(end, CURRENCY)) end++;
    if (end > at + 1) return end;
    if (this.kind(at - 1) === DIGIT || this.kind(at + 1) === DIGIT) return NOTHING;
    return this.isContent(at - 1) || this.isContent(at + 1) ? end : NOTHING;
  }
  /** A run of content that begins with no letter, such as an emoji and its marks. */
  other(at) {
    let end = at + 1;
    while (this.isContent(end)) {
      const kind = this.kind(end);
      if (kind !== OTHER && kind !== MARK && kind !== FORMAT2) break;
      end++;
    }
    return end;
  }
  run(at) {
    let end = at;
    while (this.isRest(end)) end++;
    return end;
  }
  kind(at) {
    const point = this.points[at];
    return point === void 0 ? NOTHING : this.unicode.classes[point];
  }
  isLetter(at) {
    const kind = this.kind(at);
    return kind > OTHER && kind < FORMAT2;
  }
  isRest(at) {
    return this.kind(at) > OTHER;
  }
  isListed(point) {
    return point < 65536 && (this.signs[point] & LISTED) > 0;
  }
  isContent(at) {
    const point = this.points[at];
    return point !== void 0 && !this.isListed(point);
  }
  is(at, flag) {
    const point = this.points[at];
    return point !== void 0 && point < 65536 && (this.signs[point] & flag) > 0;
  }
  isOneOf(at, chars) {
    const point = this.points[at];
    return point !== void 0 && chars.includes(String.fromCodePoint(point));
  }
  /** Turn what is too long for a gap into a word; all of it is below U+10000. */
  cutGaps(parts) {
    if (parts.every((part, i) => i % 2 || part.length <= this.lists.gap)) return parts;
    return parts.flatMap((part, i) => {
      if (i % 2 || part.length <= this.lists.gap || !this.isLong(part)) return [part];
      const end = part.length - (/[sS]/.test(part.at(-2)) ? 1 : 2);
      return [part.slice(0, 2), part.slice(2, end), part.slice(end)];
    });
  }
  isLong(gap) {
    let count = 0;
    for (let at = 0; at < gap.length && count <= this.lists.gap; count++) at += this.unit(gap, at);
    return count > this.lists.gap;
  }
  /** How many characters count as one: an 's, or up to 32 equal blanks or line ends. */
  unit(gap, at) {
    if (this.hasApostrophe(gap[at]) && /^[sS]/.test(gap.slice(at + 1))) return 2;
    const blank = gap.startsWith("\r\n", at) ? "\r\n" : gap[at];
    if (!this.lists.blanks.includes(blank[0])) return 1;
    let times = 1;
    while (times < this.lists.same && gap.startsWith(blank, at + times * blank.length)) times++;
    return times * blank.length;
  }
};
function units(point) {
  return point < 65536 ? 1 : 2;
}
function length(word) {
  let count = 0;
  for (const _ of word) count++;
  return count;
}
function isAscii(word) {
  for (let i = 0; i < word.length; i++) if (word.charCodeAt(i) > 127) return false;
  return true;
}
function small(word) {
  return word.replace(/[A-Z]+/g, (some) => some.toLowerCase());
}

// src/privatizer.ts
var LIKELIEST = 10;
function load(bytes, options = {}) {
  const { epsilon, digest, ...unknown } = options;
  if (Object.keys(unknown).length) throw argumentError("options", "epsilon and digest");
  const artifact = parse(bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes, digest);
  const tokenizer = new Tokenizer(artifact.header.text, new Unicode(artifact.part));
  const places = new Map(artifact.words.map((word, place) => [word, place]));
  const all = artifact.header.settings;
  return new Privatizer(
    { artifact, places, tokenizer },
    epsilon === void 0 && all.length === 1 ? all[0] : chosen(artifact, epsilon)
  );
}
function chosen(artifact, epsilon) {
  if (epsilon === void 0) return null;
  const found = artifact.header.settings.find((setting) => setting.epsilon === epsilon);
  const known = artifact.header.settings.map((setting) => setting.epsilon).join(", ");
  if (!found) throw argumentError("epsilon", `one of the artifact: ${known}`);
  return found;
}
var Privatizer = class _Privatizer {
  /** @internal */
  constructor(tables, chosen2) {
    this.tables = tables;
    this.chosen = chosen2;
  }
  tables;
  chosen;
  prepared = null;
  /** The epsilons of the artifact, in the order of its maker. */
  get epsilons() {
    return this.tables.artifact.header.settings.map((setting) => setting.epsilon);
  }
  get epsilon() {
    return this.setting.epsilon;
  }
  /** SHA-256 of the artifact, in hex. */
  get digest() {
    return this.tables.artifact.digest;
  }
  /** What every release promises, in the fields of the Python package. */
  get guarantee() {
    return this.promised.guarantee;
  }
  /** The guarantee in a few lines, for people. */
  get summary() {
    return this.promised.summary;
  }
  /** What was measured of public words, and of an attacker; no guarantee. */
  get preview() {
    return this.promised.preview;
  }
  /** The attacker of the preview, in words. */
  get adversary() {
    return this.tables.artifact.header.adversary;
  }
  /** The worst of what is proved and of what was measured, in one word. */
  get protection() {
    return this.promised.protection;
  }
  /** The same words with another epsilon of the artifact. */
  withEpsilon(epsilon) {
    return new _Privatizer(this.tables, chosen(this.tables.artifact, epsilon));
  }
  /**
   * Privatize a text: with fresh noise, or with that of a record, which repeats itself.
   *
   * Each call with fresh noise is another release: what several tell adds up. Draw once
   * what is sent.
   */
  privatize(text, record) {
    if (typeof text !== "string") throw argumentError("text", "a string");
    const { digest, guarantee } = this.setting;
    const stream = record === void 0 ? fresh() : keyed(record, digest, text);
    const { noise } = this.tables.artifact.header;
    const said = { ...guarantee, noise: record === void 0 ? noise.fresh : noise.keyed };
    return { ...this.release(text, stream), guarantee: said };
  }
  /** Where the words of a text are. */
  words(text) {
    return spans(this.tables.tokenizer.cut(text));
  }
  /** What this setting does to a word, as it stands before another one. */
  explain(word, following = "") {
    const { artifact, places } = this.tables;
    const input = this.input(word, following);
    const chances = this.law.chances(input);
    const known = input < places.size ? artifact.words[input] : null;
    if (!chances) return { word, lookedUpAs: known, stay: null, likeliest: [] };
    const all = /* @__PURE__ */ new Map();
    chances.forEach((chance, place) => {
      const shown = artifact.printed[place];
      all.set(shown, (all.get(shown) ?? 0) + chance);
    });
    const sorted = Array.from(all, ([shown, chance]) => ({ word: shown, chance }));
    const own = (each) => Number(each.word === known);
    sorted.sort((one, other) => other.chance - one.chance || own(other) - own(one));
    const stay = known === null ? 0 : chances[input];
    return { word, lookedUpAs: known, stay, likeliest: sorted.slice(0, LIKELIEST) };
  }
  /** @internal Draw with a stream that is given, for tests. */
  release(text, stream) {
    const parts = this.tables.tokenizer.cut(text);
    return printed2(parts, this.drawn(this.inputs(parts), stream));
  }
  /** @internal The words that are printed for inputs. */
  drawn(inputs, stream = fresh()) {
    const { printed: printed3 } = this.tables.artifact;
    return this.law.draw(inputs, stream).map((place) => {
      const word = printed3[place];
      if (word === void 0) throw new RangeError("a word was not privatized");
      return word;
    });
  }
  /** @internal The inputs of the words of a text that was cut; the unknown word is last. */
  inputs(parts) {
    const found = [];
    for (let i = 1; i < parts.length; i += 2) found.push(this.input(parts[i], parts[i + 2] ?? ""));
    return found;
  }
  /** @internal */
  get tokenizer() {
    return this.tables.tokenizer;
  }
  input(word, following) {
    const { places, tokenizer } = this.tables;
    const next = tokenizer.isNegation(following) ? following : "";
    const plain = places.get(tokenizer.canonical(word, next)) ?? places.size;
    if (next || tokenizer.hasApostrophe(word)) return plain;
    return places.get(word) ?? plain;
  }
  get setting() {
    if (this.chosen) return this.chosen;
    throw argumentError("epsilon", `given, to load or withEpsilon: ${this.epsilons.join(", ")}`);
  }
  /** The setting, whose law is checked before anything is told of it. */
  get promised() {
    void this.law;
    return this.setting;
  }
  get law() {
    return this.prepared ??= lawOf(this.tables.artifact, this.setting);
  }
};
var TOUCHING = /^(?:['’][sS])?$/;
function printed2(parts, words) {
  const last = parts.length - 1;
  const pieces = parts.map(
    (part, i) => i % 2 ? words[(i - 1) / 2] : i === 0 || i === last || !TOUCHING.test(part) ? part : `${part} `
  );
  return { text: pieces.join(""), spans: spans(pieces) };
}
function spans(pieces) {
  const found = [];
  let start = 0;
  pieces.forEach((piece, i) => {
    if (i % 2) found.push({ start, end: start + piece.length });
    start += piece.length;
  });
  return found;
}
export {
  MondegreenError,
  Stream,
  blake2b,
  fromHex,
  hex,
  isBlank,
  isKey,
  keyed,
  load,
  scan,
  sha256,
  utf8
};
