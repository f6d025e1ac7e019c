import "../../styles/synthetic.css";
import "../../styles/training.css";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { confidence, grouped, rounded } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { duration } from "../../audit/rates";
import type { AuditRun } from "../../audit/run";
import { choose, labelled } from "../../components/choose";
import { fileDrop } from "../../components/file-drop";
import { focusSoon, keepFocus } from "../../components/focus";
import { paired, plain } from "../../components/paired";
import { runButtons } from "../../components/run-buttons";
import { count, counted } from "../../numbers/counts";
import { about } from "../../state/samplers";
import { freshSeed } from "../../state/seed";
import { browserStorage } from "../../training/saved";
import { TrainingSession } from "../../training/session";
import { theoryWorker, trainingCountWorker, trainingWorker } from "../../workers/spawn";
import { outcome } from "./outcome";
import { watch } from "./watch";

const START = "train-start";
const CANCEL = "train-cancel";
const HINT =
  "Synthetic data is used without a file. Choose or drop your own: IDX or npy with a file of labels, npz with the arrays x and y, csv with the label first, or binary CIFAR-10; also compressed with gzip. The files stay in this browser.";

let session: TrainingSession | undefined;

/** The trainings: settings, one to watch, and what all of them show. */
export function lab(app: App): TemplateResult {
  const cores = Math.max(1, Math.min(16, navigator.hardwareConcurrency || 1));
  session ??= new TrainingSession(
    { coordinator: trainingWorker, counter: trainingCountWorker, theory: theoryWorker, cores },
    browserStorage,
    app.version,
    () => app.redraw(),
  );
  session.show(app.state);
  const { run } = session;
  if (run?.isOver === true) keepFocus(".training .bar-row button", START);
  return html`<div class="training">
    ${settings(app, session)} ${saved(app, session)}
    ${
      run === undefined
        ? nothing
        : html`<section class="panel audit spaced" aria-labelledby="train-head" aria-busy=${String(!run.isOver)}>
            <div class="head">
              <h2 id="train-head">Audit of the trainings</h2>
              <p class="small">${run.device}</p>
            </div>
            ${progress(app, session, run)} ${outcome(app, session, run)}
          </section>`
    }
    ${watch(app, session)}
  </div>`;
}

function settings(app: App, session: TrainingSession): TemplateResult {
  const { state } = app;
  const threats = about(state.train_sampler).threat_models as readonly string[];
  return html`<form
    class="fields"
    aria-label="The trainings"
    @submit=${(event: Event) => {
      event.preventDefault();
      begin(app, session);
    }}
  >
    <div class="settings">
      ${choose(app, "train_model")} ${data(app, session)}
      ${choose(app, "train_sampler", about(state.train_sampler).says)}
      ${choose(app, "train_attacker", undefined, (attacker) => threats.includes(attacker))}
      ${paired(app, "train_noise")} ${paired(app, "train_batch")} ${paired(app, "train_steps")}
      ${paired(app, "train_epochs")}
      ${paired(app, "train_runs", { hint: "With the canary and without, half each." })}
      <div class="choices">${labelled(app, "device")}</div>
    </div>
    <details class="more">
      <summary>Data, training and statistics</summary>
      <div class="settings">
        ${fileDrop({
          id: "train-files",
          label: "Data set and labels",
          hint: HINT,
          files: session.files.list,
          add: (files) => void session.add(files),
          remove: (file) => {
            session.files.remove(file);
            app.redraw();
          },
        })}
        ${plain(app, "train_clip")} ${plain(app, "train_rate", "That of the model if empty.")}
        ${choose(app, "train_canary")} ${paired(app, "delta")}
        ${paired(app, "significance", {
          hint: `Probability that the bound is wrong: here ${confidence(state.significance)} confidence.`,
        })}
        ${plain(app, "seed")}
      </div>
    </details>
    ${overview(session)}
    <div class="bar-row">
      <button
        type="submit"
        class="main-button"
        id=${START}
        ?disabled=${session.run?.isOver === false || session.refused !== undefined}
      >
        ${session.run === undefined ? "Train" : "Train again"}
      </button>
      <p class="hint">
        ${session.run === undefined ? nothing : "Training again draws a new seed."}
      </p>
    </div>
  </form>`;
}

