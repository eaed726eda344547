import { type Privatizer, load } from "../src/privatizer.js";
import type { Described } from "../src/policy.js";
import type { Explanation } from "../src/way.js";
import { artifact } from "./artifact.js";
import { Preview } from "./preview.js";

const START = 3; // of the epsilons, the one that is shown first
const PAUSE = 900; // ms without a key before the preview is read aloud

function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

function of100(share: number): string {
  const shown = 100 * share;
  if (shown > 0 && shown < 0.5) return "under 1";
  // As Python rounds: of two that are equally near, the even one.
  const isHalf = shown % 1 === 0.5;
  return String(isHalf ? 2 * Math.round(shown / 2) : Math.round(shown));
}

function start(all: Privatizer): void {
  const text = element<HTMLTextAreaElement>("text");
  const slider = element<HTMLInputElement>("epsilon");
  const settings = all.epsilons.map((epsilon) => all.withEpsilon(epsilon));
  const releases = new Map<string, string>();
  let privatizer = settings[START] ?? settings[0]!;
  let preview = new Preview(privatizer);
  let speaking = 0;

  function show(): void {
    const parts = privatizer.cut(text.value);
    const { text: shown, spans } = privatizer.printed(parts, preview.drawn(parts));
    const here = wordAt(text.selectionStart);
    const pieces: (string | HTMLElement)[] = [];
    let done = 0;
    spans.forEach(({ start, end }, i) => {
      pieces.push(shown.slice(done, start), marked(shown.slice(start, end), parts[2 * i + 1]!, i === here));
      done = end;
    });
    element("preview").replaceChildren(...pieces, shown.slice(done));
    clearTimeout(speaking);
    speaking = setTimeout(() => (element("spoken").textContent = shown), PAUSE);
    explain(here, parts);
    forget();
  }

  function marked(word: string, original: string, isHere: boolean): HTMLElement {
    const found = document.createElement("span");
    found.textContent = word;
    if (word.toLowerCase() === privatizer.tokenizer.folded(original)) found.classList.add("stayed");
    if (isHere) found.classList.add("here");
    return found;
  }

  function wordAt(caret: number): number {
    return privatizer.words(text.value).findIndex(({ start, end }) => start <= caret && caret <= end);
  }

  function explain(here: number, parts: readonly string[]): void {
    const word = parts[2 * here + 1];
    const said = element("word");
    if (here < 0 || word === undefined) {
      said.textContent = "Put the cursor on a word.";
      return;
    }
    const explained = privatizer.explain(word, parts[2 * here + 3]);
    const first = document.createElement("strong");
    first.textContent = word;
    const fate = explained.group ? ofGroup(explained, explained.group) : ofSpace(explained);
    said.replaceChildren(first, fate);
  }

  function setting(): void {
    privatizer = settings[Number(slider.value)]!;
    preview = new Preview(privatizer);
    element("shown").textContent = String(privatizer.epsilon);
    slider.setAttribute("aria-valuetext", `epsilon ${privatizer.epsilon}`);
    const [promise] = privatizer.summary.split("\n");
    element("promise").textContent = promise!.replace(/^Privacy guarantee: /, "");
    const { unchanged, near, of, recovered, shown, in_domain: domains } = privatizer.preview!; // its digest is given
    element("of").textContent = `Protection: ${privatizer.protection}. Of 100 words of ${of}`;
    const rows: [string, number | null][] = [
      ["are ordinary and shown", shown ?? null],
      [shown === undefined ? "are unchanged" : "of the sensitive words are unchanged", unchanged],
      ["are unchanged or near in meaning", near],
      ["are recovered by an attacker", recovered],
    ];
    element("shares").replaceChildren(...rows.filter(([, share]) => share !== null).map(row));
    element("adversary").textContent =
      recovered !== null
        ? `The attacker ${privatizer.adversary}. An attacker who knows more about a text recovers more.`
        : domains
          ? `In ${domains[2]} kinds of texts, an attacker with other texts from the same domain recovered ` +
            `${of100(domains[0])} to ${of100(domains[1])} of 100 sensitive words.`
          : "";
    const items = privatizer.guarantee.disclosed.map((each) => {
      const item = document.createElement("li");
      item.textContent = each;
      return item;
    });
    element("clear").replaceChildren(...items);
    show();
  }

  /** What is typed has no release yet, or has one that was drawn already. */
  function forget(): void {
    const known = releases.get(`${privatizer.epsilon} ${text.value}`);
    element("release").textContent = known ?? "";
    element<HTMLButtonElement>("copy").disabled = known === undefined;
    element<HTMLButtonElement>("draw").disabled = !text.value;
    element("told").textContent = "";
  }

  function draw(): void {
    const name = `${privatizer.epsilon} ${text.value}`;
    const isNew = !releases.has(name);
    if (isNew) releases.set(name, privatizer.privatize(text.value).text);
    forget();
    const others = releases.size - 1;
    element("told").textContent = !isNew
      ? "This text already has a release. It is shown again."
      : others
        ? `This is release ${others + 1} of your visit. Releases of similar texts together disclose more than one.`
        : "This is the release.";
  }

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(element("release").textContent!);
      element("told").textContent = "Copied.";
    } catch {
      getSelection()?.selectAllChildren(element("release"));
      element("told").textContent = "The release is selected. Copy it with your keyboard.";
    }
  }

  slider.max = String(settings.length - 1);
  slider.value = String(settings.indexOf(privatizer));
  element("digest").textContent = all.digest;
  text.addEventListener("input", show);
  for (const type of ["keyup", "click", "focus"]) text.addEventListener(type, show);
  for (const sample of document.querySelectorAll<HTMLButtonElement>("[data-sample]")) {
    sample.addEventListener("click", () => {
      text.value = sample.dataset["sample"]!;
      text.setSelectionRange(0, 0);
      show();
    });
  }
  slider.addEventListener("input", setting);
  element("draw").addEventListener("click", draw);
  element("copy").addEventListener("click", () => void copy());
  setting();
  document.documentElement.dataset["ready"] = "yes";
}

