import { type Conversation, load } from "../src/conversation.js";
import { artifact } from "./artifact.js";

const PAUSE = 600; // ms without a key before a word gets its surrogate

function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

function start({ bytes, digest }: { bytes: ArrayBuffer; digest: string }): void {
  const text = element<HTMLTextAreaElement>("text");
  const answer = element<HTMLTextAreaElement>("answer");
  const conversations = load(bytes, { digest });
  let conversation: Conversation = conversations.begin();
  let waiting = 0;

  function hide(): void {
    const pieces = conversation.pieces(text.value);
    const nodes = pieces.map(({ sent, kind }) => {
      if (kind === null) return sent;
      const found = document.createElement("span");
      found.className = "stayed";
      found.title = kind;
      found.textContent = sent;
      return found;
    });
    element("sent").replaceChildren(...nodes);
    element<HTMLButtonElement>("copy").disabled = !text.value;
    const count = pieces.filter(({ kind }) => kind !== null).length;
    tell(text.value ? `${count} ${count === 1 ? "word is" : "words are"} replaced.` : "");
    restore();
  }

  function restore(): void {
    element("shown").textContent = conversation.restore(answer.value);
  }

  function tell(said: string): void {
    element("told").textContent = said;
  }

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(element("sent").textContent!);
      tell("Copied.");
    } catch {
      getSelection()?.selectAllChildren(element("sent"));
      tell("The prompt is selected. Copy it with your keyboard.");
    }
  }

  text.addEventListener("input", () => {
    // What is half typed has no surrogate yet, and nothing old can be copied.
    clearTimeout(waiting);
    element("sent").replaceChildren();
    element<HTMLButtonElement>("copy").disabled = true;
    waiting = setTimeout(hide, PAUSE);
  });
  answer.addEventListener("input", restore);
  element("copy").addEventListener("click", () => void copy());
  element("anew").addEventListener("click", () => {
    clearTimeout(waiting);
    conversation = conversations.begin();
    text.value = answer.value = "";
    hide();
    tell("This is a new conversation. The page has forgotten the words of the old one.");
    text.focus();
  });
  element("digest").textContent = digest;
  document.documentElement.dataset["ready"] = "yes";
}

artifact().then(start).catch(() => {
  element("told").textContent = "This page is damaged: its artifact is incomplete. Nothing was hidden.";
});
