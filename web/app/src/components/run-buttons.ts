import { html, nothing, type TemplateResult } from "lit/html.js";
import type { App } from "../app";
import type { AuditRun } from "../audit/run";
import { CHECKPOINT_FILE, RESUME } from "../copies/command";
import { download } from "./download";

type Steered = Pick<AuditRun, "isOver" | "phase" | "pause" | "resume" | "cancel" | "checkpoint">;

interface Options {
  resume?(): void;
  /** What resumes the saved audit. */
  command?: string;
}

/** Pause, save and cancel, while an audit is not over. */
export function runButtons(
  app: App,
  run: Steered,
  cancelId: string,
  { resume = () => run.resume(), command = RESUME }: Options = {},
): TemplateResult | typeof nothing {
  if (run.isOver) return nothing;
  const isPaused = run.phase === "paused";
  return html`<span class="buttons">
    <button type="button" class="quiet" @click=${() => (isPaused ? resume() : run.pause())}>
      ${isPaused ? "Resume" : "Pause"}
    </button>
    ${
      isPaused
        ? html`<button type="button" class="quiet" @click=${() => void save(app, run, command)}>
            Save for the command line
          </button>`
        : nothing
    }
    <button type="button" class="quiet" id=${cancelId} @click=${() => run.cancel()}>Cancel</button>
  </span>`;
}

async function save(app: App, run: Steered, command: string): Promise<void> {
  download(CHECKPOINT_FILE, await run.checkpoint());
  app.announce(`Saved. Resume with: ${command}`);
}

/** What went wrong in a run, or that it was cancelled. */
export function runNotes({
  notes,
  phase,
  failure,
}: Pick<AuditRun, "notes" | "phase" | "failure">): TemplateResult {
  return html`${notes.map((note) => html`<p class="note">${note}</p>`)}
  ${phase === "failed" ? html`<p class="failure" role="alert">${failure}</p>` : nothing}
  ${
    phase === "cancelled"
      ? html`<p class="note">Cancelled. The result so far is an estimate.</p>`
      : nothing
  }`;
}
