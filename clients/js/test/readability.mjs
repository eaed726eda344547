/**
 * Lists texts of a page that are under 14 px, or whose contrast is below WCAG 2.2 AA.
 *
 * It runs inside the page, so it uses nothing from outside. Texts that are switched off,
 * hidden, or within pictures are left out. Contrast is 4.5, or 3 for large text (24 px, or
 * 18.66 px in bold).
 */
export function readability() {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  function rgba(color) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  }
  const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
  function behind(element) {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
    const dark = matchMedia("(prefers-color-scheme: dark)").matches && getComputedStyle(document.documentElement).colorScheme.includes("dark");
    return layers.reverse().reduce((under, layer) => over(layer, under), dark ? [18, 18, 18, 1] : [255, 255, 255, 1]);
  }
  function light(color) {
    const [r, g, b] = color.slice(0, 3).map((each) => {
      const share = each / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  const found = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    const isShown = element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && box.width > 1 && box.height > 1;
    const isText = texts.currentNode.data.trim() && !element.closest("script, style, svg, math, [disabled], [aria-hidden=true], option");
    if (!isShown || !isText) continue;
    const size = parseFloat(style.fontSize);
    const back = behind(element);
    const ends = [light(over(rgba(style.color), back)), light(back)].sort((a, b) => b - a);
    const contrast = (ends[0] + 0.05) / (ends[1] + 0.05);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const where = `${element.tagName.toLowerCase()}${element.className ? `.${element.className}` : ""}`;
    const isNote = element.closest("sup, sub"); // as small as its line makes it
    if (size < 13.99 && !isNote) found.add(`${where}: ${size.toFixed(1)} px`);
    if (contrast < (isLarge ? 3 : 4.5)) found.add(`${where}: contrast ${contrast.toFixed(2)}`);
  }
  return [...found];
}
