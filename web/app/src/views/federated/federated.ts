import { html, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";
import { question } from "../question/question";
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
    ${sums(app)}
    <section class="spaced" aria-labelledby="own-training-head">
      <h2 id="own-training-head">Audit my own training</h2>
      <p>
        The cosines of your canary clients, with the files of a committed plan or with the number of
        trained parameters; or two models, with the plan. The files stay in this browser. Updates of
        every server round are audited by the program, <code>dpscope audit federated</code>.
      </p>
      ${question(app, "federated")}
    </section>`;
}
