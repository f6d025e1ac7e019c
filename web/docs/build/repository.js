/** Documents of the repository that are pages of the site too, with the files beside them. */

import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path/posix";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/**
 * Where each document appears, and in which order.
 *
 * @type {Record<string, Place>}
 */
const DOCUMENTS = {
  "web/calculators/README.md": { at: "embeds/recipes", order: 1, label: "Recipes and reference" },
  "crates/py/README.md": { at: "guides/python", order: 1, label: "In Python" },
  "crates/py/guides/opacus.md": { at: "guides/opacus", order: 2 },
  "crates/py/guides/pytorch.md": { at: "guides/pytorch", order: 3 },
  "crates/py/guides/jax.md": { at: "guides/jax", order: 4 },
  "crates/py/guides/hugging-face.md": { at: "guides/hugging-face", order: 5 },
  "crates/py/guides/pitfalls.md": { at: "guides/pitfalls", order: 6, label: "Pitfalls" },
  "crates/cli/examples/own_trainer/README.md": { at: "guides/own-trainer", order: 7 },
  "crates/cli/examples/one_run/README.md": { at: "guides/one-run", order: 8 },
  "crates/cli/examples/language_model/README.md": { at: "guides/language-model", order: 9 },
  "crates/cli/examples/fine_tuning/README.md": { at: "guides/fine-tuning", order: 9 },
  "crates/cli/examples/federated/README.md": { at: "guides/federated", order: 10 },
  "crates/cli/examples/own_generator/README.md": { at: "guides/own-generator", order: 11 },
  "crates/cli/examples/imports/README.md": { at: "guides/imports", order: 12 },
  "crates/cli/examples/loaders/README.md": { at: "guides/loaders", order: 13 },
  "crates/train/DATA.md": { at: "guides/data-sets", order: 14 },
  "crates/report/NIST-SP-800-226.md": {
    at: "guides/nist-sp-800-226",
    order: 15,
    label: "Reports and NIST SP 800-226",
  },
};

/**
 * @typedef {{ at: string, order: number, label?: string }} Place
 * @typedef {Place & { source: string, title: string, text: string }} Document
 */

/** @returns {Document[]} */
export function documents() {
  return Object.entries(DOCUMENTS).map(([source, place]) => {
    const whole = readFileSync(ROOT + source, "utf8");
    const [, title = "", text = ""] = whole.match(/^# (.*)\n([\s\S]*)$/) ?? [];
    if (title === "") throw new Error(`${source} does not begin with its title`);
    return { source, ...place, title: title.replaceAll("`", ""), text };
  });
}

/** Files beside the documents of examples: their path in the repository, and in the site. */
export function filesBeside() {
  return Object.entries(DOCUMENTS)
    .filter(([source]) => source.startsWith("crates/cli/examples/"))
    .flatMap(([source, { at }]) => {
      const names = readdirSync(ROOT + dirname(source));
      const others = names.filter((name) => name !== basename(source));
      return others.map((name) => ({ source: `${dirname(source)}/${name}`, at: `${at}/${name}` }));
    });
}
