import "../../styles/synthetic.css";
import { html, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";
import { bench } from "./bench";

/** An audit of a generator of synthetic rows. */
export function synthetic(app: App): TemplateResult {
  return html`<div class="lead">
      <h1>Synthetic data</h1>
      <p>
        PATE-GAN is trained many times with one target row and many times without it, faithfully or
        with the faults of published code. An attacker sees the released rows; detectors look
        inside.
      </p>
    </div>
    ${bench(app)}`;
}
