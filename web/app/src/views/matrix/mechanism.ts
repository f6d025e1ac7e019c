import type { MatrixReport, MatrixStrategyRecord } from "@dpscope/wasm/accounting";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { rounded } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { scientificDelta } from "../../components/badge";
import { buttons, choose, labelled } from "../../components/choose";
import { copies, copyLine } from "../../components/copies";
import { labelOf, note, numberInput, paired } from "../../components/paired";
import { bibtex } from "../../copies/bibtex";
import { linkOf } from "../../copies/link";
import { matrixCommand } from "../../copies/matrix";
import { questionOf } from "../../matrix/question";
import { MatrixSession } from "../../matrix/session";
import { FIELDS, type Field, fieldOf } from "../../state/fields";
import { accountingWorker } from "../../workers/spawn";
import { compared } from "./compared";

let session: MatrixSession | undefined;

/** One strategy with its bound, and all of them at one ε. */
export function mechanism(app: App): TemplateResult {
  session ??= new MatrixSession(accountingWorker, () => app.redraw());
  session.show(app.state);
  const { report, failure, isStale } = session;
  return html`<div class="split">
    ${form(app, session)}
    <div class="matrix">
      <section class="panel" aria-labelledby="matrix-head" aria-busy=${String(isStale)}>
        <h2 id="matrix-head">Privacy loss of a participant</h2>
        ${
          failure !== undefined
            ? html`<p class="failure" role="alert">${failure}</p>`
            : report === undefined
              ? html`<p class="small">Computing …</p>`
              : html`<div class=${isStale ? "stale" : ""}>${bound(app, report)}</div>`
        }
      </section>
      ${failure === undefined ? compared(app, session) : nothing}
    </div>
  </div>`;
}

const SAYS: Readonly<Record<string, string>> = {
  identity: "as in DP-SGD and DP-FedAvg",
  tree: "tree aggregation without restarts, as in DP-FTRL",
  "banded-square-root": "the first coefficients of the square root of the matrix of prefix sums",
  "banded-optimised": "bands that minimise the error of prefix sums",
  blt: "a few buffers that minimise the error of prefix sums, with little memory",
};

const TAKES_PART: Readonly<Record<string, string>> = {
  single: "a participant is in one step of the whole training",
  epochs: "once in each epoch, always at the same step of the epoch",
  shuffled: "once in each epoch, in any step; the bound is looser",
  "min-separation": "any steps at least b apart, as where clients check in",
  "cyclic-poisson": "groups take turns, and members of the group are sampled",
};

function form(app: App, session: MatrixSession): TemplateResult {
  const { state } = app;
  const { matrix_strategy: strategy, matrix_participation: participation } = state;
  const number = (name: Field) => field(app, session, name);
  const isOptimised = strategy === "banded-optimised" || strategy === "blt";
  return html`<form
    class="fields"
    aria-label="The mechanism"
    @submit=${(event: Event) => event.preventDefault()}
  >
    ${choose(app, "matrix_strategy", SAYS[strategy])}
    ${strategy.startsWith("banded") ? number("matrix_bands") : nothing}
    ${strategy === "blt" ? number("matrix_buffers") : nothing}
    ${isOptimised ? labelled(app, "matrix_objective") : nothing}
    ${paired(app, "matrix_steps")} ${problem(session, "matrix_steps")}
    ${choose(app, "matrix_participation", TAKES_PART[participation])}
    ${
      participation === "epochs" || participation === "shuffled" ? number("matrix_epochs") : nothing
    }
    ${
      participation === "min-separation"
        ? [number("matrix_separation"), number("matrix_participations")]
        : nothing
    }
    ${
      participation === "cyclic-poisson"
        ? [number("matrix_groups"), number("matrix_rate")]
        : nothing
    }
    <div class="choose">${buttons(app, "matrix_goal")}</div>
    ${state.matrix_goal === "epsilon" ? paired(app, "matrix_epsilon") : paired(app, "matrix_noise")}
    ${problem(session, state.matrix_goal === "epsilon" ? "matrix_epsilon" : "matrix_noise")}
    ${paired(app, "delta")}
  </form>`;
}

