import { html, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";
import { mechanism } from "./mechanism";

/** Trainings with correlated noise. */
export function matrix(app: App): TemplateResult {
  return html`<div class="lead">
      <h1>Correlated noise (DP-FTRL)</h1>
      <p>
        DP-FTRL and matrix mechanisms add noise that partly cancels in later steps, so that sums of
        updates are less noisy at the same ε. Batches need no random order: the bound depends on
        how often, and how far apart, a participant takes part.
      </p>
    </div>
    ${mechanism(app)}`;
}
