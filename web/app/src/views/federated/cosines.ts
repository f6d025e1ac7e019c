import type { SimulatedSum } from "@dpscope/wasm/one_shot";
import { html, svg, type TemplateResult } from "lit/html.js";
import { grouped, rounded } from "../../../../numbers/rounded";
import { dataTable } from "../../charts/data-table";
import { curve, drawing, type Place, plot, polygon } from "../../charts/plot";
import { count } from "../../numbers/counts";

/** The cosines of the canaries beside their exact distribution if none were in. */
export function cosineChart(width: number, sum: SimulatedSum, dimension: number): TemplateResult {
  const { bins, canaries } = sum;
  const scale = Math.sqrt(dimension);
  const ends = [scale * (bins[0]?.from ?? -1), scale * (bins.at(-1)?.to ?? 1)] as const;
  const most = Math.max(1, ...bins.map((bin) => Math.max(bin.canaries, bin.expected)));
  const chart = plot(
    { width, height: 280 },
    { x: { label: "cosine · √d", ends }, y: { label: "canaries", ends: [0, 1.05 * most] } },
  );
  const outline = bins.flatMap((bin): Place[] => [
    [scale * bin.from, bin.canaries],
    [scale * bin.to, bin.canaries],
  ]);
  const expected = bins.map((bin): Place => [(scale * (bin.from + bin.to)) / 2, bin.expected]);
  const content = svg`
    ${polygon(chart, [[ends[0], 0], ...outline, [ends[1], 0]], "band")}
    ${curve(chart, outline, "audit")}
    ${curve(chart, expected, "claim")}`;
  const says = `Histogram of ${count(canaries, "cosine")}, and the exact distribution of canaries that are not in.`;
  return html`<div class="figure-box">
    <h3>Cosines of ${count(canaries, "canary").replace("canarys", "canaries")}</h3>
    ${drawing(chart, "sum-cosines", "Cosines of the canaries", says, content)}
    <ul class="legend">
      <li><span class="dash audit"></span>this run</li>
      <li><span class="dash claim"></span>exact, if no canary is in</li>
    </ul>
    ${dataTable({
      caption: "Cosines",
      columns: ["from", "to", "canaries", "if none is in"],
      rows: bins.map((bin) => [
        bin.from.toExponential(3),
        bin.to.toExponential(3),
        grouped(bin.canaries),
        rounded(bin.expected, "estimate", 2),
      ]),
    })}
  </div>`;
}