/** What the library says of an input with a slider. */
function problem(session: MatrixSession, name: Field): unknown {
  return note(`${name}-problem`, session.fieldFailure(name));
}

function field(app: App, session: MatrixSession, name: Field): TemplateResult {
  const refused = app.refused.get(name) ?? session.fieldFailure(name);
  const hint = fieldOf(name).help;
  const described = `${name}-hint`;
  return html`<div class="field">
    ${labelOf(name)} ${numberInput(app, name, refused === undefined && hint === undefined ? "" : described)}
    ${note(described, refused, hint)}
  </div>`;
}

function bound(app: App, report: MatrixReport): TemplateResult {
  const [record] = report.strategies;
  if (record?.value == null) return html`<p class="failure">${record?.reason}</p>`;
  const { value } = record;
  const command = matrixCommand(questionOf(app.state, app.state.matrix_strategy));
  const isCalibrated = report.target_epsilon != null;
  return html`<div class="figures">
      <div class="figure">
        <h3>Worst participant</h3>
        <p class="big deterministic">
          <span class="sign">ε ≤</span> ${rounded(value.epsilon, "upper", 2)}
        </p>
        <p class="under">at δ = ${scientificDelta(report.delta)}, proven</p>
      </div>
      ${last(record)}
      <div class="figure">
        <h3>${isCalibrated ? "Required noise" : "Noise"}</h3>
        <p class="big plain">
          <span class="sign">σ =</span> ${rounded(value.noise_multiplier, "upper", 3)}
        </p>
        <p class="under">noise multiplier</p>
      </div>
    </div>
    <dl class="facts">
      ${facts(record).map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}
    </dl>
    <div class="reproduce">
      ${copyLine(app, command)}
      ${copies(app, "copy-matrix", [
        { name: "number", text: () => rounded(value.epsilon, "upper", 4) },
        { name: "JSON", text: () => JSON.stringify(report, null, 2) },
        { name: "link", text: () => linkOf(app) },
        { name: "BibTeX", text: () => bibtex(app.version, linkOf(app)) },
        { name: "command", text: () => command },
      ])}
    </div>`;
}

function last({ value }: MatrixStrategyRecord): TemplateResult | typeof nothing {
  if (value?.last == null) return nothing;
  return html`<div class="figure">
    <h3>Last participant</h3>
    <p class="big deterministic">
      <span class="sign">ε ≤</span> ${rounded(value.last.epsilon, "upper", 2)}
    </p>
    <p class="under">the one whose steps are the latest</p>
  </div>`;
}

function facts({ bands, value }: MatrixStrategyRecord): (readonly [string, string])[] {
  if (value == null) return [];
  const norms = rounded(value.l2_sensitivity, "upper", 3);
  const { epsilon_lower: lower } = value;
  return [
    [
      "error of prefix sums",
      `${error(value.mean_error)} root mean square, ${error(value.largest_error)} at most, per coordinate in clip norms`,
    ],
    [
      "change",
      value.is_exact
        ? `one participant changes Cx by up to ${norms} clip norms, exactly`
        : `one participant changes Cx by at most ${norms} clip norms: an upper bound`,
    ],
    [
      "lower bound",
      lower == null
        ? "none is known"
        : `at least one participant has ε ≥ ${rounded(lower, "lower", 2)}`,
    ],
    ["non-zero diagonals of C", String(bands)],
  ];
}

/** A standard deviation. */
export function error(value: number): string {
  return rounded(value, "estimate", 2);
}

/** The name of a strategy. */
export function strategyName(strategy: MatrixStrategyRecord["strategy"]): string {
  const { options } = FIELDS.matrix_strategy;
  return options.find(([option]) => option === strategy)?.[1] ?? strategy;
}
