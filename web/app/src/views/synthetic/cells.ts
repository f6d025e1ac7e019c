import type { DomainCell } from "@dpscope/wasm/synth";
import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { grouped } from "../../../../numbers/rounded";
import { dataTable, type Table } from "../../charts/data-table";

const ROW = 26;
const TOP = 26;
/** Room for the name of a cell between the bars. */
const MIDDLE = 92;

/** The name of a cell, as 1 1 0. */
function nameOf({ row }: DomainCell): string {
  return row.length === 0 ? "outside" : row.join(" ");
}

export function cellTable(cells: readonly DomainCell[]): Table {
  return {
    caption: "Released rows by value",
    columns: ["row", "with the target", "without"],
    rows: cells.map((cell) => [
      nameOf(cell),
      grouped(cell.rows[0] ?? 0),
      grouped(cell.rows[1] ?? 0),
    ]),
  };
}

/** Released rows in each cell of the domain: runs with the target to the left, those without it to the
 * right. */
export function cellChart(width: number, cells: readonly DomainCell[]): TemplateResult {
  const height = TOP + ROW * cells.length + 4;
  const most = Math.max(1, ...cells.flatMap((cell) => cell.rows));
  const side = (width - MIDDLE) / 2;
  const length = (rows: number) => (side * rows) / most;
  const [left, right] = [side, side + MIDDLE];
  const sums = [0, 1].map((world) => cells.reduce((sum, cell) => sum + (cell.rows[world] ?? 0), 0));
  const says = `${grouped(sums[0] ?? 0)} rows with the target, ${grouped(sums[1] ?? 0)} without it.`;
  const bars = cells.map((cell, at) => {
    const [y, [one = 0, other = 0]] = [TOP + ROW * at, cell.rows];
    return svg`<g class="cell ${cell.is_target ? "target" : ""}">
      <rect class="with" x=${left - length(one)} y=${y + 3} width=${length(one)} height=${ROW - 8} rx="2"></rect>
      <rect class="without" x=${right} y=${y + 3} width=${length(other)} height=${ROW - 8} rx="2"></rect>
      ${cell.is_target ? svg`<rect class="frame" x=${left + 14} y=${y + 2} width=${MIDDLE - 28} height=${ROW - 6} rx="4"></rect>` : nothing}
      <text class="cell-name" x=${width / 2} y=${y + ROW / 2 + 4} text-anchor="middle">${nameOf(cell)}</text>
      ${number(left - length(one) - 5, left - 5, y, one, "end", length(one))}
      ${number(right + length(other) + 5, right + 5, y, other, "start", length(other))}
    </g>`;
  });
  return html`<div class="figure-box">
    <h3>Released rows of both worlds</h3>
    <svg class="chart cells" id="synthetic-cells" viewBox="0 0 ${width} ${height}" role="img" aria-label=${says}>
      ${svg`<text class="side with" x=${left} y="14" text-anchor="end">with the target</text>
      <text class="side without" x=${right} y="14">without</text>
      ${bars}`}
    </svg>
    <p class="small">
      All runs together; the target is the framed row. ${says}
    </p>
    ${dataTable(cellTable(cells))}
  </div>`;

  /** Behind its bar, or inside where there is no room. */
  function number(
    outside: number,
    inside: number,
    y: number,
    rows: number,
    anchor: "start" | "end",
    long: number,
  ): unknown {
    const isInside = long > side - 46;
    const opposite = anchor === "end" ? "end" : "start";
    return svg`<text class="cell-count ${isInside ? "inside" : ""}" x=${isInside ? inside : outside} y=${y + ROW / 2 + 3} text-anchor=${opposite}>${grouped(rows)}</text>`;
  }
}
