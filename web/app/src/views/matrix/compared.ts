import type { MatrixReport, MatrixStrategyRecord } from "@dpscope/wasm/accounting";
import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { rounded } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { dataTable, type Table } from "../../charts/data-table";
import { scientificDelta } from "../../components/badge";
import { copyLine } from "../../components/copies";
import { matrixCommand } from "../../copies/matrix";
import { comparisonOf } from "../../matrix/question";
import type { MatrixSession } from "../../matrix/session";
import { capitalised } from "../../numbers/accounted";
import { error, strategyName } from "./mechanism";

const HEIGHT = 22;

/** Errors of prefix sums of all strategies, each with the noise that it needs for one ε. */
export function compared(app: App, session: MatrixSession): TemplateResult | typeof nothing {
  const { comparison, comparisonFailure, isComparing } = session;
  if (comparison === undefined && comparisonFailure === undefined) return nothing;
  return html`<section
    class="panel"
    aria-labelledby="matrix-all-head"
    aria-busy=${String(isComparing)}
  >
    <h2 id="matrix-all-head">Strategies at one ε</h2>
    ${
      comparison === undefined
        ? html`<p class="failure" role="alert">${comparisonFailure}</p>`
        : chart(app, comparison, isComparing)
    }
  </section>`;
}

function chart(app: App, report: MatrixReport, isStale: boolean): TemplateResult {
  const epsilon = report.target_epsilon ?? 0;
  const errors = report.strategies.map(({ value }) => value?.largest_error ?? 0);
  const most = 1.02 * Math.max(1e-300, ...errors);
  return html`<p>
      Noise in sums of updates where every strategy has ε ≤
      ${rounded(epsilon, "upper", 2)} at δ = ${scientificDelta(report.delta)}: the bar shows the
      root mean square, the line the largest error.
    </p>
    <ul class="rule-bars ${isStale ? "stale" : ""}" id="matrix-errors">
      ${report.strategies.map((record) => bar(app, record, most))}
    </ul>
    <p class="small">A smaller error of prefix sums does not always mean a better model.</p>
    ${dataTable(tableOf(report))}
    <div class="reproduce">
      ${copyLine(app, matrixCommand(comparisonOf(app.state, epsilon)), "Copy command of all strategies")}
    </div>`;
}

function bar(app: App, { strategy, value, reason }: MatrixStrategyRecord, most: number): unknown {
  const width = app.layout.split;
  const at = (value: number) => (value / most) * width;
  const isChosen = app.state.matrix_strategy === strategy;
  const colour = isChosen ? "audit" : "plain";
  if (value == null) {
    return html`<li>
      <p class="rule-name">${strategyName(strategy)} <span>none</span></p>
      <p class="small">${capitalised(reason ?? "")}.</p>
    </li>`;
  }
  return html`<li>
    <p class="rule-name">
      ${strategyName(strategy)}
      <strong class=${colour}>${error(value.mean_error)}</strong>
      <span>largest ${error(value.largest_error)}</span>
      ${isChosen ? html`<span class="small">chosen</span>` : nothing}
    </p>
    <svg class="chart" viewBox="0 0 ${width} ${HEIGHT}" aria-hidden="true">
      ${svg`<rect class="rule-track" x="0" y="4" width=${width} height=${HEIGHT - 8}></rect>
      <rect class="rule-bar fill-${colour}" x="0" y="4" width=${at(value.mean_error)} height=${HEIGHT - 8}></rect>
      <line class="rule-truth" x1=${at(value.largest_error)} x2=${at(value.largest_error)} y1="0" y2=${HEIGHT}></line>`}
    </svg>
  </li>`;
}

function tableOf({ strategies }: MatrixReport): Table {
  return {
    caption: "Strategies",
    columns: ["strategy", "noise multiplier", "ε worst", "ε last", "mean error", "largest error"],
    rows: strategies.map(({ strategy, value }) => {
      const name = strategyName(strategy);
      if (value == null) return [name, "–", "–", "–", "–", "–"];
      return [
        name,
        rounded(value.noise_multiplier, "upper"),
        rounded(value.epsilon, "upper"),
        value.last == null ? "–" : rounded(value.last.epsilon, "upper"),
        error(value.mean_error),
        error(value.largest_error),
      ];
    }),
  };
}
