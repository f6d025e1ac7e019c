import { html, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";

let loaded: typeof import("./mechanism") | undefined;

/** Trainings with correlated noise, loaded on demand. */
export function matrix(app: App): TemplateResult {
  if (loaded === undefined) {
    void import("./mechanism").then((module) => {
      loaded = module;
      app.redraw();
    });
  }
  return html`<div class="lead">
      <h1>Correlated noise (DP-FTRL)</h1>
      <p>
        DP-FTRL and matrix mechanisms add noise that partly cancels in later steps, so that sums of
        updates are less noisy at the same ε. Batches need no random order: the bound depends on
        how often, and how far apart, a participant takes part.
      </p>
    </div>
    ${loaded?.mechanism(app)}`;
}
