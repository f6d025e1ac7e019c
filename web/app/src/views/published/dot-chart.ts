import { html, svg, type TemplateResult } from "lit/html.js";
import { labelSize } from "../../charts/labels";
import { logTicks, type Plot, plot } from "../../charts/plot";
import { isExceeded, leastLeak, type PublishedRow } from "../../published/rows";

const TOP = 14;
const BOTTOM = 44;
/** Below this width, names stand above their row. */
const NARROW = 620;
/** Width of the columns of names and of σ, where both stand beside the rows. */
const NAMES = 300;
const SIGMA = 84;

/** One row per training: its claim, and what shuffled batches leak at least. */
export function dotChart(content: number, rows: readonly PublishedRow[]): TemplateResult {
  const width = Math.min(content - 36, 900);
  const isNarrow = width < NARROW;
  const pitch = isNarrow ? 38 : 28;
  const height = TOP + pitch * rows.length + BOTTOM;
  const values = rows.flatMap((row) => [row.claimed_epsilon, leastLeak(row)?.epsilon ?? 1]);
  const x = {
    label: "ε",
    ends: [0.8 * Math.min(...values), 1.15 * Math.max(...values)] as const,
    isLog: true,
  };
  const left = isNarrow ? 10 : NAMES;
  const drawn = plot({ width, height, left }, { x, y: { label: "", ends: [0, 1] } });
  const exceeded = rows.filter(isExceeded).length;
  return html`<svg
      class="chart"
      id="published"
      viewBox="0 0 ${width} ${height}"
      role="img"
      aria-labelledby="published-title published-says"
    >
      <title id="published-title">Claimed ε and lower bound of shuffled batches</title>
      <desc id="published-says">
        One row per training, on a logarithmic axis. The lower bound exceeds the claim in
        ${exceeded} of ${rows.length} rows. The table below has all numbers.
      </desc>
      ${axis(drawn, height)}
      ${rows.map((row, index) => line(drawn, row, TOP + pitch * (index + (isNarrow ? 0.72 : 0.5)), isNarrow))}
    </svg>
    <ul class="legend">
      <li><svg viewBox="0 0 12 12" aria-hidden="true">${dot(6, 6)}</svg> claimed</li>
      <li>
        <svg viewBox="0 0 12 12" aria-hidden="true">${head(3, 6)}</svg> shuffled batches leak at least
      </li>
    </ul>`;
}

function axis({ x, left, width, right, axes }: Plot, height: number): unknown {
  const base = height - BOTTOM;
  const ticks = logTicks(axes.x.ends, Math.floor((width - left - right) / 40));
  return svg`<g class="axes">
    ${ticks.map(
      (tick) => svg`<line class="grid" x1=${x(tick)} x2=${x(tick)} y1=${TOP} y2=${base}></line>
        <text x=${x(tick)} y=${base + 18} text-anchor="middle">${tick}</text>`,
    )}
    <line class="base" x1=${left} x2=${width - right} y1=${base} y2=${base}></line>
    <text class="axis-label" x=${(left + width - right) / 2} y=${height - 6} text-anchor="middle">${axes.x.label}</text>
  </g>`;
}

function line({ x, left }: Plot, row: PublishedRow, y: number, isNarrow: boolean): unknown {
  const claimed = x(row.claimed_epsilon);
  const least = leastLeak(row);
  const sigma = `σ = ${Number(row.noise_multiplier.toFixed(2))}`;
  const name = isNarrow
    ? svg`<text x=${left} y=${y - 12}>${row.name}, ${sigma}</text>`
    : svg`${wrapped(row.name).map(
        (part, index, all) =>
          svg`<text x=${left - SIGMA} y=${y + 4 + 13 * (index - (all.length - 1) / 2)} text-anchor="end">${part}</text>`,
      )}<text x=${left - 12} y=${y + 4} text-anchor="end">${sigma}</text>`;
  if (least === undefined) return svg`<g>${name}${dot(claimed, y)}</g>`;
  const at = x(least.epsilon);
  return svg`<g>
    ${name}
    <line class="track ${isExceeded(row) ? "attack" : "plain"}" x1=${claimed} x2=${at} y1=${y} y2=${y}></line>
    ${dot(claimed, y)} ${head(at, y)}
  </g>`;
}

/** Two lines where one is too long for its column. */
function wrapped(name: string): string[] {
  const place = name.lastIndexOf(", ");
  return labelSize(name).width <= NAMES - SIGMA || place < 0
    ? [name]
    : [name.slice(0, place + 1), name.slice(place + 2)];
}

function dot(x: number, y: number): unknown {
  return svg`<circle class="fill-claim" cx=${x} cy=${y} r="4.5"></circle>`;
}

/** Points to where the true value may be. */
function head(x: number, y: number): unknown {
  return svg`<path class="fill-attack" d=${`M${x},${y - 5.5} l8,5.5 l-8,5.5 z`}></path>`;
}
