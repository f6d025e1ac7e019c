import { html, nothing, type TemplateResult } from "lit/html.js";
import { grouped, rounded } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { timeLeft } from "../../audit/rates";
import { copyLine } from "../../components/copies";
import { download } from "../../components/download";
import { runButtons, runNotes } from "../../components/run-buttons";
import { CANARY_FILE, resumeCommand } from "../../copies/trained";
import { count, counted } from "../../numbers/counts";
import type { Kind } from "../../training/protocols";
import type { TrainingSession } from "../../training/session";

export const CANCEL = "train-cancel";

type Run<K extends Kind> = NonNullable<TrainingSession<K>["run"]>;

/** An audit that a reload, or a closed tab, has interrupted. */
export function saved<K extends Kind>(
  app: App,
  session: TrainingSession<K>,
): TemplateResult | typeof nothing {
  const { saved, protocol } = session;
  if (saved === undefined) return nothing;
  return html`<section class="panel spaced" aria-labelledby="saved-head">
    <h2 id="saved-head">An interrupted audit</h2>
    <p class="small">
      ${saved.asked.model} on ${saved.files?.data?.name ?? "synthetic data"}, σ =
      ${protocol.noiseOf(saved.asked)}: ${grouped(saved.done)} of
      ${count(protocol.totalOf(saved.asked), "training")} are saved in this browser.
    </p>
    <div class="buttons">
      <button type="button" class="main-button" @click=${() => session.resume(app.state)}>
        Continue
      </button>
      <button type="button" class="quiet" @click=${() => session.forget()}>Discard</button>
    </div>
  </section>`;
}

export function progress<K extends Kind>(
  app: App,
  session: TrainingSession<K>,
  run: Run<K>,
): TemplateResult {
  const { done, total, phase } = run;
  const command = resumeCommand(session.names, session.canaryFile && CANARY_FILE);
  return html`<div class="progress">
    ${
      session.isStale(app.state)
        ? html`<p class="note">The settings have changed; this result is for the earlier ones.</p>`
        : nothing
    }
    <div class="bar-row">
      <progress max=${total} value=${done} aria-label="Models trained"></progress>
      <span class="small" aria-live="off">${counted(done)} of ${counted(total)}${pace(run)}</span>
      ${runButtons(app, run, CANCEL, { resume: () => session.unpause(), command })}
    </div>
    ${phase === "paused" ? resumed(app, session, command) : nothing}
    ${session.unsaved === undefined || run.isOver ? nothing : html`<p class="note">${session.unsaved}</p>`}
    ${runNotes(run)}
  </div>`;
}

/** How the program resumes a saved audit, and the files that it needs. */
function resumed<K extends Kind>(
  app: App,
  session: TrainingSession<K>,
  command: string,
): TemplateResult {
  return html`<div class="reproduce">
    <p class="small">To resume the saved audit on the command line, with the same files:</p>
    ${copyLine(app, command, "Copy the command that resumes")} ${canaryDownload(session)}
  </div>`;
}

/** The canaries of the run on screen as a file, where they were optimised. */
export function canaryDownload<K extends Kind>({
  canaryFile,
}: TrainingSession<K>): TemplateResult | typeof nothing {
  if (canaryFile === undefined) return nothing;
  return html`<button
    type="button"
    class="quiet"
    @click=${() => download(CANARY_FILE, canaryFile)}
  >
    Download ${CANARY_FILE}
  </button>`;
}

function pace<K extends Kind>(run: Run<K>): string {
  const seconds = run.elapsed_ms / 1000;
  if (seconds < 0.05 || run.done === 0) return run.phase === "opening" ? ", starting" : "";
  return `, ${seconds.toFixed(1)} s${timeLeft(run)}, ${rounded(run.done / seconds, "estimate", 1)} trainings per second`;
}
