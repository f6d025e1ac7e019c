/** What the search finds: the sections of a rendered page, as text. */

import { DomUtils, parseDocument } from "htmlparser2";
import { formulaOf } from "./formula-text.js";

const { findOne, isTag, textContent } = DomUtils;

/**
 * A section begins at a heading, the first at the title of the page. Paragraphs, list items, rows of
 * tables and lines of code are lines of it. The label of a page is its name in the contents.
 *
 * @typedef {{ id: string, heading: string, text: string, code: string }} Section
 * @typedef {{ url: string, folder: string, title: string, label: string, sections: Section[] }} SearchedPage
 * @typedef {import("domhandler").Node} Node
 */

/** Elements that are lines of their own. */
const LINES = /^(h[1-6]|p|ul|ol|li|blockquote|div|table|tr|dl|dt|dd|pre|dpscope-(?!value).*)$/;

/**
 * Every page of a build, in the order of their addresses.
 *
 * @typedef {{ url: string, outputPath: string, content: string }} Result
 * @param {Result[]} results
 */
export function searchedPages(results) {
  const pages = results.filter(({ outputPath }) => outputPath.endsWith(".html"));
  return pages
    .map(({ url, content }) => searchedPage(content, url.slice(1)))
    .sort((one, other) => (one.url < other.url ? -1 : 1));
}

/**
 * @param {string} html of a page of the template
 * @param {string} url from the root of the site, without a slash at its start
 * @returns {SearchedPage}
 */
export function searchedPage(html, url) {
  const { children } = parseDocument(html);
  const article = findOne(({ name }) => name === "article", children);
  const listed = findOne(({ attribs }) => attribs["aria-current"] === "page", children);
  if (article === null || listed === null) throw new Error(`${url} is not a page of the template`);
  /** @type {SearchedPage} */
  const page = { url, folder: "", title: "", label: textContent(listed), sections: [] };
  for (const child of article.children.filter(isTag)) {
    const lines = linesOf(textOf(child));
    if (child.attribs.class === "section") page.folder = lines.join();
    else if (/^h[1-3]$/.test(child.name)) {
      const { id = "" } = child.attribs;
      page.sections.push({ id, heading: lines.join(), text: "", code: "" });
    } else {
      const section = page.sections.at(-1);
      if (section === undefined) throw new Error(`${url}: text before the title`);
      const part = child.name === "pre" ? "code" : "text";
      section[part] = [section[part], ...lines].join("\n").trimStart();
    }
  }
  page.title = page.sections[0]?.heading ?? "";
  return page;
}

/**
 * @param {string} text
 * @returns {string[]} its lines, without those that are empty
 */
function linesOf(text) {
  const lines = text.split("\n").map((line) => line.replace(/\s+/g, " ").trim());
  return lines.filter((line) => line !== "");
}

/**
 * Text with the line breaks of the page, not those of its source.
 *
 * @param {Node} node
 * @returns {string}
 */
function textOf(node) {
  if (!isTag(node)) return textContent(node).replace(/\s+/g, " ");
  if (node.name === "math") return formulaOf(node);
  if (node.name === "pre") return `\n${textContent(node).replace(/\\\n/g, "")}\n`; // one command
  const parts = node.children.map(textOf);
  if (node.name === "tr") return `\n${parts.filter((part) => part.trim() !== "").join(" · ")}\n`;
  return LINES.test(node.name) ? `\n${parts.join("")}\n` : parts.join("");
}
