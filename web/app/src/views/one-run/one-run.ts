import { html, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";

let loaded: typeof import("./run") | undefined;

/** An audit from the canaries of one training run, loaded on demand. */
export function oneRun(app: App): TemplateResult {
  if (loaded === undefined) {
    void import("./run").then((module) => {
      loaded = module;
      app.redraw();
    });
  }
  return html`<div class="lead">
      <h1>One run</h1>
      <p>
        One training, many canaries, each included by a fair coin. An attacker guesses the coins
        from the trained model; the correct guesses bound ε from below.
      </p>
    </div>
    ${loaded?.run(app)}`;
}
