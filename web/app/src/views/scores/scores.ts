import { html, nothing, type TemplateResult } from "lit/html.js";
import { confidence } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { choose, labelled } from "../../components/choose";
import { labelOf, note, numberInput, paired } from "../../components/paired";
import { drop } from "./drop";
import { found } from "./found";

/** Audits the user's files of scores. */
export function scores(app: App): TemplateResult {
  const { state, scores } = app;
  return html`<div class="lead">
      <h1>Audit my own scores</h1>
      <p>
        One score per training run, from any attack: one file for runs with the target record, one
        for runs without. The files stay in this browser.
      </p>
    </div>
    <div class="drops">
      ${drop(app, "target", "With the target record")} ${drop(app, "zero_out", "Without it")}
    </div>
    <p class="hint">
      npy, npz, csv or safetensors; up to 64 MiB each. One npz, csv or safetensors file may contain
      both worlds as <code>target</code> and <code>zero_out</code>.
    </p>
    <p class="sample">
      <button type="button" class="quiet" @click=${() => void scores.addSample()}>
        Try sample scores
      </button>
      <span class="hint">2,500 runs of each world: one Gaussian step with noise multiplier 0.5.</span>
    </p>
    <div class="split spaced">
      <form class="fields" aria-label="The audit" @submit=${(event: Event) => event.preventDefault()}>
        ${paired(app, "delta")}
        ${paired(app, "significance", {
          hint: `Probability that the bound is wrong: here ${confidence(state.significance)} confidence.`,
        })}
        ${claimField(app)} ${choose(app, "scores_rule")} ${labelled(app, "scores_higher")}
      </form>
      <section class="panel" aria-labelledby="found-head" aria-busy=${String(scores.isBusy)}>
        ${
          scores.failure === undefined
            ? nothing
            : html`<h2 id="found-head">These files cannot be audited</h2>
                <p class="failure" role="alert">${scores.failure}</p>`
        }
        ${scores.found === undefined ? nothing : found(app, scores.found)}
        ${
          scores.failure === undefined && scores.found === undefined
            ? html`<h2 id="found-head">
                  ${waiting(app)}
                </h2>
                <p class="small">
                  A lower bound on ε, with the attacker’s errors and the trade-off curve of your
                  attack.
                </p>`
            : nothing
        }
      </section>
    </div>`;
}

function claimField(app: App): TemplateResult {
  const refused = app.refused.get("scores_claim");
  const described = refused === undefined ? "" : "scores_claim-hint";
  return html`<div class="paired">
    ${labelOf("scores_claim")} ${numberInput(app, "scores_claim", described)}
    ${note("scores_claim-hint", refused)}
  </div>`;
}

function waiting({ scores }: App): string {
  if (scores.isBusy) return "Auditing …";
  const { target, zero_out } = scores.files;
  return target?.about !== undefined && zero_out === undefined
    ? "Now add the runs without the target"
    : "Your result will appear here";
}