/** What happens to a word of a policy, inside a sentence. */
function ofGroup({ stay, likeliest }: Explanation, group: Described): string {
  if (group.class === "ordinary") {
    return ` is an ordinary word. It is unchanged ${of100(stay ?? 0)} of 100 times.`;
  }
  const kept = of100((likeliest[0]?.chance ?? 0) * group.size);
  const some = likeliest.slice(0, 6).map((each) => each.word).join(", ");
  return (
    ` is sensitive (${group.class}, ${group.form}). ${kept} of 100 times, a random word of its group ` +
    `replaces it. The group has ${group.size.toLocaleString("en")} words, such as ${some} … ` +
    "All are equally likely."
  );
}

/** What happens to a word of a space. */
function ofSpace({ lookedUpAs, stay, likeliest }: Explanation): string {
  if (lookedUpAs === null) {
    return " is not in the vocabulary. Any word may replace it, and all are equally likely.";
  }
  const others = likeliest.filter((each) => each.word !== lookedUpAs);
  const chance = of100(others[0]?.chance ?? 0);
  const likely = others.slice(0, 6).map((each) => each.word).join(", ");
  return ` is unchanged ${of100(stay ?? 0)} of 100 times. The most likely other words, each ${chance} of 100 times: ${likely} …`;
}

function row([name, share]: [string, number | null]): HTMLElement {
  const found = document.createElement("div");
  const [term, value, meter] = ["dt", "dd", "meter"].map((tag) => document.createElement(tag));
  term!.textContent = name;
  value!.textContent = of100(share!);
  (meter as HTMLMeterElement).value = share!;
  meter!.setAttribute("aria-hidden", "true");
  const held = document.createElement("dd");
  held.className = "bar";
  held.append(meter!);
  found.append(term!, held, value!);
  return found;
}

artifact().then(({ bytes, digest }) => start(load(bytes, { digest }))).catch(() => {
  element("promise").textContent = "This page is damaged: its artifact is incomplete. Nothing was released.";
});
