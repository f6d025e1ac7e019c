/** The pages of the built documentation, and what is wrong with their links. */

import { readdirSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path/posix";
import { fileURLToPath } from "node:url";

/** Files below a folder by their paths. */
export type Files = Map<string, string>;

const DIST = fileURLToPath(new URL("../dist/", import.meta.url));

/** Files of the build; only pages have their text. */
export function built(): Files {
  const names = readdirSync(DIST, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(DIST.length));
  const text = (name: string) =>
    name.startsWith("docs/") && name.endsWith(".html") ? readFileSync(DIST + name, "utf8") : "";
  return new Map(names.map((name) => [name, text(name)]));
}

/** The documentation's pages. */
export function pagesOf(files: Files): [name: string, html: string][] {
  return [...files].filter(([name]) => name.startsWith("docs/") && name.endsWith(".html"));
}

/** What is wrong with the head, the headings and the links of each page. */
export function problems(files: Files): string[] {
  const titles = new Map<string, string>();
  return pagesOf(files).flatMap(([name, html]) => {
    const [, title = ""] = html.match(/<title>([^<]+)<\/title>/) ?? [];
    const twin = titles.get(title);
    titles.set(title, name);
    return [
      ...(title === "" ? ["has no title"] : []),
      ...(twin === undefined ? [] : [`has the title of ${twin}`]),
      ...(/<html lang="en">/.test(html) ? [] : ["has no language"]),
      ...(count(html, /<h1[ >]/g) === 1 ? [] : [`has ${count(html, /<h1[ >]/g)} h1`]),
      ...(/\sstyle="/.test(html) ? ["has an inline style"] : []),
      ...(/<script(?![^>]*\ssrc=)/.test(html) ? ["has an inline script"] : []),
      ...repeatedIds(html),
      ...brokenLinks(name, html, files),
    ].map((problem) => `${name} ${problem}`);
  });
}

function count(html: string, pattern: RegExp): number {
  return [...html.matchAll(pattern)].length;
}

function idsOf(html: string): string[] {
  return [...html.matchAll(/\sid="([^"]*)"/g)].map(([, id = ""]) => id);
}

function repeatedIds(html: string): string[] {
  const ids = idsOf(html);
  return ids.filter((id, index) => ids.indexOf(id) < index).map((id) => `repeats the id ${id}`);
}

function brokenLinks(name: string, html: string, files: Files): string[] {
  const links = [...html.matchAll(/<(\w+)[^>]*?\s(?:href|src)="([^"]*)"/g)];
  return links.flatMap(([, tag = "", link = ""]) => {
    const isExternal = /^[a-z]+:/.test(link);
    if (isExternal && tag === "a" && link.startsWith("https://")) return [];
    if (isExternal || link.startsWith("/")) return [`has an address of its own: ${link}`];
    const [path = "", anchor = ""] = link.split("#");
    const folder = name.replace(/[^/]*$/, "");
    const place = path === "" ? name : normalize(join(folder, path));
    const target = place.endsWith("/") ? `${place.replace(/^\.\//, "")}index.html` : place;
    const found = files.get(target);
    if (found === undefined) return [`links to nothing: ${link}`];
    const isPage = target.startsWith("docs/") && target.endsWith(".html");
    if (!isPage || anchor === "" || idsOf(found).includes(anchor)) return [];
    return [`links to no heading: ${link}`];
  });
}
