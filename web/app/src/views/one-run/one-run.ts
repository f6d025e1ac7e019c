import { html, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";
import { question } from "../question/question";
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
    ${run(app)}
    <section class="spaced" aria-labelledby="own-run-head">
      <h2 id="own-run-head">Audit my own run</h2>
      <p>
        The scores of your canaries with their coins, with the files of a committed plan, or with
        scores of canaries that were not included. The files stay in this browser.
      </p>
      ${question(app, "one-run")}
    </section>`;
}
