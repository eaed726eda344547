/**
 * Lists what is laid out wrongly on a page: anything wider than the screen, anything
 * outside its box, text that is cut off, and pictures without a text or that did not load.
 *
 * It runs inside the page, so it uses nothing from outside. What scrolls in a box of its
 * own, such as a wide table, is fine.
 */
export function layout() {
  const OVERHANG = 5; // the ground of code at the end of a line
  const found = new Set();
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) found.add(`${wide} px wider than the screen`);
  for (const image of document.images) {
    const name = image.getAttribute("src");
    if (!image.alt.trim()) found.add(`no alt text: ${name}`);
    if (!image.complete || !image.naturalWidth) found.add(`not loaded: ${name}`);
  }
  for (const table of document.querySelectorAll("article table")) {
    const [first] = table.querySelectorAll("th");
    const box = table.closest(".md-typeset__scrollwrap");
    const share = first && box ? first.getBoundingClientRect().width / box.clientWidth : 0;
    if (share > 0.6 && table.scrollWidth > box.clientWidth) found.add(`the first column covers a table: ${first.textContent}`);
  }
  const name = (element) => `${element.tagName.toLowerCase()} "${element.textContent.trim().slice(0, 40)}"`;
  const content = document.querySelector(".md-content") ?? document.body;
  for (const element of content.querySelectorAll("*")) {
    const isShown = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    if (!isShown || element.closest("svg, math, [aria-hidden=true], .md-source-file")) continue;
    const box = element.getBoundingClientRect();
    if (box.width <= 1 || box.height <= 1) continue; // for screen readers
    const style = getComputedStyle(element);
    const isInline = style.display === "inline";
    const scrolls = ["auto", "scroll"].includes(style.overflowX);
    const over = element.scrollWidth - element.clientWidth;
    if (!isInline && !scrolls && over > OVERHANG && element.localName !== "article") found.add(`${over} px wider than its box: ${name(element)}`);
    let around = element.parentElement;
    while (around !== content && !["auto", "scroll"].includes(getComputedStyle(around).overflowX)) around = around.parentElement;
    const edge = around.getBoundingClientRect();
    if (around === content && (box.right > edge.right + 1 || box.left < edge.left - 1)) {
      const by = Math.max(box.right - edge.right, edge.left - box.left);
      found.add(`${by.toFixed(0)} px outside the column of the page: ${name(element)}`);
    }
  }
  return [...found];
}
