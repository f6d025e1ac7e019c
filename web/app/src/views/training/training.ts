import { html, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";
import { lab } from "./lab";

/** Models trained and audited in the page. */
export function training(app: App): TemplateResult {
  return html`<div class="lead">
      <h1>Train</h1>
      <p>
        Trains small models by DP-SGD in this browser, with canaries and without. What the attacker
        sees of each training is scored, and the scores bound ε from below.
      </p>
    </div>
    ${lab(app)}`;
}
