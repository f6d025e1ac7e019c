import type { PateGanReport, ScoreBin } from "@dpscope/wasm/synth";
import { html, svg, type TemplateResult } from "lit/html.js";
import { grouped } from "../../../../numbers/rounded";
import { dataTable } from "../../charts/data-table";
import { drawing, type Place, plot, polygon } from "../../charts/plot";

/** Scores of the evaluated runs: with the target above the line, without it below. */
export function scoreChart(
  id: string,
  width: number,
  bins: readonly ScoreBin[],
  report: Pick<PateGanReport, "auc" | "evaluated">,
): TemplateResult {
  const ends = [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 1] as const;
  const most = 1.08 * Math.max(1, ...bins.flatMap((bin) => bin.runs));
  const format = (runs: number) => String(Math.abs(runs));
  const chart = plot(
    { width, height: 260 },
    {
      x: { label: "score of the attack", ends, ticks: 4 },
      y: { label: "runs", ends: [-most, most], ticks: 5, format },
    },
  );
  const outline = (world: 0 | 1): Place[] => [
    [ends[0], 0],
    ...bins.flatMap((bin): Place[] => {
      const runs = (world === 0 ? 1 : -1) * (bin.runs[world] ?? 0);
      return [
        [bin.from, runs],
        [bin.to, runs],
      ];
    }),
    [ends[1], 0],
  ];
  const zero = chart.y(0);
  const content = svg`${polygon(chart, outline(0), "world with")}
    ${polygon(chart, outline(1), "world without")}
    <line class="base" x1=${chart.left} x2=${width - chart.right} y1=${zero} y2=${zero}></line>`;
  const says = `AUC ${aucInWords(report)} on ${grouped(report.evaluated)} runs of each world.`;
  return html`<div class="figure-box">
    <h3>What the attacker sees</h3>
    ${drawing(chart, id, "Scores of both worlds", says, content)}
    <ul class="legend">
      <li><span class="dash attack"></span>with the target, upwards</li>
      <li><span class="dash"></span>without, downwards</li>
    </ul>
    <p class="small">
      ${says} An AUC of 0.5 tells the worlds apart as well as a coin.
    </p>
    ${dataTable({
      caption: "Scores",
      columns: ["from", "to", "with the target", "without"],
      rows: bins.map((bin) => [
        bin.from.toFixed(4),
        bin.to.toFixed(4),
        grouped(bin.runs[0] ?? 0),
        grouped(bin.runs[1] ?? 0),
      ]),
    })}
  </div>`;
}

/** AUC with its interval. */
function aucInWords({ auc }: Pick<PateGanReport, "auc">): string {
  const [value, lower, upper] = [auc.value, auc.lower, auc.upper].map((x) => x.toFixed(3));
  return `${value} (${lower} to ${upper})`;
}
