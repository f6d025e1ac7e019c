/** How Markdown becomes HTML here: formulas, headings with links, code and tables that scroll. */

import { tex } from "@mdit/plugin-tex";
import anchor from "markdown-it-anchor";
import { formula } from "../../app/build/formula.js";

/**
 * @typedef {import("markdown-it").default} Markdown
 * @typedef {import("markdown-it").Token} Token
 */

/** @param {Markdown} markdown */
export function extended(markdown) {
  markdown.set({ html: true, linkify: false, typographer: true }).disable("replacements"); // quotes
  markdown.use(tex, { render: (content, isDisplay) => formula(content, isDisplay) });
  markdown.use(anchor, {
    level: [2, 3],
    slugify: slug,
    permalink: anchor.permalink.headerLink({ safariReaderFix: true }),
  });
  markdown.renderer.rules.table_open = () =>
    '<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n';
  markdown.renderer.rules.table_close = () => "</table></div>\n";
  markdown.renderer.rules.fence = (tokens, index) => code(tokens[index], markdown);
  markdown.renderer.rules.code_block = (tokens, index) => code(tokens[index], markdown);
}

/**
 * The name of a heading in addresses.
 *
 * @param {string} text
 */
export function slug(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["section"];
  return words.join("-");
}

/**
 * A block of code, with the commands of a console in bold type.
 *
 * @param {Token | undefined} token
 * @param {Markdown} markdown
 */
function code(token, markdown) {
  const { content = "", info = "" } = token ?? {};
  const [language = ""] = info.split(/\s+/);
  const lines = markdown.utils.escapeHtml(content).trimEnd().split("\n");
  const text = language === "console" ? commandsIn(lines) : lines.join("\n");
  const label = language === "console" ? "Command and output" : "Code";
  return `<pre class="code" tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>\n`;
}

/** @param {string[]} lines */
function commandsIn(lines) {
  let continues = false;
  const marked = lines.map((line) => {
    const isCommand = continues || line.startsWith("$ ");
    continues = isCommand && line.endsWith("\\");
    return isCommand ? `<b>${line}</b>` : line;
  });
  return marked.join("\n");
}

/**
 * The headings of a page, for the list "On this page".
 *
 * @param {string} html
 */
export function headingsOf(html) {
  const found = html.matchAll(
    /<h2 id="([^"]+)"[^>]*><a[^>]*>(?:<span>)?([\s\S]*?)(?:<\/span>)?<\/a><\/h2>/g,
  );
  return [...found].map(([, id, text]) => ({ id, text }));
}
