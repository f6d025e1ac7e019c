import { html, nothing, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";
import { buttons, choose } from "../../components/choose";
import { copyLine } from "../../components/copies";
import { fileDrop } from "../../components/file-drop";
import { plain } from "../../components/paired";
import { recordedReport } from "../../components/recorded-report";
import { CanariesSession } from "../../synthetic/canaries-session";
import { WorldsSession } from "../../synthetic/worlds-session";
import { filesWorker, generatorWorker } from "../../workers/spawn";
import { worldDrops, worldsOutcome } from "./worlds";

const HINT =
  "Choose or drop several at once: manifest.toml, canaries.csv and the released rows, such as 0000.csv, with plan.json, seed.secret and commitment.txt of the committed plan (dpscope canaries rows writes all but the released rows); or a file of columns, canaries.csv, the released rows and coins.csv.";

/** Runs in this browser; a command that does the same to a folder. */
const COMMAND = "dpscope audit generator folder";

let worlds: WorldsSession | undefined;
let canaries: CanariesSession | undefined;

/** What the reader's own generator released, and its report. */
export function upload(app: App): TemplateResult {
  worlds ??= new WorldsSession(generatorWorker, () => app.redraw());
  canaries ??= new CanariesSession({ scores: generatorWorker, audits: filesWorker }, () =>
    app.redraw(),
  );
  const isMany = app.state.syn_game === "worlds";
  if (isMany) worlds.show(app.state);
  else canaries.show(app.state);
  return html`<section class="spaced" aria-labelledby="files-head">
    <h2 id="files-head">Audit my own generator</h2>
    <p>
      ${
        isMany
          ? "Train your generator many times with the target row and many times without it, and add what each run released; or one table of features for each world, with a row for each run."
          : "Train it once, on data with the canary rows whose coin is 1, and add what it released."
      }
      The files stay in this browser.
    </p>
    <div class="game">${buttons(app, "syn_game")}</div>
    ${isMany ? manyRuns(app, worlds) : oneRun(app, canaries)}
  </section>`;
}

function manyRuns(app: App, session: WorldsSession): TemplateResult {
  const { files } = session;
  return html`${worldDrops(session)}
    <div class="split spaced">
      <form class="fields" aria-label="The audit of the runs">
        ${
          files.manifest === undefined
            ? html`${plain(app, "syn_claim")}
                <p class="hint">δ, significance and seed are those above.</p>`
            : html`<p class="hint">The manifest fixes claim, δ, significance and seed.</p>`
        }
      </form>
      <section class="panel" aria-labelledby="syn-found-head" aria-busy=${String(session.isBusy)}>
        ${worldsOutcome(app, session, COMMAND)}
      </section>
    </div>`;
}

function oneRun(app: App, session: CanariesSession): TemplateResult {
  const { files, failure, found, isBusy } = session;
  const hasPlan = files.namesOf("plan").length > 0;
  return html`${fileDrop({
    id: "syn-canaries",
    label: "Files of the run",
    hint: HINT,
    files: files.list,
    add: (added) => void session.add(added),
    remove: (file) => session.remove(file),
  })}
    <div class="split spaced">
      <form class="fields" aria-label="The audit of the canaries">
        ${plain(app, "syn_claim")}
        ${
          hasPlan
            ? html`<p class="hint">The plan fixes all other settings.</p>`
            : html`${choose(app, "syn_scoring")}
                <p class="hint">δ and significance are those above.</p>`
        }
      </form>
      <section class="panel" aria-labelledby="syn-found-head" aria-busy=${String(isBusy)}>
        ${
          failure === undefined
            ? found === undefined
              ? html`<h2 id="syn-found-head">${isBusy ? "Auditing …" : session.waitsFor}</h2>
                  <p class="small">
                    A lower bound on ε, with findings and a verdict on your claim.
                  </p>`
              : // the command of its page names scores that only this page has
                recordedReport(
                  app,
                  "syn-found-head",
                  { ...found, page: undefined },
                  COMMAND,
                  "canaries",
                )
            : html`<h2 id="syn-found-head">These files cannot be audited</h2>
                <p class="failure" role="alert">${failure}</p>`
        }
        ${files.hasRefused ? html`<div class="reproduce">${copyLine(app, COMMAND)}</div>` : nothing}
      </section>
    </div>`;
}
