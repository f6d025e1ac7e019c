/** Links of pages: by the file they lead to in the repository, made relative, so that the site works
 * below any path. A link to something that is not in the site stops the build. */

import { dirname, join, normalize } from "node:path/posix";

/** Schemes of the app and of the calculators, which are beside the site. */
const BESIDE = { "app:": "../", "calculators:": "../calculators/" };

/**
 * What is at a path of the repository: an address from the root of the site.
 *
 * @typedef {(path: string) => string | undefined} Places
 */

/**
 * A page with relative links.
 *
 * @param {string} html
 * @param {{ url: string, source: string }} page its address, and its file in the repository
 * @param {Places} places
 */
export function withLinks(html, { url, source }, places) {
  return html.replace(/ (href|src)="([^"]*)"/g, (_, name, link) => {
    const found = resolved(link, source, places);
    if (found === undefined) throw new Error(`${source}: nothing is at ${link}`);
    return ` ${name}="${relative(found, url)}"`;
  });
}

/**
 * The address of a link, from the root of the site where it begins with a slash.
 *
 * @param {string} link
 * @param {string} source
 * @param {Places} places
 * @returns {string | undefined}
 */
function resolved(link, source, places) {
  const [scheme] = link.match(/^[a-z]+:/) ?? [];
  if (link.startsWith("#") || link.startsWith("/")) return link;
  if (scheme !== undefined && scheme in BESIDE) {
    return `/${BESIDE[/** @type {keyof typeof BESIDE} */ (scheme)]}${link.slice(scheme.length)}`;
  }
  if (scheme !== undefined) return link;
  const [, path = "", rest = ""] = link.match(/^([^?#]*)(.*)$/s) ?? [];
  const place = places(normalize(join(dirname(source), path)).replace(/\/$/, ""));
  return place === undefined ? undefined : place + rest;
}

/**
 * @param {string} address
 * @param {string} from the address of the page
 */
export function relative(address, from) {
  if (!address.startsWith("/")) return address;
  const up = "../".repeat(from.split("/").length - 2);
  return up + address.slice(1) || "./";
}
