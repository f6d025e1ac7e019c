import { html, nothing, type TemplateResult } from "lit/html.js";
import { grouped } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { duration, timeLeft } from "../../audit/rates";
import { labelled } from "../../components/choose";
import { paired } from "../../components/paired";
import { significance } from "../../components/significance";
import { count, counted } from "../../numbers/counts";
import { freshSeed } from "../../state/seed";
import { PateGanSession } from "../../synthetic/session";
import { pateganCountWorker, pateganWorker } from "../../workers/spawn";
import { lamps } from "./lamps";
import { outcome } from "./outcome";
import { presets, switchboard } from "./switchboard";
import { upload } from "./upload";

let session: PateGanSession | undefined;

/** The audit of PATE-GAN: what is switched on, and what the instruments show. */
export function bench(app: App): TemplateResult {
  const cores = Math.max(1, Math.min(16, navigator.hardwareConcurrency || 1));
  const crew = { coordinator: pateganWorker, counter: pateganCountWorker, cores };
  session ??= new PateGanSession(crew, () => app.redraw());
  session.show(app.state);
  return html`${presets(app)}
    <div class="split synthetic">
      <form class="fields" aria-label="The generator">
        ${paired(app, "syn_runs")} ${paired(app, "syn_teachers")} ${paired(app, "syn_gamma")}
        ${paired(app, "syn_batch")}
        ${labelled(app, "syn_stop")} ${paired(app, "syn_epsilon")} ${paired(app, "syn_iterations")}
        <details class="more">
          <summary>Statistics</summary>
          <div class="fields">${paired(app, "delta")} ${significance(app)}</div>
        </details>
      </form>
      <section class="panel instrument" aria-labelledby="synthetic-head" aria-busy=${String(session.isRunning)}>
        ${status(app, session)} ${readings(app, session)}
      </section>
    </div>
    ${switchboard(app, session)} ${upload(app)}`;
}

function readings(app: App, session: PateGanSession): unknown {
  const { answer, isStale, run } = session;
  return html`<div class=${isStale ? "stale" : ""}>
    <h2 id="synthetic-head" class="headline" aria-live="polite">${answer.report.headline}.</h2>
    ${lamps(answer.report.checks)} ${outcome(app, answer, session.answered, isStale ? run?.found : undefined)}
  </div>`;
}

function status(app: App, session: PateGanSession): TemplateResult {
  const { run, isStale, isRunning } = session;
  if (isRunning) {
    const done = run?.done ?? 0;
    const total = run?.total ?? 2 * app.state.syn_runs;
    return html`<div class="bar-row status">
      <progress max=${total} value=${done} aria-label="Runs trained"></progress>
      <span class="small pace" aria-live="off">
        ${counted(done)} of ${counted(total)} runs${run === undefined ? "" : timeLeft(run)}${soFar(session)}
      </span>
      <button type="button" class="quiet" @click=${() => cancel(app, session)}>Cancel</button>
    </div>`;
  }
  const again = (words: string, act: () => void) =>
    html`<button type="button" class="quiet" @click=${act}>${words}</button>`;
  if (run?.phase === "failed") {
    return html`<div class="status"><p class="failure" role="alert">${run.failure}</p></div>`;
  }
  if (isStale) {
    return html`<div class="bar-row status">
      <span class="small">Cancelled. What follows is of the settings before.</span>
      ${again("Audit", () => session.start())}
    </div>`;
  }
  const { report } = session.answer;
  const took = run === undefined ? "computed in advance" : duration(run.elapsed_ms / 1000);
  return html`<div class="bar-row status">
    <span class="small">
      ${count(report.runs, "run")} of each world, seed ${report.seed}:
      <span class="took">${took}</span>
      ${run === undefined || run.notes.length === 0 ? nothing : run.notes.join(" ")}
    </span>
    ${again("Train again", () => session.start())}
    ${again("New seed", () => app.change({ seed: freshSeed() }))}
  </div>`;
}

function cancel(app: App, session: PateGanSession): void {
  session.stop();
  app.redraw();
}

function soFar({ run }: PateGanSession): string {
  const found = run?.found;
  if (found === undefined || found.runs === 0) return "";
  return `; ε ≈ ${found.epsilon.toFixed(2)} by ${grouped(found.runs)} of each world`;
}
