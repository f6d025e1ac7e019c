import type { FederatedOverview } from "@dpscope/wasm/training_canaries";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { grouped, rounded } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { choose, labelled } from "../../components/choose";
import { fileDrop } from "../../components/file-drop";
import { paired, plain } from "../../components/paired";
import { significance } from "../../components/significance";
import type { DroppedFiles } from "../../files/dropped";
import { count } from "../../numbers/counts";
import { about } from "../../state/samplers";
import type { DataRole } from "../../training/files";
import type { Kind } from "../../training/protocols";
import type { TrainingSession } from "../../training/session";

export const START = "train-start";
const HINT =
  "Synthetic data is used without a file. Choose or drop your own: IDX or npy with a file of labels, npz with the arrays x and y, csv with the label first, or binary CIFAR-10; also compressed with gzip. The files stay in this browser.";

const SAYS = {
  "two-worlds":
    "Half of the models are trained with a canary whose gradient the attacker has chosen, half without.",
  "one-run":
    "Each model is trained with many canaries, each included by a fair coin flip. The attacker guesses the coins from the trained model.",
  federated:
    "Each model is trained by DP-FedAvg on many clients, with canary clients whose random directions the attacker looks for.",
} as const;

/** The form of the trainings. */
export function settings<K extends Kind>(
  app: App,
  session: TrainingSession<K>,
  files: DroppedFiles<DataRole>,
  begin: () => void,
): TemplateResult {
  const { state } = app;
  const isFederated = state.train_protocol === "federated";
  return html`<form class="fields" aria-label="The trainings" @submit=${begin}>
    <div class="protocol">
      ${labelled(app, "train_protocol")}
      <p class="hint">${SAYS[state.train_protocol]}</p>
    </div>
    <div class="settings">
      ${choose(app, "train_model")} ${data(app, session)}
      ${isFederated ? clients(app) : batches(app)}
      <div class="choices">${labelled(app, "device")}</div>
    </div>
    <details class="more">
      <summary>Data, training and statistics</summary>
      <div class="settings">
        ${fileDrop({
          id: "train-files",
          label: "Data set and labels",
          hint: HINT,
          files: files.list,
          add: (added) => void files.add(added).then(() => app.redraw()),
          remove: (file) => {
            files.remove(file);
            app.redraw();
          },
        })}
        ${plain(app, "train_clip")} ${more(app)} ${paired(app, "delta")}
        ${significance(app, "the bound")} ${plain(app, "seed")} ${plain(app, "workers")}
      </div>
    </details>
    ${overview(app, session)}
    <div class="bar-row">
      <button
        type="submit"
        class="main-button"
        id=${START}
        ?disabled=${session.run?.isOver === false || session.isStarting}
        aria-disabled=${session.refused === undefined ? nothing : "true"}
      >
        ${session.run === undefined ? "Train" : "Train again"}
      </button>
      <p class="hint">
        ${session.run === undefined ? nothing : "Training again draws a new seed."}
      </p>
    </div>
  </form>`;
}

/** Batches and length of a training, with what is audited. */
function batches(app: App): TemplateResult {
  const isOneRun = app.state.train_protocol === "one-run";
  return html`${choose(app, "train_sampler")}
    ${isOneRun ? choose(app, "train_score") : attacker(app)}
    ${paired(app, "train_noise")} ${paired(app, "train_batch")} ${paired(app, "train_steps")}
    ${paired(app, "train_epochs")} ${paired(app, "train_buffer")} ${usesPerEpoch(app)}
    ${paired(app, "train_max_batch")}
    ${
      isOneRun
        ? html`${paired(app, "train_canaries")} ${choose(app, "train_kind")}
          ${paired(app, "train_repeats")}`
        : paired(app, "train_runs")
    }`;
}

/** k, with the records that fill batches of the mean size. */
function usesPerEpoch(app: App): TemplateResult | typeof nothing {
  const { train_uses, train_steps, train_batch } = app.state;
  const records = count(Math.floor((train_steps * train_batch) / train_uses), "record");
  return paired(app, "train_uses", {
    hint: `Batches of ${train_batch} on average: an epoch has ${records}.`,
    most: Math.min(train_steps, train_batch),
  });
}

function attacker(app: App): TemplateResult | typeof nothing {
  const threats = about(app.state.train_sampler).threat_models as readonly string[];
  return choose(app, "train_attacker", (attacker) => threats.includes(attacker));
}

/** Clients and rounds of a federated training, with what is audited. */
function clients(app: App): TemplateResult {
  return html`${choose(app, "train_participation")} ${choose(app, "train_client_attack")}
    ${choose(app, "train_server_noise")} ${paired(app, "train_bands")} ${paired(app, "train_noise")}
    ${paired(app, "train_clients")} ${paired(app, "train_client_records")}
    ${paired(app, "train_rounds")} ${paired(app, "train_client_rate")} ${paired(app, "train_cohort")}
    ${paired(app, "train_passes")} ${paired(app, "train_client_canaries")}
    ${paired(app, "train_client_repeats")}`;
}

/** Settings that are rarely changed. */
const MORE = {
  "two-worlds": ["train_rate"],
  "one-run": [
    "train_rate",
    "train_momentum",
    "train_references",
    "train_guesses",
    "train_guesses_in",
    "train_guesses_out",
    "train_pretrain",
    "train_pretrain_epochs",
    "train_pretrain_rate",
  ],
  federated: [
    "train_client_column",
    "train_local_epochs",
    "train_local_batch",
    "train_local_rate",
    "train_server_rate",
    "train_server_momentum",
    "train_concentration",
    "train_presentations",
    "train_without",
  ],
} as const;

function more(app: App): TemplateResult {
  const { train_protocol } = app.state;
  return html`${MORE[train_protocol].map((name) => plain(app, name))}
    ${train_protocol === "two-worlds" ? choose(app, "train_canary") : nothing}`;
}

/** The synthetic data, where there is a choice. */
function data<K extends Kind>(
  app: App,
  session: TrainingSession<K>,
): TemplateResult | typeof nothing {
  if (session.data !== undefined || app.state.train_model === "lenet") return nothing;
  return choose(app, "train_data");
}

/** What the settings stand for, or why they cannot be trained. */
function overview<K extends Kind>(
  app: App,
  { overview, refused }: TrainingSession<K>,
): TemplateResult {
  if (refused !== undefined) {
    return html`<p class="failure" role="alert">${refused}</p>`;
  }
  if (overview === undefined) return html`<p class="small">Reading the data …</p>`;
  const { data, records, held_out, features, classes, parameters, learning_rate } = overview;
  const { train_protocol, train_canaries } = app.state;
  const canaries = train_protocol === "one-run" ? ` and ${grouped(train_canaries)} canaries` : "";
  const cohort = "cohort" in overview ? clientsOf(overview as unknown as FederatedOverview) : "";
  return html`<p class="small" aria-live="polite">
      ${data}: ${count(records, "record")}${canaries} of ${grouped(features)} features in
      ${grouped(classes)} classes, ${grouped(held_out)} held out; a model of
      ${grouped(parameters)} parameters, learning rate ${learning_rate}${cohort}.
    </p>
    ${overview.notes.map((note) => html`<p class="note">${note}</p>`)}`;
}

function clientsOf({ clients, cohort }: FederatedOverview): string {
  return `; ${count(clients, "client")}, ${rounded(cohort, "estimate", 1)} of them per round on average`;
}
