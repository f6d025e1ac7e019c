import { html, type TemplateResult } from "lit/html.js";

export interface Table {
  caption: string;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
}

/** The numbers of a chart as a table. */
export function dataTable(table: Table): TemplateResult {
  return html`<details class="data">
    <summary>${table.caption} as a table</summary>
    <div class="scroll" tabindex="0" role="region" aria-label=${`${table.caption}: numbers`}>
      <table>
        <thead>
          <tr>
            ${table.columns.map((column) => html`<th scope="col">${column}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${table.rows.map(
            (row) =>
              html`<tr>
                ${row.map((cell) => html`<td>${cell}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;
}

/** The table as a CSV file; text that a spreadsheet would run is quoted. */
export function toCsv(table: Table): string {
  const cell = (text: string) => {
    const tame = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
    return /[",\n\r]/.test(tame) ? `"${tame.replaceAll('"', '""')}"` : tame;
  };
  const lines = [table.columns, ...table.rows].map((row) => `${row.map(cell).join(",")}\n`);
  return lines.join("");
}
