import type { ExpectedScoreBin } from "@dpscope/wasm/training";
import type { CanaryScoreBin } from "@dpscope/wasm/training_canaries";
import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { grouped } from "../../../../numbers/rounded";
import { dataTable } from "../../charts/data-table";
import { curve, drawing, type Place, plot, polygon } from "../../charts/plot";

/** Scores in an interval. */
interface Bin {
  from: number;
  to: number;
  counts: readonly number[];
  expected?: readonly number[] | undefined;
}

interface Histograms {
  id: string;
  title: string;
  /** The label of the horizontal axis. */
  score: string;
  /** What is counted. */
  things: string;
  /** What both histograms are of, that above the line first. */
  worlds: readonly [string, string];
  bins: readonly Bin[];
  /** The largest count of a bin, where pictures have it in common. */
  most?: number;
}

/** Scores of both worlds: with the canary above the line, without it below, and outlines of what the
 * simulated mechanism leads to expect. */
export function scoreChart(width: number, bins: readonly ExpectedScoreBin[]): TemplateResult {
  return histograms(width, {
    id: "trained-scores",
    title: "Scores of both worlds",
    score: "score in nats",
    things: "trainings",
    worlds: ["with the canary", "without"],
    bins: bins.map(({ from, to, runs, expected }) => ({ from, to, counts: runs, expected })),
  });
}

/** Scores of canaries: included ones above the line, the others below. */
export function canaryScores(
  width: number,
  {
    bins,
    ...rest
  }: Omit<Histograms, "bins" | "things" | "worlds"> & { bins: readonly CanaryScoreBin[] },
): TemplateResult {
  return histograms(width, {
    ...rest,
    things: "canaries",
    worlds: ["included", "left out"],
    bins: bins.map(({ from, to, canaries }) => ({ from, to, counts: canaries })),
  });
}

function histograms(width: number, shown: Histograms): TemplateResult {
  const { id, title, score, things, worlds, bins } = shown;
  const [low, high] = [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 1];
  const ends = high > low ? ([low, high] as const) : ([low - 1, low + 1] as const);
  const tops = bins.flatMap(({ counts, expected = [] }) => [...counts, ...expected]);
  const most = 1.08 * Math.max(1, shown.most ?? 0, ...tops);
  const format = (count: number) => String(Math.abs(count));
  const chart = plot(
    { width, height: 290 },
    {
      x: { label: score, ends, ticks: 4 },
      y: { label: things, ends: [-most, most], ticks: 5, format },
    },
  );
  const steps = (of: (bin: Bin) => number): Place[] =>
    bins.flatMap((bin): Place[] => [
      [bin.from, of(bin)],
      [bin.to, of(bin)],
    ]);
  const outline = (world: 0 | 1): Place[] => {
    const sign = world === 0 ? 1 : -1;
    return [[ends[0], 0], ...steps((bin) => sign * (bin.counts[world] ?? 0)), [ends[1], 0]];
  };
  const isExpected = bins[0]?.expected !== undefined;
  const expected = (world: 0 | 1) => {
    const sign = world === 0 ? 1 : -1;
    const places = steps((bin) => sign * (bin.expected?.[world] ?? 0));
    return isExpected ? curve(chart, places, "expected") : nothing;
  };
  const zero = chart.y(0);
  const content = svg`${polygon(chart, outline(0), "world with")}
    ${polygon(chart, outline(1), "world without")} ${expected(0)} ${expected(1)}
    <line class="base" x1=${chart.left} x2=${width - chart.right} y1=${zero} y2=${zero}></line>`;
  const sum = (world: 0 | 1) => bins.reduce((sum, bin) => sum + (bin.counts[world] ?? 0), 0);
  const says = `${grouped(sum(0))} ${things} ${worlds[0]}, ${grouped(sum(1))} ${worlds[1]}.`;
  return html`<div class="figure-box">
    <h3>${title}</h3>
    ${drawing(chart, id, title, says, content)}
    <ul class="legend">
      <li><span class="mark with"></span>${worlds[0]}, upwards</li>
      <li><span class="mark without"></span>${worlds[1]}, downwards</li>
      ${
        isExpected
          ? html`<li><span class="dash expected"></span>expected from the simulated mechanism</li>`
          : nothing
      }
    </ul>
    ${dataTable({
      caption: "Scores",
      columns: [
        "from",
        "to",
        ...worlds,
        ...(isExpected ? ["expected with", "expected without"] : []),
      ],
      rows: bins.map(({ from, to, counts, expected = [] }) => [
        from.toFixed(4),
        to.toFixed(4),
        ...counts.map((count) => grouped(count)),
        ...expected.map((count) => count.toFixed(1)),
      ]),
    })}
  </div>`;
}
