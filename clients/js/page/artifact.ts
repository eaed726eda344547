/** Unpack the artifact that a page holds, and take it out of the page. */
export async function artifact(): Promise<{ bytes: ArrayBuffer; digest: string }> {
  const held = document.getElementById("artifact")!;
  const packed = Uint8Array.from(atob(held.textContent!), (char) => char.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = await new Response(unpacked).arrayBuffer();
  held.remove();
  return { bytes, digest: held.dataset["digest"]! };
}
