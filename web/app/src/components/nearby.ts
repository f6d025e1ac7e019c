import { html, type TemplateResult } from "lit/html.js";

/** The result in one line that stays above the fields where the window has one column. Screen readers hear
 * the result itself. */
export function nearby(content: unknown): TemplateResult {
  return html`<p class="nearby" aria-hidden="true">${content}</p>`;
}
