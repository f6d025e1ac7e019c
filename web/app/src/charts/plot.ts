import { ticks } from "d3-array";
import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { superscript } from "../numbers/counts";
import type { Colour } from "../numbers/lines";
import { apart, labelSize } from "./labels";

export type Place = readonly [x: number, y: number];

/** An axis: its ends in the data's units, its scale and its label. */
export interface AxisOptions {
  label: string;
  ends: readonly [number, number];
  isLog?: boolean;
  ticks?: number;
  format?: (value: number) => string;
}

/** From the data's units to pixels. */
type Scale = (value: number) => number;

/** Positions of data on the drawing. */
export interface Plot {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
  x: Scale;
  y: Scale;
  axes: { x: AxisOptions; y: AxisOptions };
}

export function plot(
  size: { width: number; height: number; right?: number; left?: number },
  axes: { x: AxisOptions; y: AxisOptions },
): Plot {
  const { width, height } = size;
  const left = size.left ?? 60;
  const right = size.right ?? 12;
  const [top, bottom] = [14, 44];
  const x = scale(axes.x, left, width - right);
  const y = scale(axes.y, height - bottom, top);
  return { width, height, left, right, top, bottom, x, y, axes };
}

/** Clamped to the ends of the axis. By hand: d3-scale brings 9 KiB, of colours above all, to the first
 * load. */
function scale(axis: AxisOptions, from: number, to: number): Scale {
  const [start, end] = axis.ends;
  const [least, most] = start < end ? [start, end] : [end, start];
  const transform = axis.isLog === true ? Math.log : (value: number) => value;
  const [first, span] = [transform(start), transform(end) - transform(start)];
  return (value) => {
    const clamped = Math.max(least, Math.min(most, value));
    const part = span === 0 ? 0.5 : (transform(clamped) - first) / span;
    return from * (1 - part) + to * part;
  };
}

/** The drawing with axes around its content, and labels at its side; screen readers read `title` and
 * `says`. */
export function drawing(
  plot: Plot,
  id: string,
  title: string,
  says: string,
  content: unknown,
  labels: unknown = nothing,
): TemplateResult {
  const { width, height } = plot;
  return html`<svg
    class="chart"
    id=${id}
    viewBox="0 0 ${width} ${height}"
    role="img"
    aria-labelledby="${id}-title ${id}-says"
  >
    <title id="${id}-title">${title}</title>
    <desc id="${id}-says">${says}</desc>
    ${frame(plot)}
    <svg
      x=${plot.left}
      y=${plot.top - 1}
      width=${width - plot.left - plot.right}
      height=${height - plot.top - plot.bottom + 2}
      viewBox="${plot.left} ${plot.top - 1} ${width - plot.left - plot.right} ${
        height - plot.top - plot.bottom + 2
      }"
    >
      ${content}
    </svg>
    ${labels}
  </svg>`;
}

function frame(plot: Plot): unknown {
  const { width, height, left, right, bottom, top, x, y, axes } = plot;
  const base = height - bottom;
  return svg`<g class="axes">
    ${ticksOf(axes.x, width - left - right).map(
      (tick) => svg`<line class="grid" x1=${x(tick)} x2=${x(tick)} y1=${top} y2=${base}></line>
        <text x=${x(tick)} y=${base + 18} text-anchor="middle">${shown(axes.x, tick)}</text>`,
    )}
    ${ticksOf(axes.y, 2 * (base - top)).map(
      (
        tick,
      ) => svg`<line class="grid" x1=${left} x2=${width - right} y1=${y(tick)} y2=${y(tick)}></line>
        <text x=${left - 8} y=${y(tick) + 4} text-anchor="end">${shown(axes.y, tick)}</text>`,
    )}
    <line class="base" x1=${left} x2=${width - right} y1=${base} y2=${base}></line>
    <text class="axis-label" x=${(left + width - right) / 2} y=${height - 6} text-anchor="middle">${axes.x.label}</text>
    <text class="axis-label" transform="translate(12 ${(top + base) / 2}) rotate(-90)" text-anchor="middle">${axes.y.label}</text>
  </g>`;
}

function ticksOf(axis: AxisOptions, length: number): number[] {
  const most = Math.max(2, Math.floor(length / 62));
  if (axis.isLog !== true) return ticks(...axis.ends, axis.ticks ?? Math.min(6, most));
  return logTicks(axis.ends, most);
}

