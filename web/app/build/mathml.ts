import { readFileSync } from "node:fs";
import type { Plugin } from "vite";
import { formula } from "./formula.js";

const MATHS = /<math-tex( display)?>([\s\S]*?)<\/math-tex>/g;
const QUERY = "?mathml";

/** Turns `page.html?mathml` into a Lit template whose formulas are MathML, so that no typesetter runs
 * in the browser. */
export function mathml(): Plugin {
  return {
    name: "dpscope-mathml",
    enforce: "pre",
    load(id) {
      if (!id.endsWith(QUERY)) return undefined;
      const file = id.slice(0, -QUERY.length);
      this.addWatchFile(file);
      return template(readFileSync(file, "utf8"));
    },
  };
}

/** A module that exports the page as a template. */
export function template(page: string): string {
  const rendered = page.replace(MATHS, (_, display: string | undefined, tex: string) =>
    formula(entities(tex), display !== undefined),
  );
  const escaped = rendered.replace(/[\\`]|\$\{/g, (sign) => `\\${sign}`);
  return `import { html } from "lit/html.js";\nexport default () => html\`${escaped}\`;\n`;
}

function entities(tex: string): string {
  return tex.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
