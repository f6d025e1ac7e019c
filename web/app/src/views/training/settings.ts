import type { FederatedOverview } from "@dpscope/wasm/training_canaries";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { confidence, grouped, rounded } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { choose, labelled } from "../../components/choose";
import { fileDrop } from "../../components/file-drop";
import { paired, plain } from "../../components/paired";
import { workers } from "../../components/workers";
import type { DroppedFiles } from "../../files/dropped";
import { count } from "../../numbers/counts";
import { about, hasUses, truncates } from "../../state/samplers";
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

const KINDS = {
  mislabelled: "Each has a wrong label.",
  random: "Records like all others, which appear nowhere else in the training data.",
  optimised: "Moved so that a model shows whether it was trained on them.",
} as const;

const SCORES = {
  "final-loss": "The attacker queries the trained model.",
  "loss-difference": "The attacker queries the initial and the trained model.",
  "white-box": "The attacker sees the noisy sum of each step.",
} as const;

const NOISES = {
  gaussian: "Each round has noise of its own.",
  tree: "Sums over rounds get their noise from the nodes of a binary tree.",
  banded: "Part of each round’s noise is cancelled in later rounds.",
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
  return html`<form
    class="fields"
    aria-label="The trainings"
    @submit=${(event: Event) => {
      event.preventDefault();
      begin();
    }}
  >
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
        ${plain(app, "train_clip")} ${MORE[state.train_protocol](app)}
        ${paired(app, "delta")}
        ${paired(app, "significance", {
          hint: `Probability that the bound is wrong: here ${confidence(state.significance)} confidence.`,
        })}
        ${plain(app, "seed")} ${state.device === "gpu" ? nothing : workers(app)}
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
  const { state } = app;
  const isOneRun = state.train_protocol === "one-run";
  return html`${choose(app, "train_sampler", about(state.train_sampler).says)}
    ${isOneRun ? choose(app, "train_score", SCORES[state.train_score]) : attacker(app)}
    ${paired(app, "train_noise")} ${paired(app, "train_batch")} ${paired(app, "train_steps")}
    ${paired(app, "train_epochs")} ${ofSampler(app)}
    ${
      isOneRun
        ? html`${paired(app, "train_canaries", {
            hint: "Of each training; the other records of its batches are base records.",
          })}
          ${choose(app, "train_kind", KINDS[state.train_kind])}
          ${paired(app, "train_repeats", {
            hint: "Each with coins of its own; one bound covers all of them.",
          })}`
        : paired(app, "train_runs", { hint: "Half with the canary, half without." })
    }`;
}

/** The parameter of a sampler that has one. */
function ofSampler(app: App): TemplateResult | typeof nothing {
  const { train_sampler } = app.state;
  if (about(train_sampler).has_buffer) {
    return paired(app, "train_buffer", { hint: "Records; at most those of an epoch." });
  }
  if (hasUses(train_sampler)) return usesPerEpoch(app);
  if (!truncates(train_sampler)) return nothing;
  return paired(app, "train_max_batch", {
    hint: "If more records are drawn, a uniformly random subset of this size is kept.",
  });
}

/** k, with the records that fill batches of the mean size. */
function usesPerEpoch(app: App): TemplateResult {
  const { train_uses, train_steps, train_batch } = app.state;
  const records = count(Math.floor((train_steps * train_batch) / train_uses), "record");
  return paired(app, "train_uses", {
    hint: `Batches of ${train_batch} on average: an epoch has ${records}.`,
    most: Math.min(train_steps, train_batch),
  });
}

function attacker(app: App): TemplateResult {
  const threats = about(app.state.train_sampler).threat_models as readonly string[];
  return choose(app, "train_attacker", undefined, (attacker) => threats.includes(attacker));
}

/** Clients and rounds of a federated training, with what is audited. */
function clients(app: App): TemplateResult {
  const { train_participation, train_client_column, train_server_noise } = app.state;
  const isDivided = train_client_column === undefined;
  return html`${choose(app, "train_participation")} ${choose(app, "train_client_attack")}
    ${choose(app, "train_server_noise", NOISES[train_server_noise])}
    ${train_server_noise === "banded" ? paired(app, "train_bands", { hint: "At most the number of rounds." }) : nothing}
    ${paired(app, "train_noise")}
    ${isDivided ? html`${paired(app, "train_clients")} ${paired(app, "train_client_records")}` : nothing}
    ${paired(app, "train_rounds")}
    ${
      train_participation === "poisson"
        ? paired(app, "train_client_rate")
        : train_participation === "fixed-size"
          ? paired(app, "train_cohort")
          : paired(app, "train_passes", { hint: "A divisor of the number of rounds." })
    }
    ${paired(app, "train_client_canaries", {
      hint: "On average; their number is drawn from a Poisson distribution.",
    })}
    ${paired(app, "train_client_repeats", {
      hint: "Each with canaries of its own; one bound covers all of them.",
    })}`;
}

const RATE_HINT = "That of the model if empty.";

/** Settings that are rarely changed. */
const MORE = {
  "two-worlds": (app: App) =>
    html`${plain(app, "train_rate", RATE_HINT)} ${choose(app, "train_canary")}`,
  "one-run": (app: App) =>
    html`${plain(app, "train_rate", RATE_HINT)} ${plain(app, "train_momentum")}
      ${plain(app, "train_references", "Further trainings, with coins of their own, that calibrate the scores.")}
      ${plain(app, "train_guesses", "Over all audited trainings; several numbers are tested jointly if empty.")}
      ${plain(app, "train_guesses_in", "Of the largest scores, in place of a number for both sides.")}
      ${plain(app, "train_guesses_out", "Of the smallest scores, in place of a number for both sides.")}
      ${plain(app, "train_pretrain", "Trained on beforehand, without privacy; none if empty.")}
      ${plain(app, "train_pretrain_epochs")}
      ${plain(app, "train_pretrain_rate", "The learning rate above if empty.")}`,
  federated: (app: App) =>
    html`${plain(app, "train_client_column", "Of a csv file with a header line, or an array of an npz file: the client of each record. Records are divided among clients if empty.")}
      ${plain(app, "train_local_epochs")} ${plain(app, "train_local_batch")}
      ${plain(app, "train_local_rate")} ${plain(app, "train_server_rate")}
      ${plain(app, "train_server_momentum")}
      ${
        app.state.train_client_column === undefined
          ? plain(
              app,
              "train_concentration",
              "Of a Dirichlet distribution; labels are divided evenly if empty.",
            )
          : nothing
      }
      ${plain(app, "train_presentations", "Evenly spread; drawn as those of clients if empty.")}
      ${plain(app, "train_without", "To compare accuracies.")}`,
} as const;

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
    return html`<p class="failure" role="alert">${refused.message}</p>`;
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
