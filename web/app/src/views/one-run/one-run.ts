import { html, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";
import { run } from "./run";

/** An audit from the canaries of one training run. */
export function oneRun(app: App): TemplateResult {
  return html`<div class="lead">
      <h1>One run</h1>
      <p>
        One training, many canaries, each included by a fair coin. An attacker guesses the coins
        from the trained model; the correct guesses bound ε from below.
      </p>
    </div>
    ${run(app)}`;
}
