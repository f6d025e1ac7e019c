import type { MatrixReport, MatrixStrategyRecord } from "@dpscope/wasm/accounting";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { optionLabel } from "../../../../fields/field";
import { rounded } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { scientificDelta } from "../../components/badge";
import { buttons, choose, labelled } from "../../components/choose";
import { copies, copyLine } from "../../components/copies";
import { type NumberName, paired, plain } from "../../components/paired";
import { bibtex } from "../../copies/bibtex";
import { linkOf } from "../../copies/link";
import { matrixCommand } from "../../copies/matrix";
import { questionOf } from "../../matrix/question";
import { MatrixSession } from "../../matrix/session";
import { FIELDS, type Field } from "../../state/fields";
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

function form(app: App, session: MatrixSession): TemplateResult {
  const number = (name: Field) => plain(app, name, undefined, session.fieldFailure(name));
  const slider = (name: NumberName) => paired(app, name, { problem: session.fieldFailure(name) });
  return html`<form class="fields" aria-label="The mechanism">
    ${choose(app, "matrix_strategy")} ${number("matrix_bands")} ${number("matrix_buffers")}
    ${labelled(app, "matrix_objective")} ${slider("matrix_steps")}
    ${choose(app, "matrix_participation")} ${number("matrix_epochs")} ${number("matrix_separation")}
    ${number("matrix_participations")} ${number("matrix_groups")} ${number("matrix_rate")}
    <div class="choose">${buttons(app, "matrix_goal")}</div>
    ${slider("matrix_epsilon")} ${slider("matrix_noise")} ${paired(app, "delta")}
  </form>`;
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
  return optionLabel(FIELDS.matrix_strategy, strategy);
}