/** Powers of ten, with 3 or with 2 and 5 between them where there is room. */
export function logTicks(ends: readonly [number, number], most: number): number[] {
  const [least, largest] = ends;
  const from = Math.floor(Math.log10(least) + 1e-9);
  const to = Math.ceil(Math.log10(largest) - 1e-9);
  const within = (steps: readonly number[], every: number) => {
    const all: number[] = [];
    for (let power = from; power <= to; power += every) {
      for (const step of steps) all.push(Number(`${step}e${power}`));
    }
    return all.filter((tick) => tick >= least * 0.999999 && tick <= largest * 1.000001);
  };
  const tries = [within([1, 2, 5], 1), within([1, 3], 1), within([1], 1), within([1], 2)];
  return tries.find((ticks) => ticks.length <= most) ?? within([1], 3);
}

export function shown(axis: AxisOptions, value: number): string {
  if (axis.format !== undefined) return axis.format(value);
  const size = Math.abs(value);
  if (size === 0 || (size >= 0.01 && size < 10_000)) {
    return String(Number(value.toPrecision(6))).replace("-", "−");
  }
  const [mantissa = "1", power = "0"] = value.toExponential().split("e");
  const ten = `10${superscript(Number(power))}`;
  return mantissa === "1" ? ten : `${mantissa}·${ten}`;
}

const isDrawn = ([x, y]: Place) => Number.isFinite(x) && Number.isFinite(y);

/** Runs of points that are drawn. */
function runs<T>(points: readonly T[], isDrawn: (point: T) => boolean): T[][] {
  const found: T[][] = [[]];
  for (const point of points) {
    if (isDrawn(point)) found.at(-1)?.push(point);
    else found.push([]);
  }
  return found.filter((run) => run.length > 0);
}

/** A path through places of the drawing. By hand: d3-shape brings 5 KiB of curves to the first load. */
function pathThrough(places: readonly Place[]): string {
  return `M${places.map(([x, y]) => `${x},${y}`).join("L")}`;
}

export function curve(
  plot: Plot,
  points: readonly Place[],
  colour: Colour,
  isStep = false,
): unknown {
  const path = runs(points, isDrawn).map((run) => {
    const places = run.map(([x, y]): Place => [plot.x(x), plot.y(y)]);
    const corners = places.flatMap(([x, y], index): Place[] => {
      const before = places[index - 1];
      return isStep && before
        ? [
            [x, before[1]],
            [x, y],
          ]
        : [[x, y]];
    });
    return `${pathThrough(corners)}${corners.length === 1 ? "Z" : ""}`;
  });
  return path.length === 0
    ? nothing
    : svg`<path class="curve ${colour}" d=${tidy(path.join(""))}></path>`;
}

/** The area between two curves that share their places on the x axis. */
export function between(
  plot: Plot,
  points: readonly (readonly [x: number, low: number, high: number])[],
  className: string,
): unknown {
  const path = runs(points, (point) => point.every(Number.isFinite)).map((run) => {
    const high = run.map(([x, , y]): Place => [plot.x(x), plot.y(y)]);
    const low = run.map(([x, y]): Place => [plot.x(x), plot.y(y)]);
    return `${pathThrough([...high, ...low.reverse()])}Z`;
  });
  return path.length === 0
    ? nothing
    : svg`<path class=${className} d=${tidy(path.join(""))}></path>`;
}

/** With tenths of a pixel. */
function tidy(path: string): string {
  return path.replace(/-?\d+\.\d+/g, (number) => String(Math.round(10 * Number(number)) / 10));
}

/** Labels at the right ends of curves, without overlap. */
export function endLabels(
  plot: Plot,
  labels: readonly { words: string; y: number; colour: Colour }[],
): unknown {
  const heights = apart(
    labels.map((label) => plot.y(label.y)),
    plot.top + 6,
    plot.height - plot.bottom - 4,
    Math.max(17, Math.ceil(labelSize("", 600).height)),
  );
  const x = plot.width - plot.right;
  return svg`<g class="end-labels">${labels.map(
    (label, index) =>
      svg`<text class="fill-${label.colour}" x=${x + 8} y=${(heights[index] ?? 0) + 4}>${label.words}</text>`,
  )}</g>`;
}

export function polygon(plot: Plot, points: readonly Place[], className: string): unknown {
  const corners = points.filter(isDrawn).map(([x, y]) => `${plot.x(x)},${plot.y(y)}`);
  const path = tidy(`M${corners.join(" ")}Z`);
  return corners.length < 3 ? nothing : svg`<path class=${className} d=${path}></path>`;
}
