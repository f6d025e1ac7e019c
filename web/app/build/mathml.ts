import { readFileSync } from "node:fs";
import temml from "temml";
import type { Plugin } from "vite";

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
  const rendered = page.replace(MATHS, (_, display: string | undefined, formula: string) => {
    const isDisplay = display !== undefined;
    const options = { displayMode: isDisplay, throwOnError: true, annotate: false };
    // The page's policy allows no inline style; this only drops small spaces.
    const math = temml
      .renderToString(entities(formula), options)
      .replace(/ style="[^"]*"/g, "")
      // Browsers take variables from Mathematical Italic, which few text fonts have: CSS slants them.
      .replace(
        /<mi(?: class="[^"]*")?>(.)<\/mi>/gu,
        '<mi mathvariant="normal" class="variable">$1</mi>',
      );
    // Fonts decide whether a formula fits: a box that may scroll must take the focus.
    return isDisplay
      ? `<div class="formula" tabindex="0" role="group" aria-label="Formula">${math}</div>`
      : math;
  });
  const escaped = rendered.replace(/[\\`]|\$\{/g, (sign) => `\\${sign}`);
  return `import { html } from "lit/html.js";\nexport default () => html\`${escaped}\`;\n`;
}

function entities(formula: string): string {
  return formula.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
