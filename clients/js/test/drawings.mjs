/**
 * Lists texts of a page's SVG pictures that are under 14 px as shown, or cut off at an edge.
 *
 * It runs inside the page, so it uses nothing from outside. The contrast of their colours
 * is computed in tests/report/test_drawings.py and tests/docs/test_pictures.py.
 */
export async function drawings() {
  const found = new Set();
  for (const image of document.querySelectorAll('img[src$=".svg"]')) {
    const host = document.body.appendChild(document.createElement("div"));
    host.style = "position: fixed; visibility: hidden";
    const inside = host.attachShadow({ mode: "open" });
    inside.innerHTML = await (await fetch(image.src)).text();
    const drawing = inside.querySelector("svg");
    const scale = image.clientWidth / drawing.viewBox.baseVal.width;
    const edge = drawing.getBoundingClientRect();
    for (const text of drawing.querySelectorAll("text")) {
      const where = `${image.getAttribute("src")}, "${text.textContent.slice(0, 30)}"`;
      const size = parseFloat(getComputedStyle(text).fontSize) * scale;
      const box = text.getBoundingClientRect();
      const over = Math.max(edge.left - box.left, box.right - edge.right, edge.top - box.top, box.bottom - edge.bottom);
      if (size < 13.99) found.add(`${where}: ${size.toFixed(1)} px`);
      if (over > 1) found.add(`${where}: ${over.toFixed(0)} px cut off`);
    }
    host.remove();
  }
  return [...found];
}
