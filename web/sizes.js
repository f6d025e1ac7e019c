// `node sizes.js [--wasm]`: compressed download sizes against their budgets.

import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const WEB = dirname(fileURLToPath(import.meta.url));
const KIB = 1024;

/** Loaded when an audit starts, when a view asks for more than theory, or for the next visit. */
const LATER =
  /accounting|audit|studies|files|training|dpscope_pate|dpscope_synth|one_shot|(count|one-shot|pategan|generator)\.worker|^offline\.js$/;

/**
 * Names of files that the text of a page, a script or a style loads at once: what an `import(…)`
 * names, or Vite's list of what such imports bring along, comes later.
 *
 * @param {string} text
 * @returns {string[]}
 */
export function loadedBy(text) {
  const atOnce = text
    .replace(/\bimport\s*\([^)]*\)/g, "")
    .replace(/__vite__mapDeps\s*=.*?\[[^\]]*\]/gs, "");
  const quoted = atOnce.matchAll(/["'`(]([\w./-]+\.(?:js|css|wasm|woff2|svg))["'`)]/g);
  return [...new Set([...quoted].map((match) => basename(match[1] ?? "")))];
}

/**
 * Every file that is loaded before the reader does anything: the page, what it names, and so on.
 *
 * @param {Map<string, Buffer>} files by name
 * @param {string} start
 * @returns {string[]}
 */
export function loadedFrom(files, start) {
  const reached = new Set([start]);
  for (const name of reached) {
    if (!/\.(html|js|css)$/.test(name)) continue;
    for (const next of loadedBy(files.get(name)?.toString("utf8") ?? "")) {
      if (files.has(next) && !LATER.test(next)) reached.add(next);
    }
  }
  return [...reached];
}

/**
 * @typedef {{ what: string, raw: number, gzipped: number, most: number }} Row
 *
 * @param {string} what
 * @param {Buffer[]} parts
 * @param {number} kibibytes the budget
 * @returns {Row}
 */
export function row(what, parts, kibibytes) {
  const sum = (/** @type {(part: Buffer) => number} */ size) =>
    parts.reduce((total, part) => total + size(part), 0);
  return {
    what,
    raw: sum((part) => part.length),
    gzipped: sum((part) => gzipSync(part, { level: 9 }).length),
    most: kibibytes * KIB,
  };
}

/**
 * A table for display.
 *
 * @param {Row[]} rows
 */
export function table(rows) {
  // Rounded up, so that a size shown within its budget is.
  const kibibytes = (/** @type {number} */ bytes) =>
    (Math.ceil((bytes / KIB) * 10) / 10).toFixed(1);
  const lines = rows.map(({ what, raw, gzipped, most }) => {
    const figures = [raw, gzipped, most].map((bytes) => kibibytes(bytes).padStart(9));
    return `${what.padEnd(28)}${figures.join("")}${gzipped > most ? "  OVER" : ""}`;
  });
  return [`${"KiB".padEnd(28)}      raw  gzipped     most`, ...lines].join("\n");
}

/**
 * Files below a folder, by name; the folders of `except` are left out.
 *
 * @param {string} folder
 * @param {string[]} except
 * @returns {Map<string, Buffer>}
 */
function read(folder, except = []) {
  const files = new Map();
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isFile()) files.set(entry.name, readFileSync(path));
    else if (!except.includes(entry.name)) {
      for (const [name, bytes] of read(path)) files.set(name, bytes);
    }
  }
  return files;
}

/** @returns {Row[]} */
function bundles() {
  const module = (/** @type {string} */ feature) =>
    readFileSync(join(WEB, `wasm/${feature}/dpscope_${feature}_bg.wasm`));
  return [
    row("dpscope_calculators_bg.wasm", [module("calculators")], 83),
    row("dpscope_accounting_bg.wasm", [module("accounting")], 113),
    row("dpscope_studies_bg.wasm", [module("studies")], 241),
    row("dpscope_files_bg.wasm", [module("files")], 815),
    row("dpscope_one_shot_bg.wasm", [module("one_shot")], 63),
    row("dpscope_pate_bg.wasm", [module("pate")], 32),
    row("dpscope_synth_bg.wasm", [module("synth")], 369),
    row("dpscope_audits_bg.wasm", [module("audits")], 225),
    row("dpscope_training_bg.wasm", [module("training")], 822),
    row("dpscope_training_canaries_bg.wasm", [module("training_canaries")], 1091),
  ];
}

/** @returns {Row[]} */
function pages() {
  const embed = read(join(WEB, "dist/calculators"));
  const inline = "dpscope-calculators-inline.js";
  const isScript = (/** @type {string} */ name) => name.endsWith(".js") && name !== inline;
  const scripts = [...embed].filter(([name]) => isScript(name)).map(([, bytes]) => bytes);
  const search = [...read(join(WEB, "dist/docs"))].filter(([name]) => /^search.*\.js$/.test(name));
  const searched = readFileSync(join(WEB, "dist/docs/search.json"));
  const app = read(join(WEB, "dist"), ["calculators", "docs"]);
  const first = loadedFrom(app, "index.html").map((name) => app.get(name) ?? Buffer.alloc(0));
  return [
    row("embed JS", scripts, 35),
    row(inline, [embed.get(inline) ?? Buffer.alloc(0)], 322),
    row("widget.js", [readFileSync(join(WEB, "widget/widget.js"))], 322),
    row("explore.js", [readFileSync(join(WEB, "widget/explore.js"))], 477),
    row(
      "search of the docs, JS",
      search.map(([, bytes]) => bytes),
      13,
    ),
    row("search.json", [searched], 89),
    row("app, first load", first, 146),
  ];
}

function main() {
  const rows = process.argv.includes("--wasm") ? bundles() : [...bundles(), ...pages()];
  console.log(table(rows));
  if (rows.some(({ gzipped, most }) => gzipped > most)) throw new Error("over the budget");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    main();
  } catch (error) {
    console.error(`error: ${/** @type {Error} */ (error).message}`);
    process.exitCode = 1;
  }
}
