import { readFileSync } from "node:fs";
import temml from "temml";
import type { Plugin } from "vite";

const MATHS = /<math-tex( display)?>([\s\S]*?)<\/math-tex>/g;
const QUERY = "?mathml";

/** Turns `page.html?mathml` into a Lit template whose formulas are MathML: nothing of a typesetter
 * is left to run in the browser. */
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

/** A module that gives the page as a template. */
export function template(page: string): string {
  const rendered = page.replace(MATHS, (_, display: string | undefined, formula: string) => {
    const options = { displayMode: display !== undefined, throwOnError: true, annotate: false };
    // The page's policy allows no inline style; what is left out are small spaces.
    return temml.renderToString(entities(formula), options).replace(/ style="[^"]*"/g, "");
  });
  const escaped = rendered.replace(/[\\`]|\$\{/g, (sign) => `\\${sign}`);
  return `import { html } from "lit/html.js";\nexport default () => html\`${escaped}\`;\n`;
}

function entities(formula: string): string {
  return formula.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
