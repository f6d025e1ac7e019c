import { html, nothing, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";
import { choose, labelled } from "../../components/choose";
import { fileDrop } from "../../components/file-drop";
import { numberDrawn } from "../../components/number-drawn";
import { plain } from "../../components/paired";
import { recordedReport } from "../../components/recorded-report";
import { oneRunCommand } from "../../copies/command";
import type { OneRunSession } from "../../one-run/session";

const HINT =
  "Choose or drop several at once: scores.npy with coins.npy, and sets.npy where one canary of each set was included; scores of each run with plan.json, seed.secret and commitment.txt; or scores.npy with null_scores.npy or pool_scores.npy. canaries.npz is compared with plan and coins, baseline.npy has scores of a model without the canaries. Also csv, npz and safetensors.";

/** The reader's files of one run, and their report. */
export function upload(app: App, session: OneRunSession): TemplateResult {
  const hasPlan = session.files.namesOf("plan").length > 0;
  const command = oneRunCommand(app.state, (role) => session.files.namesOf(role));
  return html`<section class="spaced" aria-labelledby="files-head">
    <h2 id="files-head">Audit my own run</h2>
    <p>
      The scores of your canaries with their coins, with the files of a committed plan, or with scores
      of canaries that were not included. The files stay in this browser.
    </p>
    ${fileDrop({
      id: "run-files",
      label: "Files of the run",
      hint: HINT,
      files: session.files.list,
      add: (files) => void session.add(files),
      remove: (file) => session.remove(file),
    })}
    <div class="split spaced">
      <form
        class="fields"
        aria-label="The audit of the files"
        @submit=${(event: Event) => event.preventDefault()}
      >
        ${plain(app, "run_claim")}
        ${
          hasPlan
            ? html`<p class="hint">The plan fixes all other settings.</p>`
            : html`${
                session.hasNull
                  ? numberDrawn(app)
                  : html`${choose(app, "run_rule")} ${labelled(app, "run_game")}`
              }
                ${labelled(app, "run_higher")}
                <p class="hint">
                  δ and significance${session.hasNull ? "" : ", and k,"} are those above.
                </p>`
        }
      </form>
      <section
        class="panel"
        aria-labelledby="run-found-head"
        aria-busy=${String(session.isBusy)}
      >
        ${
          session.foundFailure === undefined
            ? nothing
            : html`<h2 id="run-found-head">These files cannot be audited</h2>
                <p class="failure" role="alert">${session.foundFailure}</p>`
        }
        ${
          session.found === undefined
            ? nothing
            : recordedReport(app, "run-found-head", session.found, command, "one-run.json")
        }
        ${
          session.found === undefined && session.foundFailure === undefined
            ? html`<h2 id="run-found-head">
                  ${session.isBusy ? "Auditing …" : session.waitsFor}
                </h2>
                <p class="small">A lower bound on ε, with findings and a verdict on your claim.</p>`
            : nothing
        }
      </section>
    </div>
  </section>`;
}