/** The synthetic data, where there is a choice. */
function data(app: App, session: TrainingSession): TemplateResult | typeof nothing {
  if (session.data !== undefined || app.state.train_model === "lenet") return nothing;
  return choose(app, "train_data");
}

function begin(app: App, session: TrainingSession): void {
  if (session.run !== undefined && !session.isStale(app.state)) {
    app.change({ seed: freshSeed() });
    app.announce("These trainings draw with a new seed.");
  }
  session.start(app.state, app.state);
  focusSoon(CANCEL);
}

/** What the settings stand for, or why they cannot be trained. */
function overview({ overview, refused }: TrainingSession): TemplateResult {
  if (refused !== undefined) {
    return html`<p class="failure" role="alert">${refused.message}</p>`;
  }
  if (overview === undefined) return html`<p class="small">Reading the data …</p>`;
  const { data, records, held_out, features, classes, parameters, learning_rate } = overview;
  return html`<p class="small" aria-live="polite">
      ${data}: ${count(records, "record")} of ${grouped(features)} features in
      ${grouped(classes)} classes, ${grouped(held_out)} held out; a model of
      ${grouped(parameters)} parameters, learning rate ${learning_rate}.
    </p>
    ${overview.notes.map((note) => html`<p class="note">${note}</p>`)}`;
}

/** An audit that a reload, or a closed tab, has interrupted. */
function saved(app: App, session: TrainingSession): TemplateResult | typeof nothing {
  const { saved } = session;
  if (saved === undefined) return nothing;
  const { observations, mechanism } = saved.asked.plan;
  return html`<section class="panel spaced" aria-labelledby="saved-head">
    <h2 id="saved-head">An interrupted audit</h2>
    <p class="small">
      ${saved.asked.model} on ${saved.files?.data.name ?? "synthetic data"}, σ =
      ${mechanism.noise_multiplier}: ${grouped(saved.done)} of ${count(observations, "training")}
      are kept in this browser.
    </p>
    <div class="buttons">
      <button type="button" class="main-button" @click=${() => session.resume(app.state)}>
        Continue
      </button>
      <button type="button" class="quiet" @click=${() => session.forget()}>Discard</button>
    </div>
  </section>`;
}

function progress(app: App, session: TrainingSession, run: AuditRun): TemplateResult {
  const { done, total, phase } = run;
  return html`<div class="progress">
    ${
      session.isStale(app.state)
        ? html`<p class="note">The settings have changed since; this result is of those before.</p>`
        : nothing
    }
    <div class="bar-row">
      <progress max=${total} value=${done} aria-label="Models trained"></progress>
      <span class="small" aria-live="off">${counted(done)} of ${counted(total)}${pace(run)}</span>
      ${runButtons(app, run, CANCEL)}
    </div>
    ${run.notes.map((note) => html`<p class="note">${note}</p>`)}
    ${session.unsaved === undefined || run.isOver ? nothing : html`<p class="note">${session.unsaved}</p>`}
    ${phase === "failed" ? html`<p class="failure" role="alert">${run.failure}</p>` : nothing}
    ${
      phase === "cancelled"
        ? html`<p class="note">Cancelled. The result so far is an estimate.</p>`
        : nothing
    }
  </div>`;
}

function pace(run: AuditRun): string {
  const seconds = run.elapsed_ms / 1000;
  if (seconds < 0.05 || run.done === 0) return run.phase === "opening" ? ", starting" : "";
  const left = (seconds * (run.total - run.done)) / run.done;
  const rest = run.isOver || seconds < 1 ? "" : `, about ${duration(left)} left`;
  return `, ${seconds.toFixed(1)} s${rest}, ${rounded(run.done / seconds, "estimate", 1)} trainings per second`;
}
