import type { Epoch } from "@dpscope/wasm/studies";
import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { type Member, membersOf } from "../../see/epoch";
import { outputsShown, type Stage } from "../../see/stages";

interface Grid {
  width: number;
  left: number;
  column: number;
  /** Side of a record. */
  side: number;
  dataTop: number;
  batchTop: number;
  zero: number;
  unit: number;
  height: number;
}

/** Records in the file, in batches, and the output of each batch. */
export function scene(
  width: number,
  shape: { steps: number; batchSize: number; isInstant: boolean },
  epoch: Epoch | undefined,
  stage: Stage,
  says: string,
): TemplateResult {
  const { steps, batchSize } = shape;
  const members = epoch === undefined ? [] : membersOf(epoch);
  const grid = gridOf(width, steps, batchSize, members, epoch);
  return html`<svg
    class="chart scene ${shape.isInstant ? "instant" : ""}"
    id="scene"
    viewBox="0 0 ${width} ${grid.height}"
    role="img"
    aria-label=${says}
  >
    ${labels(grid)} ${columns(grid, steps, epoch, stage)} ${data(grid, epoch?.records ?? 0, batchSize, stage)}
    ${members.map((member) => record(grid, batchSize, member, stage))}
    ${epoch === undefined ? nothing : outputs(grid, steps, epoch, stage)}
  </svg>`;
}

function gridOf(
  width: number,
  steps: number,
  batchSize: number,
  members: Member[],
  epoch: Epoch | undefined,
): Grid {
  const left = width > 560 ? 104 : 6;
  const column = (width - left - 6) / steps;
  const side = Math.max(5, Math.min(13, column / 2 - 3, 90 / batchSize));
  const most = Math.max(batchSize, ...members.map(({ place }) => Math.floor(place / 2) + 1), 3);
  const dataTop = 26;
  const batchTop = dataTop + Math.ceil(batchSize / 2) * (side + 3) + 54;
  const range = largestOutput(epoch);
  const zero = batchTop + most * (side + 3) + 112;
  return {
    width,
    left,
    column,
    side,
    dataTop,
    batchTop,
    zero,
    unit: 84 / range,
    height: zero + 100,
  };
}

function largestOutput(epoch: Epoch | undefined): number {
  if (epoch === undefined) return 3;
  const all = [...epoch.outputs_target, ...epoch.outputs_zero_out].map(Math.abs);
  return Math.max(2.5, ...all);
}

function labels({ left, dataTop, batchTop, zero }: Grid): unknown {
  if (left < 50) return nothing;
  const rows: [number, string, string][] = [
    [dataTop + 12, "the records", "in file order"],
    [batchTop + 12, "the batches", "of one epoch"],
    [zero - 6, "noisy sums", "the outputs"],
  ];
  return svg`<g>${rows.map(
    ([y, name, about]) =>
      svg`<text class="row-name" x="0" y=${y}>${name}</text><text x="0" y=${y + 16}>${about}</text>`,
  )}</g>`;
}

function columns(grid: Grid, steps: number, epoch: Epoch | undefined, stage: Stage): unknown {
  const { left, column, batchTop, zero, height } = grid;
  const shown = outputsShown(stage, steps);
  return svg`<g>
    ${Array.from({ length: steps }, (_, batch) => {
      const hit = stage.name !== "file" && epoch?.target_batches.includes(batch) === true;
      const now = stage.name === "outputs" && shown === batch + 1;
      const state = `${hit ? "hit" : ""} ${now ? "current" : ""}`;
      return svg`<rect class="batch ${state}" x=${left + batch * column + 2} y=${batchTop - 10}
        width=${column - 4} height=${height - batchTop - 4} rx="6"></rect>
        <text class="batch-name" x=${left + (batch + 0.5) * column} y=${batchTop - 16} text-anchor="middle">${batch + 1}</text>`;
    })}
    <line class="base" x1=${left} x2=${left + steps * column} y1=${zero} y2=${zero}></line>
  </g>`;
}

/** Position of the record in the file. */
function home(grid: Grid, batchSize: number, record: number): [number, number] {
  const group = Math.floor(record / batchSize);
  return slot(grid, group, record % batchSize, grid.dataTop);
}

function slot(grid: Grid, batch: number, place: number, top: number): [number, number] {
  const { left, column, side } = grid;
  const middle = left + (batch + 0.5) * column;
  const x = middle + (place % 2 === 0 ? -side - 1.5 : 1.5);
  return [x, top + Math.floor(place / 2) * (side + 3)];
}

function data(grid: Grid, records: number, batchSize: number, stage: Stage): unknown {
  const isLeft = stage.name !== "file";
  return svg`<g>${Array.from({ length: records }, (_, record) => {
    const [x, y] = home(grid, batchSize, record);
    const kind = record === 0 ? "target" : "";
    return svg`<rect class="record in-file ${kind} ${isLeft ? "left" : ""}" x=${x} y=${y} width=${grid.side} height=${grid.side} rx="2"></rect>`;
  })}</g>`;
}

function record(grid: Grid, batchSize: number, member: Member, stage: Stage): unknown {
  const [x, y] =
    stage.name === "file"
      ? home(grid, batchSize, member.record)
      : slot(grid, member.batch, member.place, grid.batchTop);
  const kind = `${member.record === 0 ? "target" : ""} ${member.isDropped ? "dropped" : ""}`;
  return svg`<rect class="record moving ${kind} ${stage.name === "file" ? "at-home" : ""}"
    x=${x.toFixed(1)} y=${y.toFixed(1)} width=${grid.side} height=${grid.side} rx="2"></rect>`;
}

function outputs(grid: Grid, steps: number, epoch: Epoch, stage: Stage): unknown {
  const shown = outputsShown(stage, steps);
  const { left, column, zero, unit } = grid;
  const width = Math.min(16, column / 4);
  return svg`<g>${Array.from({ length: steps }, (_, batch) => {
    if (batch >= shown) return nothing;
    const middle = left + (batch + 0.5) * column;
    return svg`
      ${bar(middle - width - 1, width, zero, (epoch.outputs_target[batch] ?? 0) * unit, "with")}
      ${bar(middle + 1, width, zero, (epoch.outputs_zero_out[batch] ?? 0) * unit, "without")}`;
  })}</g>`;
}

function bar(x: number, width: number, zero: number, height: number, world: string): unknown {
  const y = height > 0 ? zero - height : zero;
  return svg`<rect class="output ${world}" x=${x} y=${y} width=${width} height=${Math.max(1.5, Math.abs(height))} rx="1.5"></rect>`;
}
