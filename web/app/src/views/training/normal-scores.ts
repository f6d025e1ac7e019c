import type { NormalScoreBin } from "@dpscope/wasm/training_canaries";
import { html, svg, type TemplateResult } from "lit/html.js";
import { grouped } from "../../../../numbers/rounded";
import { dataTable } from "../../charts/data-table";
import { curve, drawing, type Place, plot, polygon } from "../../charts/plot";
import { count } from "../../numbers/counts";

/** Normal scores of canary clients, beside those of canaries that are not in. */
export function normalScores(
  width: number,
  id: string,
  title: string,
  bins: readonly NormalScoreBin[],
): TemplateResult {
  const ends = [bins[0]?.from ?? -4, bins.at(-1)?.to ?? 4] as const;
  const most = Math.max(1, ...bins.flatMap(({ canaries, expected }) => [canaries, expected]));
  const chart = plot(
    { width, height: 290 },
    {
      x: { label: "normal score", ends },
      y: { label: "canary clients", ends: [0, 1.08 * most] },
    },
  );
  const outline = bins.flatMap((bin): Place[] => [
    [bin.from, bin.canaries],
    [bin.to, bin.canaries],
  ]);
  const expected = bins.map((bin): Place => [(bin.from + bin.to) / 2, bin.expected]);
  const content = svg`
    ${polygon(chart, [[ends[0], 0], ...outline, [ends[1], 0]], "world with")}
    ${curve(chart, expected, "expected")}`;
  const canaries = bins.reduce((sum, bin) => sum + bin.canaries, 0);
  const says = `Histogram of ${count(canaries, "canary", "canaries")}, and N(0, 1) of left-out canaries.`;
  return html`<div class="figure-box">
    <h3>${title}</h3>
    ${drawing(chart, id, title, says, content)}
    <ul class="legend">
      <li><span class="mark with"></span>canary clients</li>
      <li><span class="dash expected"></span>left-out canaries: N(0, 1)</li>
    </ul>
    ${dataTable({
      caption: "Normal scores",
      columns: ["from", "to", "canaries", "expected if none is included"],
      rows: bins.map(({ from, to, canaries, expected }) => [
        from.toFixed(2),
        to.toFixed(2),
        grouped(canaries),
        expected.toFixed(2),
      ]),
    })}
  </div>`;
}
