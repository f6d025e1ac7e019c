import type { ExpectedScoreBin } from "@dpscope/wasm/training";
import { html, svg, type TemplateResult } from "lit/html.js";
import { grouped } from "../../../../numbers/rounded";
import { dataTable } from "../../charts/data-table";
import { curve, drawing, type Place, plot, polygon } from "../../charts/plot";

/** Scores of both worlds: with the canary above the line, without it below, and outlines of what the
 * simulated mechanism leads to expect. */
export function scoreChart(width: number, bins: readonly ExpectedScoreBin[]): TemplateResult {
  const ends = [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 1] as const;
  const tops = bins.flatMap(({ runs, expected }) => [...runs, ...expected]);
  const most = 1.08 * Math.max(1, ...tops);
  const format = (runs: number) => String(Math.abs(runs));
  const chart = plot(
    { width, height: 290 },
    {
      x: { label: "score in nats", ends, ticks: 4 },
      y: { label: "trainings", ends: [-most, most], ticks: 5, format },
    },
  );
  const steps = (of: (bin: ExpectedScoreBin) => number): Place[] =>
    bins.flatMap((bin): Place[] => [
      [bin.from, of(bin)],
      [bin.to, of(bin)],
    ]);
  const outline = (world: 0 | 1): Place[] => {
    const sign = world === 0 ? 1 : -1;
    return [[ends[0], 0], ...steps((bin) => sign * (bin.runs[world] ?? 0)), [ends[1], 0]];
  };
  const zero = chart.y(0);
  const content = svg`${polygon(chart, outline(0), "world with")}
    ${polygon(chart, outline(1), "world without")}
    ${curve(
      chart,
      steps(({ expected }) => expected[0] ?? 0),
      "expected",
    )}
    ${curve(
      chart,
      steps(({ expected }) => -(expected[1] ?? 0)),
      "expected",
    )}
    <line class="base" x1=${chart.left} x2=${width - chart.right} y1=${zero} y2=${zero}></line>`;
  const runs = [0, 1].map((world) => bins.reduce((sum, bin) => sum + (bin.runs[world] ?? 0), 0));
  const says = `${grouped(runs[0] ?? 0)} trainings with the canary, ${grouped(runs[1] ?? 0)} without.`;
  return html`<div class="figure-box">
    <h3>Scores of both worlds</h3>
    ${drawing(chart, "trained-scores", "Scores of both worlds", says, content)}
    <ul class="legend">
      <li><span class="mark with"></span>with the canary, upwards</li>
      <li><span class="mark without"></span>without, downwards</li>
      <li><span class="dash expected"></span>expected from the simulated mechanism</li>
    </ul>
    ${dataTable({
      caption: "Scores",
      columns: ["from", "to", "with the canary", "without", "expected with", "expected without"],
      rows: bins.map(({ from, to, runs, expected }) => [
        from.toFixed(4),
        to.toFixed(4),
        ...runs.map((count) => grouped(count)),
        ...expected.map((count) => count.toFixed(1)),
      ]),
    })}
  </div>`;
}
