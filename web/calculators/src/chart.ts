/** The mini chart: ε against the noise multiplier, both axes logarithmic. */

import { type SVGTemplateResult, svg } from "lit";
import { numberText } from "../../fields/field";
import type { Columns } from "./calculator";

const HEIGHT = 200;
const MARGIN = { left: 38, right: 12, top: 10, bottom: 34 };

type Scale = (value: number) => number;

function logarithmic(
  [least, most]: readonly [number, number],
  [start, end]: readonly [number, number],
): Scale {
  const span = Math.log(most / least);
  return (value) => start + ((end - start) * Math.log(value / least)) / span;
}

/** Powers of ten around the values; one decade at least. */
export function decades(values: readonly number[]): readonly [number, number] {
  const seen = values.filter((value) => Number.isFinite(value) && value > 0);
  if (seen.length === 0) return [0.1, 10];
  const low = Math.floor(Math.log10(Math.min(...seen)));
  const high = Math.ceil(Math.log10(Math.max(...seen)));
  return [10 ** Math.max(low, high - 5), 10 ** Math.max(high, low + 1)];
}

/** A path with gaps where a value is missing or cannot be drawn. */
export function path(x: readonly number[], y: readonly number[]): string {
  let isOpen = false;
  const parts: string[] = [];
  x.forEach((across, index) => {
    const up = y[index] ?? Number.NaN;
    if (Number.isFinite(across) && Number.isFinite(up))
      parts.push(`${isOpen ? "L" : "M"}${across.toFixed(1)} ${up.toFixed(1)}`);
    isOpen = Number.isFinite(up);
  });
  return parts.join("");
}

const CURVES = [
  ["upper", "proven upper bound"],
  ["lower", "shuffled, at least"],
  ["claimed", "Poisson claim"],
] as const;

/** The chart in `width` pixels, with a mark at the noise multiplier that is set. */
export function chart(columns: Columns, noiseMultiplier: number, width: number): SVGTemplateResult {
  const { noiseMultipliers } = columns;
  const noise = Array.from(noiseMultipliers);
  const ends = [noise[0] ?? 1, noise.at(-1) ?? 2] as const;
  const [least, most] = decades(CURVES.flatMap(([key]) => Array.from(columns[key])));
  const bottom = HEIGHT - MARGIN.bottom;
  const x = logarithmic(ends, [MARGIN.left, width - MARGIN.right]);
  const y = logarithmic([least, most], [bottom, MARGIN.top]);
  const clamped = (value: number) => (value > 0 ? Math.min(y(value), bottom) : Number.NaN);
  const lines = CURVES.map(
    ([key]) =>
      svg`<path class=${key} d=${path(noise.map(x), Array.from(columns[key], clamped))}></path>`,
  );
  const isSeen = noiseMultiplier >= ends[0] && noiseMultiplier <= ends[1];
  const mark = isSeen
    ? svg`<path class="mark" d=${`M${x(noiseMultiplier).toFixed(1)} ${MARGIN.top}V${bottom}`}></path>`
    : "";
  return svg`${axes(x, y, { ends, least, most, width, bottom })}${mark}${lines}`;
}

interface Frame {
  ends: readonly [number, number];
  least: number;
  most: number;
  width: number;
  bottom: number;
}

function axes(x: Scale, y: Scale, { ends, least, most, width, bottom }: Frame): SVGTemplateResult {
  const right = width - MARGIN.right;
  const across = [0.4, 0.5, 0.7, 1, 1.5, 2, 3, 4].filter(
    (value) => value >= ends[0] && value <= ends[1],
  );
  const up = Array.from({ length: Math.round(Math.log10(most / least)) + 1 }, (_, index) =>
    Number((least * 10 ** index).toPrecision(1)),
  );
  return svg`
    ${up.map(
      (value) => svg`
      <path class="grid" d=${`M${MARGIN.left} ${y(value).toFixed(1)}H${right}`}></path>
      <text x=${MARGIN.left - 6} y=${(y(value) + 4).toFixed(1)} text-anchor="end">${numberText(value)}</text>`,
    )}
    ${across.map(
      (value) => svg`
      <text x=${x(value).toFixed(1)} y=${bottom + 16} text-anchor="middle">${value}</text>`,
    )}
    <text x=${right} y=${HEIGHT - 3} text-anchor="end">noise multiplier σ</text>
    <text x=${MARGIN.left + 6} y=${MARGIN.top + 12}>ε</text>`;
}

export { CURVES, HEIGHT };
