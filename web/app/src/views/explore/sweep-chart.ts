import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { numberText } from "../../../../fields/field";
import { rounded } from "../../../../numbers/rounded";
import type { Explored } from "../../app";
import { dataTable, type Table } from "../../charts/data-table";
import { between, curve, drawing, endLabels, type Place, plot } from "../../charts/plot";
import { buttons } from "../../components/choose";
import { aboutLine, factsOf, LINES, type LineName } from "../../numbers/lines";
import type { Axis } from "../../state/fields";
import { BY_POINT, type Sweep } from "../../theory/sweep";

const AXIS: Record<Axis, string> = {
  noise_multiplier: "noise multiplier σ",
  steps: "steps per epoch T",
  epochs: "epochs E",
  delta: "δ",
};

/** What a line is called at its end. */
function nameOf(name: LineName): string {
  if (name === "poisson") return "claimed";
  const { cost, kind, sampler } = factsOf(name);
  if (cost === "slow") return sampler;
  return kind === "lower" ? "leaks at least" : "at most";
}

/** ε against one parameter, the others fixed. */
export function sweepChart(app: Explored): TemplateResult {
  const { sweep } = app.sweep;
  const table = sweep === undefined ? undefined : sweepTable(sweep);
  return html`<section class="panel" aria-labelledby="sweep-head">
    <div class="head">
      <h2 id="sweep-head">ε against ${AXIS[app.state.axis]}</h2>
      ${buttons(app, "axis")}
    </div>
    ${
      sweep === undefined || sweep.axis !== app.state.axis
        ? html`<p class="empty chart-room">Computing the curves …</p>`
        : drawn(app, sweep)
    }
    ${
      sweep === undefined || table === undefined
        ? nothing
        : html`<div class="below-chart">${dataTable(table)} ${slowCurve(sweep)}</div>`
    }
  </section>`;
}

function drawn(app: Explored, sweep: Sweep): TemplateResult {
  const wide = app.layout.panel > 560;
  const size = { width: app.layout.panel, height: wide ? 330 : 280, right: wide ? 104 : 14 };
  const lines = Object.entries(sweep.epsilons) as [LineName, ArrayLike<number>][];
  const points = (name: LineName, values: ArrayLike<number>): Place[] => {
    const all = sweep.places.map((place, index): Place => [place, positive(values[index])]);
    // Computed points are joined before those between them are.
    return BY_POINT.includes(name) ? all.filter(([, y]) => !Number.isNaN(y)) : all;
  };
  const all = lines.flatMap(([, values]) => Array.from(values).filter((value) => value > 0));
  const [least, most] = [Math.max(1e-3, Math.min(...all)), Math.max(...all)];
  const first = sweep.places[0] ?? 1;
  const last = sweep.places.at(-1) ?? 10;
  const chart = plot(size, {
    x: { label: AXIS[sweep.axis], ends: [first, last], isLog: true },
    y: { label: "ε", ends: [least * 0.8, most * 1.25], isLog: true },
  });
  const { state } = app;
  const here = state[sweep.axis];
  const title = `ε against ${AXIS[sweep.axis]}`;
  const labels = lines.flatMap(([name, values]) => {
    const y = lastFinite(values);
    return y === undefined ? [] : [{ words: nameOf(name), y, colour: aboutLine(name).colour }];
  });
  const content = svg`${gapArea(chart, sweep)}
    ${lines.map(([name, values]) => curve(chart, points(name, values), aboutLine(name).colour))}
    <line class="here" x1=${chart.x(here)} x2=${chart.x(here)} y1=${chart.top} y2=${chart.height - chart.bottom}></line>`;
  return html`<div class="figure-box ${app.sweep.isStale ? "stale" : ""}">
    ${drawing(chart, "sweep", title, says(sweep), content, wide ? endLabels(chart, labels) : nothing)}
    ${wide ? nothing : legend(labels)}
  </div>`;
}

/** Progress of the slow curve. */
function slowCurve({ slow }: Sweep): TemplateResult | typeof nothing {
  if (slow === undefined) return nothing;
  return html`<p class="waits">
    ${slow === "cut" ? "not all curves could be computed in time" : "computing the rest …"}
  </p>`;
}

/** Lower bounds of curves, of which each sampler has one. */
const LEAST = LINES.filter((name) => name !== "shuffle-sum" && factsOf(name).kind === "lower");

/** The gap between the claim and the lower bound. */
function gapArea(chart: ReturnType<typeof plot>, sweep: Sweep): unknown {
  const claimed = sweep.epsilons.poisson;
  const name = LEAST.find((name) => sweep.epsilons[name] !== undefined);
  const least = name === undefined ? undefined : sweep.epsilons[name];
  if (claimed === undefined || least === undefined) return nothing;
  const points = sweep.places.map((place, index) => {
    const [low, high] = [positive(claimed[index]), positive(least[index])];
    return [place, low, Math.max(low, high)] as const;
  });
  return between(chart, points, "gap-area");
}

function legend(labels: readonly { words: string; colour: string }[]): TemplateResult {
  return html`<ul class="legend">
    ${labels.map((label) => html`<li><span class="dash ${label.colour}"></span>${label.words}</li>`)}
  </ul>`;
}

function positive(value: number | undefined): number {
  return value !== undefined && value > 0 ? value : NaN;
}

function lastFinite(values: ArrayLike<number>): number | undefined {
  return Array.from(values).findLast((value) => value > 0 && Number.isFinite(value));
}

function says(sweep: Sweep): string {
  const names = Object.keys(sweep.epsilons).map((name) => aboutLine(name as LineName).title);
  return `Curves: ${names.join(", ")}. The numbers are in the table below.`;
}

export function sweepTable(sweep: Sweep): Table {
  const names = Object.keys(sweep.epsilons) as LineName[];
  const kind = (name: LineName) => (factsOf(name).kind === "lower" ? "lower" : "upper");
  return {
    caption: `ε against ${AXIS[sweep.axis]}`,
    columns: [
      AXIS[sweep.axis],
      ...names.map((name) => `${aboutLine(name).title}, ${kind(name)} bound`),
    ],
    rows: sweep.places.map((place, index) => [
      numberText(place),
      ...names.map((name) => {
        const value = sweep.epsilons[name]?.[index];
        return value === undefined || Number.isNaN(value) ? "–" : rounded(value, kind(name), 4);
      }),
    ]),
  };
}
