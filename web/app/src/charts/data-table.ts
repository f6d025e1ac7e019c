import { html, nothing, type TemplateResult } from "lit/html.js";

export interface Table {
  caption: string;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
}

/** Sent when a table is opened or closed: the page is then to be drawn again. */
export const TABLE_TOGGLED = "dpscope-table";

/** Captions of the open tables. Closed ones have no rows: there would be thousands on a page. */
const opened = new Set<string>();

/** The numbers of a chart as a table. */
export function dataTable(table: Table): TemplateResult {
  return html`<details class="data" @toggle=${(event: Event) => toggled(event, table)}>
    <summary>${table.caption} as a table</summary>
    ${opened.has(table.caption) ? rows(table) : nothing}
  </details>`;
}

function toggled(event: Event, { caption }: Table): void {
  if ((event.currentTarget as HTMLDetailsElement).open) opened.add(caption);
  else opened.delete(caption);
  dispatchEvent(new Event(TABLE_TOGGLED));
}

function rows(table: Table): TemplateResult {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${`${table.caption}: numbers`}>
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
    </div>`;
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
