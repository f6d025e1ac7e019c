import { html, nothing, type TemplateResult } from "lit/html.js";
import { grouped } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { isSamePlan } from "../../audit/plan";
import { duration, timeLeft } from "../../audit/rates";
import type { AuditRun } from "../../audit/run";
import { labelled } from "../../components/choose";
import { focusSoon, keepFocus } from "../../components/focus";
import { paired, plain } from "../../components/paired";
import { runButtons, runNotes } from "../../components/run-buttons";
import { count, counted } from "../../numbers/counts";
import { labelOf } from "../../options/table";
import { about } from "../../state/samplers";
import { freshSeed } from "../../state/seed";
import { workersOf } from "../../workers/cores";
import { lazy } from "../lazy";

const START = "audit-start";
const CANCEL = "audit-cancel";

const results = lazy(async () => (await import("./outcome")).results);

/** An audit: simulated runs, counted in this browser. */
export function auditPanel(app: App): TemplateResult {
  const { run } = app.audit;
  if (run?.isOver === true) keepFocus(".audit .bar-row button", START);
  return html`<section class="panel audit" aria-labelledby="audit-head">
    <div class="head">
      <h2 id="audit-head">Run an audit</h2>
      <p class="small">${run === undefined || run.device === "" ? where(app) : run.device}</p>
    </div>
    <p class="small intro">
      Simulates the attack: draws runs of this training with and without the target record, scores
      each by its likelihood ratio, and counts the attacker’s errors.
    </p>
    ${run === undefined || run.isOver ? settings(app) : nothing}
    ${run === undefined ? nothing : progress(app, run)}
    ${run?.found === undefined ? nothing : results(app)}
  </section>`;
}

function where(app: App): string {
  const { hasGpu } = app.audit;
  if (app.state.device === "cpu") return `will run on ${cpu(app)}`;
  if (hasGpu === undefined) return "";
  if (hasGpu || app.state.device === "gpu") return "will run on WebGPU, if available";
  return `no GPU found: will run on ${cpu(app)}`;
}

function settings(app: App): TemplateResult {
  const { state, audit } = app;
  const isCpu = state.device === "cpu" || audit.hasGpu !== true;
  return html`<form
    class="row"
    aria-label="The audit"
    @submit=${() => {
      if (audit.run !== undefined) {
        app.change({ seed: freshSeed() });
        app.announce("This audit draws with a new seed.");
      }
      audit.start(app.state); // what Enter has just changed is not drawn yet
      focusSoon(CANCEL);
    }}
  >
    ${paired(app, "observations", isCpu ? { most: 1e7 } : {})}
    <div class="choices">
      ${labelled(app, "device")} ${labelled(app, "float_mode")} ${plain(app, "workers")}
      <button type="submit" class="main-button" id=${START}>
        ${audit.run === undefined ? "Start the audit" : "Audit again"}
      </button>
      <p class="hint">
        ${audit.run === undefined ? nothing : "Auditing again draws a new seed."}
        <span class="expected">${expected(app)}</span>
      </p>
    </div>
  </form>`;
}

/** How long the audit takes, where it is known. */
function expected(app: App): string {
  const { audit, state } = app;
  const [backend, seconds] = [audit.backendOf(state), audit.secondsOf(state)];
  if (backend === undefined || seconds === undefined) return "";
  const device = backend === "gpu" ? "WebGPU" : cpu(app);
  return `Takes about ${duration(seconds)} on ${device}.`;
}

function cpu({ audit, state }: App): string {
  return count(workersOf(state, audit.cores), "CPU worker");
}

function progress(app: App, run: AuditRun): TemplateResult {
  const { done, total } = run;
  const { state } = app.audit;
  const { noise_multiplier, steps, epochs } = run.plan.mechanism;
  return html`<div class="progress">
    <p class="small">
      σ = ${noise_multiplier}, T = ${grouped(steps)}, E = ${grouped(epochs)},
      ${state === undefined ? nothing : about(state.sampler).name.toLowerCase()},
      ${state === undefined ? nothing : labelOf(state.threat_model).toLowerCase()}, seed
      ${run.plan.seed}
    </p>
    ${
      isSamePlan(run.plan, app.state)
        ? nothing
        : html`<p class="note">
          The training has changed since; this result is for the settings above.
        </p>`
    }
    <div class="bar-row">
      <progress max=${total} value=${done} aria-label="Observations counted"></progress>
      <span class="small" aria-live="off">
        ${counted(done)} of ${counted(total)}${rate(run)}
      </span>
      ${runButtons(app, run, CANCEL)}
    </div>
    ${runNotes(run)}
  </div>`;
}

function rate(run: AuditRun): string {
  const seconds = run.elapsed_ms / 1000;
  if (seconds < 0.05 || run.done === 0) return run.phase === "opening" ? ", starting" : "";
  const { steps, epochs } = run.plan.mechanism;
  const normals = (run.done * steps * epochs) / seconds;
  const speed =
    normals < 1e10
      ? `${Math.round(normals / 1e6)} million`
      : `${Math.round(normals / 1e9)} billion`;
  return `, ${seconds.toFixed(1)} s${timeLeft(run)}, ${speed} normals per second`;
}
