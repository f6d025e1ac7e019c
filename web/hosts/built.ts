/** What `cargo xtask web --hosts` built. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const PAGES = fileURLToPath(new URL("../pages", import.meta.url));

/** Why a site was not built. */
export function reasonOf(name: string): string | undefined {
  const isThere = (page: string) => existsSync(join(PAGES, name, page));
  if (isThere("index.html") || isThere("index.ipynb")) return undefined;
  const list = join(PAGES, "skipped.txt");
  const lines = existsSync(list) ? readFileSync(list, "utf8").split("\n") : [];
  return lines.find((line) => line.startsWith(`${name}: `)) ?? `${name} was not built`;
}
