import { html, nothing, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";
import { choose } from "../../components/choose";
import { copyLine } from "../../components/copies";
import { fileDrop } from "../../components/file-drop";
import { numberDrawn } from "../../components/number-drawn";
import { plain } from "../../components/paired";
import { recordedReport } from "../../components/recorded-report";
import { federatedCommand } from "../../copies/command";
import type { CosinesSession } from "../../federated/uploads";

const HINT =
  "Choose or drop several at once: cosines.csv with the columns canary and cosine, or one cosine per canary; or the models before and after the training, such as initial.safetensors and final.safetensors; of a committed plan also plan.json, seed.secret and commitment.txt, and audited.txt if there is one; unseen.csv has cosines of directions that no client sent, and control.npy the update of canary 0 as your code flattens it, which must have the direction of the plan. Also npy and npz.";

/** The reader's cosines or models, and their report. */
export function upload(app: App, session: CosinesSession): TemplateResult {
  const { files } = session;
  const command = federatedCommand(app.state, (role) => files.nameOf(role));
  return html`<section class="spaced" aria-labelledby="files-head">
    <h2 id="files-head">Audit my own training</h2>
    <p>
      The cosines of your canary clients, with the files of a committed plan or with the number of
      trained parameters; or two models, with the plan. The files stay in this browser. Updates of
      every server round are audited by the program, <code>dpscope audit federated</code>.
    </p>
    ${fileDrop({
      id: "fed-files",
      label: "Files of the training",
      hint: HINT,
      files: files.list,
      add: (added) => void session.add(added),
      remove: (file) => session.remove(file),
    })}
    <div class="split spaced">
      <form
        class="fields"
        aria-label="The audit of the files"
        @submit=${(event: Event) => event.preventDefault()}
      >
        ${plain(app, "fed_claim")} ${control(app, files.namesOf("cosines").length > 0)}
        ${
          files.namesOf("plan").length > 0 || files.namesOf("final_model").length > 0
            ? html`<p class="hint">The plan fixes all other settings.</p>`
            : stated(app)
        }
      </form>
      <section
        class="panel"
        aria-labelledby="fed-found-head"
        aria-busy=${String(session.isBusy)}
      >
        ${outcome(app, session, command)}
        ${
          files.hasRefused || session.failure !== undefined
            ? html`<p class="small">The program audits files of any size:</p>
                <div class="reproduce">${copyLine(app, command)}</div>`
            : nothing
        }
      </section>
    </div>
  </section>`;
}

const CONTROL_HINT =
  "A client that sends the control direction, long enough to be seen, in every server round: it shows whether the updates of clients arrive in what is audited.";

/** The control client; models yield its cosine. */
function control(app: App, hasCosines: boolean): TemplateResult {
  return html`${choose(app, "fed_control", CONTROL_HINT)}
    ${
      app.state.fed_control !== undefined && hasCosines ? plain(app, "fed_control_cosine") : nothing
    }`;
}

function stated(app: App): TemplateResult {
  return html`${plain(app, "fed_parameters")} ${numberDrawn(app)} ${plain(app, "fed_inserted")}
    ${choose(app, "fed_attacker")}
    ${app.state.fed_attacker === "all_updates" ? plain(app, "fed_server_rounds") : nothing}
    <p class="hint">δ and significance are those above.</p>`;
}

function outcome(app: App, session: CosinesSession, command: string): unknown {
  const { failure, found, isBusy, isCancelled } = session;
  if (failure !== undefined) {
    return html`<h2 id="fed-found-head">These files cannot be audited</h2>
      <p class="failure" role="alert">${failure}</p>`;
  }
  if (found !== undefined) {
    return recordedReport(app, "fed-found-head", found, command, "federated.json");
  }
  const title = isCancelled ? "Cancelled" : isBusy ? "Auditing …" : session.waitsFor;
  return html`<h2 id="fed-found-head">${title}</h2>
    <p class="small">A lower bound on ε, with findings and a verdict on your claim.</p>
    ${
      isBusy || isCancelled
        ? html`<button
            type="button"
            class="quiet"
            @click=${() => (isBusy ? session.cancel() : session.audit())}
          >
            ${isBusy ? "Cancel" : "Audit again"}
          </button>`
        : nothing
    }`;
}
