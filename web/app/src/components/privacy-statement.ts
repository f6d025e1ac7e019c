import { html, type TemplateResult } from "lit/html.js";
import type { App } from "../app";
import { FORMATS, type Format } from "../statement/session";
import { segments } from "./choose";
import { copyText } from "./copies";

const ID = "privacy-statement";

/** A statement of the view's training to paste, in three formats. */
export function privacyStatement(app: App): TemplateResult {
  const { statement } = app;
  const text = statement.texts?.[statement.format];
  return html`<button
      type="button"
      class="quiet"
      popovertarget=${ID}
      aria-haspopup="dialog"
      @click=${() => statement.show(app.state)}
    >
      Privacy statement …</button
    ><div id=${ID} class="popover statement" popover role="dialog" aria-labelledby="${ID}-head">
      <h2 id="${ID}-head">Privacy statement to paste</h2>
      ${segments<Format>("Format", statement.format, FORMATS, (format) => {
        statement.format = format;
        app.redraw();
      })}
      <pre tabindex="0" aria-label="Text of the statement" aria-busy=${String(text === undefined)}>
${statement.failure ?? text ?? "Writing …"}</pre
      >
      <button
        type="button"
        class="main-button"
        ?disabled=${text === undefined}
        @click=${() => void copyText(app, "privacy statement", text ?? "")}
      >
        Copy
      </button>
    </div>`;
}
