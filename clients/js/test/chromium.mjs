// A headless Chromium that is on the machine; none is downloaded.
import { existsSync } from "node:fs";

const PATHS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = PATHS.find((path) => path && existsSync(path));

/** Why the tests in a browser are left out, if they are. */
export const skip = executablePath ? false : "no Chromium here: name one by CHROMIUM=/path";

export async function launch() {
  const { chromium } = await import("playwright-core");
  return chromium.launch({ executablePath, args: ["--no-sandbox"], timeout: 120_000 });
}
