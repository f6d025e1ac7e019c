import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { dataTable } from "../../charts/data-table";
import { drawing, type Plot, plot } from "../../charts/plot";

interface Bins {
  edges: number[];
  target: number[];
  zeroOut: number[];
}

/** Scores of both worlds, one above the line and one below, and the threshold. */
export function histograms(
  width: number,
  label: string,
  scores: { target: readonly number[]; zeroOut: readonly number[] },
  threshold: number,
  last: { target: number; zeroOut: number } | undefined,
): TemplateResult {
  const bins = binned(scores.target, scores.zeroOut, threshold);
  const most = Math.max(4, ...bins.target, ...bins.zeroOut) * 1.12;
  const first = bins.edges[0] ?? -4;
  const end = bins.edges.at(-1) ?? 4;
  const chart = plot(
    { width, height: 300 },
    {
      x: { label, ends: [first, end] },
      y: { label: "epochs", ends: [-most, most], format: (value) => String(Math.abs(value)) },
    },
  );
  const content = svg`
    ${bars(chart, bins, bins.target, threshold, "with", 1)}
    ${bars(chart, bins, bins.zeroOut, threshold, "without", -1)}
    <line class="base" x1=${chart.left} x2=${chart.width - chart.right} y1=${chart.y(0)} y2=${chart.y(0)}></line>
    <line class="cut" x1=${chart.x(threshold)} x2=${chart.x(threshold)} y1=${chart.top} y2=${chart.height - chart.bottom}></line>
    ${
      last === undefined
        ? nothing
        : svg`<circle class="last with" cx=${chart.x(last.target)} cy=${chart.y(0) - 7} r="5"></circle>
        <circle class="last without" cx=${chart.x(last.zeroOut)} cy=${chart.y(0) + 7} r="5"></circle>`
    }`;
  const says = `${scores.target.length} scores of each world; threshold ${threshold}.`;
  return html`<div class="figure-box">
    ${drawing(chart, "histograms", "Scores with and without the target", says, content)}
    <ul class="legend">
      <li><span class="dash with"></span>with the target record (up)</li>
      <li><span class="dash without"></span>without it (down)</li>
      <li><span class="dash wrong"></span>where the attacker is wrong</li>
    </ul>
    ${dataTable({
      caption: "Scores with and without the target",
      columns: ["from", "to", "with", "without"],
      rows: bins.target.map((count, index) => [
        (bins.edges[index] ?? 0).toFixed(2),
        (bins.edges[index + 1] ?? 0).toFixed(2),
        String(count),
        String(bins.zeroOut[index] ?? 0),
      ]),
    })}
  </div>`;
}

const BINS = 44;

/** Bins of equal width with an edge at the threshold, so that no bin straddles it. */
function binned(target: readonly number[], zeroOut: readonly number[], cut: number): Bins {
  let [least, most] = [Math.min(-2, cut - 1), Math.max(4, cut + 1)];
  for (const score of [...target, ...zeroOut]) {
    least = Math.min(least, score);
    most = Math.max(most, score);
  }
  const width = (most - least) / BINS;
  const start = cut - Math.ceil((cut - least) / width) * width;
  const edges = Array.from({ length: BINS + 2 }, (_, index) => start + index * width);
  const into = (scores: readonly number[]) => {
    const counts = new Array<number>(BINS + 1).fill(0);
    for (const score of scores) {
      const bin = Math.min(BINS, Math.max(0, Math.ceil((score - start) / width) - 1));
      counts[bin] = (counts[bin] ?? 0) + 1;
    }
    return counts;
  };
  return { edges, target: into(target), zeroOut: into(zeroOut) };
}

function bars(
  chart: Plot,
  bins: Bins,
  counts: readonly number[],
  threshold: number,
  world: "with" | "without",
  side: 1 | -1,
): unknown {
  return counts.map((count, index) => {
    if (count === 0) return nothing;
    const [from = 0, to = 0] = [bins.edges[index], bins.edges[index + 1]];
    const isAbove = (from + to) / 2 > threshold;
    const isWrong = world === "with" ? !isAbove : isAbove;
    const [one, other] = [chart.y(0), chart.y(side * count)];
    return svg`<rect class="output ${world} ${isWrong ? "wrong" : ""}" x=${chart.x(from) + 0.5}
      y=${Math.min(one, other)} width=${Math.max(1, chart.x(to) - chart.x(from) - 1)}
      height=${Math.abs(one - other)}></rect>`;
  });
}
