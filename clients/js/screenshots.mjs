// Pictures of the page for the documentation: node screenshots.mjs FOLDER
import { launch } from "./test/chromium.mjs";

const PAGE = new URL("page/index.html", import.meta.url).href;
const TEXT = "My doctor in Oslo said that I don't need the surgery, but Ann thinks I should ask again.";
const SHOTS = {
  "device-light": { viewport: { width: 960, height: 900 }, colorScheme: "light" },
  "device-dark": { viewport: { width: 960, height: 900 }, colorScheme: "dark" },
  "device-400": { viewport: { width: 400, height: 860 }, colorScheme: "light" },
};

const browser = await launch();
for (const [name, how] of Object.entries(SHOTS)) {
  const context = await browser.newContext({ offline: true, ...how });
  const page = await context.newPage();
  await page.goto(PAGE);
  await page.waitForSelector("html[data-ready]", { timeout: 60_000 });
  await page.fill("#text", TEXT);
  await page.click("#draw");
  await page.focus("#text");
  await page.evaluate((at) => document.getElementById("text").setSelectionRange(at, at), TEXT.indexOf("doctor") + 2);
  await page.keyboard.press("ArrowRight");
  await page.screenshot({ path: `${process.argv[2]}/${name}.png`, fullPage: true });
  await context.close();
}
await browser.close();
