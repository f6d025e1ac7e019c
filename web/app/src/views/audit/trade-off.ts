import type { AuditCurve } from "@dpscope/wasm/audits";
import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";
import type { AuditRun } from "../../audit/run";
import { dataTable, type Table } from "../../charts/data-table";
import { curve, drawing, type Place, type Plot, plot, polygon } from "../../charts/plot";
import type { Colour } from "../../numbers/lines";
import type { KnownCurve } from "../../theory/comparison";
import { chartWidth } from "./climb";

type Columns = { fpr: ArrayLike<number>; fnr: ArrayLike<number> };

interface Input {
  width: number;
  /** Of both worlds together. */
  runs: number;
  curve: AuditCurve | undefined;
  known: readonly KnownCurve[];
}

/** The curve of an audit with those of theory. */
export function tradeOffChart(app: App, run: AuditRun): TemplateResult {
  return tradeOff({
    width: chartWidth(app),
    runs: run.total,
    curve: run.found?.curve,
    known: app.comparison.curves,
  });
}

/** True against false positive rate, on logarithmic axes. */
export function tradeOff({ width, runs, curve: seen, known }: Input): TemplateResult {
  const least = 10 ** Math.floor(Math.log10(2 / Math.max(20, runs)));
  const ends = [Math.max(1e-7, least), 1] as const;
  const chart = plot(
    { width, height: 290 },
    {
      x: { label: "false positive rate", ends, isLog: true },
      y: { label: "true positive rate", ends, isLog: true },
    },
  );
  const content = svg`
    ${curve(
      chart,
      [
        [ends[0], ends[0]],
        [1, 1],
      ],
      "plain",
    )}
    ${known.map((line) => curve(chart, places(line.columns), line.colour))}
    ${seen === undefined ? nothing : svg`${band(chart, seen)}${curve(chart, places(seen), "audit")}`}`;
  const legend: { words: string; colour: Colour }[] = [
    { words: "audit", colour: "audit" },
    ...known,
    { words: "no leakage", colour: "plain" },
  ];
  const title = "Trade-off curve of the attack";
  const says = "True positive rate against false positive rate; a higher curve means more leakage.";
  return html`<div class="figure-box">
    <h3>How well the attacker distinguishes the worlds</h3>
    ${drawing(chart, "trade-off", title, says, content)}
    <ul class="legend">
      ${legend.map((line) => html`<li><span class="dash ${line.colour}"></span>${line.words}</li>`)}
      ${seen?.band === undefined ? nothing : html`<li><span class="dash area"></span>confidence band</li>`}
    </ul>
    ${seen === undefined ? nothing : dataTable(curveTable(seen, 200))}
  </div>`;
}

function places({ fpr, fnr }: Columns): Place[] {
  return thinned(Array.from({ length: fpr.length }, (_, i) => [fpr[i] ?? 0, 1 - (fnr[i] ?? 1)]));
}

/** Points that differ visibly: by about a hundredth of a decade. */
function thinned(points: Place[]): Place[] {
  let last: Place = [-1, -1];
  return points.filter((point, index) => {
    const isNear = [0, 1].every((side) => {
      const [one, other] = [point[side as 0] ?? 0, last[side as 0] ?? 0];
      return Math.abs(one - other) <= 0.012 * Math.max(one, other);
    });
    if (isNear && index < points.length - 1) return false;
    last = point;
    return true;
  });
}

/** The staircases between which the whole curve lies, with the confidence of the bound. */
function band(chart: Plot, seen: AuditCurve): unknown {
  if (seen.band === undefined) return nothing;
  const { most, least } = seen.band;
  return polygon(chart, [...places(most), ...places(least).reverse()], "band");
}

export function curveTable(seen: AuditCurve, most = Number.POSITIVE_INFINITY): Table {
  const every = Math.max(1, Math.ceil(seen.fpr.length / most));
  const rows: string[][] = [];
  for (let index = 0; index < seen.fpr.length; index += every) {
    rows.push([String(seen.fpr[index]), String(seen.fnr[index])]);
  }
  return {
    caption: "Trade-off curve of the audit",
    columns: ["false positive rate", "false negative rate"],
    rows,
  };
}
