import { html, nothing, type TemplateResult } from "lit/html.js";
import rows from "../../../numbers/loaders.json";
import type { App } from "../app";
import type { MoreOptions } from "../components/choose";
import { copyLine } from "../components/copies";
import { ALL, type Sampler } from "../state/samplers";

interface LibraryLoader {
  name: string;
  batches: string;
  behaviour: string;
  traps: readonly string[];
  source: string;
}

const LOADERS: readonly LibraryLoader[] = rows;

/** The loader that was chosen by its name. */
let chosen: LibraryLoader | undefined;

/** Loaders of libraries as options, each of which selects its batches. */
export function byName(app: App): MoreOptions {
  return {
    options: html`<optgroup label="By its name in your code">
      ${LOADERS.map(({ name }) => html`<option value=${name}>${name}</option>`)}
    </optgroup>`,
    chosen(value) {
      chosen = LOADERS.find(({ name }) => name === value);
      if (chosen === undefined) return false;
      if (isSampler(chosen.batches)) app.change({ check_loader: chosen.batches });
      app.redraw();
      return true;
    },
  };
}

/** What is documented of the chosen loader. */
export function aboutChosen(app: App): TemplateResult | typeof nothing {
  if (chosen === undefined) return nothing;
  const { name, batches, behaviour, traps, source } = chosen;
  const hasSampler = isSampler(batches);
  if (hasSampler && batches !== app.state.check_loader) return nothing;
  return html`<div class="hint">
    <p><code>${name}</code>: ${behaviour} Source: ${source}.</p>
    <ul>
      ${traps.map((trap) => html`<li>${trap}</li>`)}
    </ul>
    ${
      hasSampler
        ? nothing
        : html`<p>No sampler of this page forms such batches. The program reports what is proven:</p>
            ${copyLine(app, `dpscope check --loader "${name}"`)}`
    }
  </div>`;
}

function isSampler(batches: string): batches is Sampler {
  return (ALL as readonly string[]).includes(batches);
}
