import type { RecordedRun } from "@dpscope/wasm/one_run";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { numberText } from "../../../../fields/field";
import { confidence, decimalsOf, type Kind, rounded, SIGN } from "../../../../numbers/rounded";
import { verdicts } from "../../../../numbers/words.json";
import type { App } from "../../app";
import { scientificDelta } from "../../components/badge";
import { choose, labelled } from "../../components/choose";
import { copies, copyLine } from "../../components/copies";
import { plain } from "../../components/paired";
import { bibtex } from "../../copies/bibtex";
import { oneRunCommand } from "../../copies/command";
import { linkOf } from "../../copies/link";
import { capitalised } from "../../numbers/accounted";
import type { OneRunSession } from "../../one-run/session";

/** The reader's files of one run, and their report. */
export function upload(app: App, session: OneRunSession): TemplateResult {
  const add = (list: FileList | null | undefined) => void session.add(list ?? []);
  const hasPlan = session.nameOf("plan") !== undefined;
  return html`<section class="spaced" aria-labelledby="files-head">
    <h2 id="files-head">Audit my own run</h2>
    <p>
      The scores of your canaries with their coins, with the files of a committed plan, or with scores
      of canaries that were not included. The files stay in this browser.
    </p>
    <div
      class="drop run-files"
      @dragover=${(event: DragEvent) => event.preventDefault()}
      @drop=${(event: DragEvent) => {
        event.preventDefault();
        add(event.dataTransfer?.files);
      }}
    >
      <label for="run-files">Files of the run</label>
      <input
        id="run-files"
        type="file"
        multiple
        aria-describedby="run-files-hint"
        @change=${(event: Event) => {
          const input = event.target as HTMLInputElement;
          add(input.files);
          input.value = "";
        }}
      />
      <p class="hint" id="run-files-hint">
        Choose or drop several at once: scores.npy with coins.npy, and sets.npy where one canary of
        each set was included; scores of each run with plan.json, seed.secret and commitment.txt; or
        scores.npy with null_scores.npy or pool_scores.npy. canaries.npz is compared with plan and
        coins, baseline.npy has scores of a model without the canaries. Also csv, npz and
        safetensors.
      </p>
      <ul class="file-list" aria-live="polite">
        ${session.files.map(
          (file) =>
            html`<li>
              <span class="file-name">${file.name}</span>
              <span class=${file.refused === undefined ? "hint" : "refused"}
                >${file.refused ?? file.role}</span
              >
              <button
                type="button"
                class="quiet"
                aria-label="Remove ${file.name}"
                @click=${() => session.remove(file)}
              >
                Remove
              </button>
            </li>`,
        )}
      </ul>
    </div>
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
        ${session.found === undefined ? nothing : found(app, session, session.found)}
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

/** How the number of canaries was drawn before the training. */
function numberDrawn(app: App): TemplateResult {
  const { run_number } = app.state;
  return html`${choose(app, "run_number")}
  ${run_number === "poisson" ? plain(app, "run_mean") : nothing}
  ${run_number === "bernoulli" ? html`${plain(app, "run_slots")} ${plain(app, "run_inclusion")}` : nothing}`;
}

/** The bound for any training algorithm. */
function boundOf(report: RecordedRun["report"]): { epsilon: number; delta: number } | undefined {
  if ("delta" in report) return { epsilon: report.bounds.epsilon, delta: report.delta };
  return report.bounds[0];
}

function found(app: App, session: OneRunSession, { report, text }: RecordedRun): unknown {
  const bound = boundOf(report);
  if (bound === undefined) return nothing;
  const kind: Kind = report.kind === "bound" ? "lower" : "estimate";
  const decimals = decimalsOf(report.claim?.epsilon, bound.epsilon, 4);
  const command = oneRunCommand(app.state, (role) => session.namesOf(role));
  const json = () => JSON.stringify(report, null, 2);
  return html`<h2 id="run-found-head" class="hidden">Result</h2>
    <div class="outcome">
      <div>
        <p class="big audit">
          <span class="sign">ε ${SIGN[kind]}</span> ${rounded(bound.epsilon, kind, decimals)}
        </p>
        <p class="under">
          at δ =
          ${scientificDelta(bound.delta)}${
            kind === "lower"
              ? `, with ${confidence(report.significance)} confidence`
              : ": an estimate, without coverage"
          }
        </p>
      </div>
      <div class="verdict">
        ${
          report.claim === null || report.claim === undefined
            ? nothing
            : html`<p>
                  Claim ε = ${numberText(report.claim.epsilon)}:
                  <strong class=${report.claim.verdict.outcome === "refuted" ? "refuted" : ""}
                    >${verdicts[report.claim.verdict.outcome]}</strong
                  >
                </p>
                <p class="small">${report.claim.says}</p>`
        }
        ${report.findings.map((finding) => html`<p class="note">${capitalised(finding.sentence)}.</p>`)}
      </div>
    </div>
    <details class="data" open>
      <summary>The whole report</summary>
      <pre class="report" tabindex="0">${text}</pre>
    </details>
    <div class="reproduce">
      ${copyLine(app, command)}
      <a
        class="quiet download"
        download="one-run.json"
        href=${`data:application/json;charset=utf-8,${encodeURIComponent(json())}`}
        >Download JSON</a
      >
      ${copies(app, "copy-run", [
        { name: "number", text: () => rounded(bound.epsilon, kind, 4) },
        { name: "JSON", text: json },
        { name: "report", text: () => text },
        { name: "link", text: () => linkOf(app) },
        { name: "BibTeX", text: () => bibtex(app.version, linkOf(app)) },
        { name: "command", text: () => command },
      ])}
    </div>`;
}
