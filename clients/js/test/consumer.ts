// Whoever uses the package in TypeScript: it is compiled, and never run.
import { type Explanation, type Privatizer, type Release, defineInput, load } from "mondegreen";
import { type Conversation, type Piece, load as open } from "mondegreen/conversation";

export function conversed(bytes: ArrayBuffer, key: Uint8Array): string {
  const conversation: Conversation = open(bytes, { digest: "00" }).begin({ key, public: ["a prompt"] });
  const [piece]: Piece[] = conversation.pieces("a text");
  const restorer = conversation.restorer();
  return conversation.restore(conversation.hide("a text")) + restorer.feed(piece?.sent ?? "") + restorer.end();
}

export function used(bytes: ArrayBuffer, key: Uint8Array): string {
  const privatizer: Privatizer = load(bytes, { epsilon: 10, digest: "00" });
  const release: Release = privatizer.privatize("a text", { key, id: 7n, column: "note", place: 1 });
  const explanation: Explanation = privatizer.withEpsilon(8).explain("word");
  const stay: number | null = explanation.stay;
  const [first] = release.spans;
  defineInput(privatizer, "private-input");
  // @ts-expect-error what is for tests alone is not in the types
  privatizer.release("a text", null);
  // @ts-expect-error an id without a key is no record
  privatizer.privatize("a text", { id: 7 });
  return `${release.text} ${stay} ${first?.start} ${privatizer.guarantee.epsilon}`;
}
