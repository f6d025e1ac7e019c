import { html, nothing, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";
import { copyLine } from "../../components/copies";
import { paired } from "../../components/paired";
import { significance } from "../../components/significance";
import { gaussianCommand } from "../../copies/command";
import { FederatedSession } from "../../federated/session";
import { oneShotWorker } from "../../workers/spawn";
import { aboveTruth } from "./above";
import { cosineChart } from "./cosines";
import { rules } from "./rules";

let session: FederatedSession | undefined;

/** A simulated noisy sum, and how often each rule exceeds the truth. */
export function sums(app: App): TemplateResult {
  session ??= new FederatedSession(oneShotWorker, () => app.redraw());
  session.show(app.state);
  const { state } = app;
  return html`<div class="split">
      <form class="fields" aria-label="The sum">
        ${paired(app, "fed_noise")} ${paired(app, "fed_presentations")}
        ${paired(app, "fed_canaries")} ${paired(app, "fed_dimension")} ${paired(app, "delta")}
        ${significance(app)}
      </form>
      <section
        class="panel"
        aria-labelledby="sum-head"
        aria-busy=${String(session.isStale && session.failure === undefined)}
      >
        <h2 id="sum-head">A simulated run</h2>
        ${
          session.failure === undefined
            ? nothing
            : html`<p class="failure" role="alert">${session.failure}</p>`
        }
        ${
          session.sum === undefined
            ? session.failure === undefined
              ? html`<p class="small">Simulating …</p>`
              : nothing
            : html`${cosineChart(app.layout.split, session.sum, state.fed_dimension)}
                ${rules(app, session.sum)}
                <div class="reproduce">
                  ${copyLine(app, gaussianCommand(state, session.sum.noise_multiplier))}
                </div>`
        }
      </section>
    </div>
    ${aboveTruth(app, session)}`;
}
