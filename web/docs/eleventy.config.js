// The documentation: `npm run docs` in web writes it to dist/docs, after the build of the app.

import { existsSync, rmSync, writeFileSync } from "node:fs";
import { contentsOf, neighbours, sectionOf } from "./build/contents.js";
import { withLinks } from "./build/links.js";
import { extended, headingsOf } from "./build/markdown.js";
import { documents, filesBeside, ROOT } from "./build/repository.js";
import { searchedPages } from "./build/sections.js";
import { style } from "./build/style.js";

const FROM_REPOSITORY = documents();

/**
 * Addresses of the documents and files of the repository that are in the site.
 *
 * @type {Map<string, string>}
 */
const places = new Map();
for (const { source, at } of FROM_REPOSITORY) {
  const names = [source, source.replace(/\/README\.md$/, ""), `web/docs/${at}.md`];
  for (const name of names) places.set(name, `/${at}/`);
}
for (const { source, at } of filesBeside()) places.set(source, `/${at}`);

/** @param {string} path in the repository */
function place(path) {
  const [, name] = path.match(/^web\/docs\/(.*)$/) ?? [];
  if (name === undefined || !existsSync(ROOT + path)) return places.get(path);
  if (name.startsWith("files/")) return `/${name}`;
  const page = name.match(/^(.*?)(?:(?<=^|\/)index)?\.md$/)?.[1];
  return page === undefined ? undefined : `/${page}/`.replace(/\/+$/, "/");
}

/**
 * What the search of the site reads.
 *
 * @param {{ results: import("./build/sections.js").Result[] }} built
 */
function writeSearched({ results }) {
  writeFileSync("dist/docs/search.json", JSON.stringify(searchedPages(results)));
}

/** @typedef {{ page: { url: string, inputPath: string, outputPath: string | false } }} Rendered */

/** @param {any} config which Eleventy does not describe in types */
export default function site(config) {
  config.on("eleventy.before", () => rmSync("dist/docs", { recursive: true, force: true })); // old pages
  config.on("eleventy.after", writeSearched);
  config.setNunjucksEnvironmentOptions({ throwOnUndefined: true });
  config.amendLibrary("md", extended);
  config.addGlobalData("layout", "page.njk");
  for (const { at, text, title, order, label } of FROM_REPOSITORY) {
    config.addTemplate(`${at}.md`, text, { title, order, label, templateEngineOverride: "md" });
  }
  for (const { source, at } of filesBeside()) config.addPassthroughCopy({ [ROOT + source]: at });
  config.addPassthroughCopy({ "docs/files": "files", "docs/theme.js": "theme.js" });
  config.addTemplate("style.11ty.js", style, { permalink: "/style.css", layout: false });
  config.addCollection("contents", (/** @type {any} */ pages) => contentsOf(pages.getAll()));
  config.addFilter("neighbours", neighbours);
  config.addFilter("sectionOf", sectionOf);
  config.addFilter("headingsOf", headingsOf);
  config.addTransform(
    "links",
    /** @type {(this: Rendered, html: string) => string} */
    function links(html) {
      const { url, outputPath, inputPath } = this.page;
      if (outputPath === false || !outputPath.endsWith(".html")) return html;
      const document = FROM_REPOSITORY.find(({ at }) => url === `/${at}/`);
      const source = document?.source ?? inputPath.replace(/^\.\//, "web/");
      return withLinks(html, { url, source }, place);
    },
  );
}

export const config = {
  dir: { input: "docs", output: "dist/docs" },
  templateFormats: ["md", "11ty.js"],
  markdownTemplateEngine: "njk",
};
