import { html, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";
import { sums } from "./sums";

/** An audit from canary clients in one federated training. */
export function federated(app: App): TemplateResult {
  return html`<div class="lead">
      <h1>Federated</h1>
      <p>
        Canary clients send random directions in one training run. The cosine between what the
        server releases and the direction of a canary that did not take part has a known
        distribution, so the cosines of those that did bound ε from below.
      </p>
    </div>
    ${sums(app)}`;
}
