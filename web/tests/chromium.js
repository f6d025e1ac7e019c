// `node chromium.js` prints where a Chromium is, for `cargo xtask test`.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PATHS = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

/** WebGPU with the flags of Chromium in WEBGPU_FLAGS; without them, on an adapter in software. */
export const WEBGPU = [
  "--enable-unsafe-webgpu",
  ...(process.env.WEBGPU_FLAGS?.split(" ") ?? ["--use-webgpu-adapter=swiftshader"]),
];

/** @returns {string} */
export function installed() {
  const named = process.env.CHROMIUM;
  if (named && !existsSync(named)) throw new Error(`CHROMIUM is ${named}, which is not there`);
  const path = PATHS.find((path) => path && existsSync(path));
  if (path) return path;
  throw new Error("no Chromium: install it (Debian: chromium) or set CHROMIUM to its path");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(installed());
  } catch (error) {
    console.error(/** @type {Error} */ (error).message);
    process.exitCode = 1;
  }
}
