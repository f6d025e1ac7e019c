import { html, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";

let loaded: typeof import("./bench") | undefined;

/** An audit of a generator of synthetic rows, loaded on demand. */
export function synthetic(app: App): TemplateResult {
  if (loaded === undefined) {
    void import("./bench").then((module) => {
      loaded = module;
      app.redraw();
    });
  }
  return html`<div class="lead">
      <h1>Synthetic data</h1>
      <p>
        PATE-GAN is trained many times with one target row and many times without it, faithfully or
        with the faults of published code. An attacker sees the released rows; detectors look
        inside.
      </p>
    </div>
    ${loaded?.bench(app)}`;
}
