// The page of the proxy. All that it knows is in these variables, and gone with it.
const element = (id) => document.getElementById(id);
const HEADER = "x-mondegreen-conversation";

let token = null; // of the conversation
let hiddenText = null; // the prompt that is shown as it leaves
let credentials = ""; // that the conversation belongs to
let turns = []; // what the model was asked and what it answered, as you read it
let isDry = false;

class Problem extends Error {}

async function ask(path, { method = "POST", body, headers = {} } = {}) {
  const own = credentials ? { authorization: `Bearer ${credentials}` } : {};
  const sent = body === undefined ? {} : { "content-type": "application/json" };
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers: { ...sent, ...own, ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
  } catch {
    throw new Problem("The proxy does not answer. Is it still running?");
  }
  const text = await answer.text();
  const found = text ? parse(text) : {};
  if (answer.ok && found) return found;
  const says = found?.error?.message ?? `The proxy answered with status ${answer.status}.`;
  throw new Problem(says.replace(/^mondegreen: /, ""));
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Run one task at a time, and show what went wrong. */
async function run(task) {
  const buttons = [...document.querySelectorAll("button")];
  if (buttons.some((each) => each.ariaBusy === "true")) return;
  element("problem").textContent = "";
  for (const each of buttons) each.ariaBusy = "true";
  try {
    await task();
  } catch (error) {
    element("problem").textContent = error instanceof Problem ? error.message : "The page failed.";
    if (!(error instanceof Problem)) throw error;
  } finally {
    for (const each of buttons) each.ariaBusy = "false";
  }
}

/** Hide the prompt in its conversation, and show it word by word. */
async function hide() {
  const text = element("text").value;
  if (!text.trim()) throw new Problem("Type a prompt first.");
  const key = element("key").value.trim();
  if (key !== credentials) {
    // A conversation belongs to the key that began it.
    await forget();
    credentials = key;
  }
  const { conversation, pieces } = await ask("/ui/hide", { body: { text, conversation: token } });
  token = conversation;
  hiddenText = text;
  show(pieces);
}

function show(pieces) {
  const nodes = pieces.map(([, sent, kind, isGuessed]) => {
    if (kind === null) return sent;
    const found = document.createElement("mark");
    found.textContent = sent;
    if (isGuessed) found.className = "guessed";
    return found;
  });
  element("sent").replaceChildren(...nodes);
  const replaced = pieces.filter(([, , kind]) => kind !== null);
  const guessed = replaced.filter(([, , , isGuessed]) => isGuessed);
  element("count").textContent =
    replaced.length === 0
      ? "No word was replaced."
      : `${replaced.length} replaced. The context gives ${guessed.length} away.`;
  const rows = new Map(); // one for each word, given away where any place of it is
  for (const [old, sent, kind, isGuessed] of replaced) {
    const key = `${old}\0${sent}`;
    rows.set(key, [old, sent, kind, isGuessed || (rows.get(key)?.[3] ?? false)]);
  }
  element("words").replaceChildren(...[...rows.values()].map(row));
  element("none").hidden = rows.size > 0;
}

function row([old, sent, kind, isGuessed]) {
  const found = document.createElement("tr");
  for (const text of [old, sent, kind, isGuessed ? "given away" : "—"]) {
    const cell = document.createElement("td");
    cell.textContent = text;
    found.append(cell);
  }
  if (isGuessed) found.lastChild.className = "guessed";
  return found;
}

async function send() {
  if (element("text").value !== hiddenText || element("key").value.trim() !== credentials) {
    await hide();
    throw new Problem("This is what would leave now. Look at it, and send again.");
  }
  const text = hiddenText;
  const model = element("model").value.trim();
  const messages = [...turns, { role: "user", content: text }];
  element("shown").textContent = isDry ? "" : "Waiting for the answer …";
  try {
    const body = model ? { model, messages } : { messages };
    const found = await ask("/v1/chat/completions", { body, headers: { [HEADER]: token } });
    const said = found.choices?.[0]?.message?.content;
    if (typeof said !== "string") throw new Problem("The answer holds no text.");
    turns = [...messages, { role: "assistant", content: said }];
    element("shown").textContent = said;
  } catch (error) {
    element("shown").textContent = "";
    throw error;
  }
}

async function restore() {
  if (token === null) throw new Problem("Show what leaves first: an answer needs a conversation.");
  const { text } = await ask("/ui/restore", { body: { text: element("said").value, conversation: token } });
  element("shown").textContent = text;
}

async function forget() {
  const old = token;
  [token, hiddenText, turns] = [null, null, []];
  show([]);
  element("count").textContent = "";
  element("shown").textContent = "";
  if (old === null) return;
  try {
    await ask(`/v1/conversations/${encodeURIComponent(old)}`, { method: "DELETE" });
  } catch (error) {
    if (!(error instanceof Problem)) throw error; // it may have expired already
  }
}

function choose() {
  const isAsked = element("ask").checked;
  element("asking").hidden = !isAsked;
  element("pasting").hidden = isAsked;
}

async function describe() {
  const { upstream, models, dry_run, guarantee } = await ask("/ui/about", { method: "GET" });
  element("upstream").textContent = upstream;
  isDry = dry_run;
  if (isDry) {
    element("paste").checked = true;
    element("ask").disabled = true;
    element("send").disabled = true;
    element("ask").parentElement.append(" (off: this is a dry run)");
  }
  if (models.length) element("model").value = models[0];
  element("models").replaceChildren(
    ...models.map((each) => Object.assign(document.createElement("option"), { value: each })),
  );
  element("guarantee").replaceChildren(
    ...guarantee.map((each) => Object.assign(document.createElement("li"), { textContent: each })),
  );
  choose();
}

for (const id of ["ask", "paste"]) element(id).addEventListener("change", choose);
element("hide").addEventListener("click", () => void run(hide));
element("anew").addEventListener("click", () => void run(forget));
element("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    void run(hide);
  }
});
for (const [id, task] of [["asking", send], ["pasting", restore]]) {
  element(id).addEventListener("submit", (event) => {
    event.preventDefault();
    void run(task);
  });
}
await run(describe);
document.documentElement.dataset.ready = "yes";
