/** The style of the site: that of the app, and its own. */

import { readFileSync } from "node:fs";

const SHARED = ["tokens", "base", "shell", "forms", "prose"];

export function style() {
  const shared = SHARED.map((name) => new URL(`../../app/src/styles/${name}.css`, import.meta.url));
  const own = ["site", "search"].map((name) => new URL(`../${name}.css`, import.meta.url));
  return [...shared, ...own].map((file) => readFileSync(file, "utf8")).join("");
}
