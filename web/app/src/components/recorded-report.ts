import type { Asked } from "@dpscope/wasm/files";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { confidence, decimalsOf, type Kind, rounded, SIGN } from "../../../numbers/rounded";
import type { App } from "../app";
import { bibtex } from "../copies/bibtex";
import { linkOf } from "../copies/link";
import { capitalised } from "../numbers/accounted";
import { scientificDelta } from "./badge";
import { copies, copyLine } from "./copies";
import { download } from "./download";
import { verdictWord } from "./verdict";

/** A report with what the program prints; its drawing and its page where the program ran. */
export type Answer = Pick<Asked, "report" | "text"> &
  Partial<Pick<Asked, "picture" | "notes">> & { page?: string | undefined };

/** The report of an audit: its bound, the verdict on the claim, findings, drawing and all of its text.
 * Downloads have the name with their extension. */
export function recordedReport(
  app: App,
  headId: string,
  { report, text, picture, page, notes = [] }: Answer,
  command: string,
  name: string,
): unknown {
  const { values, tests, findings } = report.answer;
  const [bound] = values;
  if (bound === undefined) return nothing;
  const kind: Kind = bound.kind === "lower" ? "lower" : "estimate";
  const decimals = decimalsOf(report.claim?.epsilon, bound.epsilon, 4);
  const json = () => JSON.stringify(report, null, 2);
  return html`<h2 id=${headId} class="hidden">Result</h2>
    <div class="outcome">
      <div>
        <p class="big audit">
          <span class="sign">ε ${SIGN[kind]}</span> ${rounded(bound.epsilon, kind, decimals)}
        </p>
        <p class="under">
          at δ =
          ${scientificDelta(bound.delta)}${
            kind === "lower"
              ? `, with ${confidence(bound.significance ?? 0)} confidence`
              : ": an estimate, without coverage"
          }
        </p>
      </div>
      <div class="verdict">
        ${tests.map(
          ({ name, outcome, sentence }) =>
            html`<p>${capitalised(name)}: ${verdictWord(outcome)}</p>
              <p class="small">${sentence}</p>`,
        )}
        ${findings.map(({ sentence }) => html`<p class="note">${capitalised(sentence)}.</p>`)}
        ${notes.map((note) => html`<p class="small">${capitalised(note)}</p>`)}
      </div>
    </div>
    ${
      picture === undefined
        ? nothing
        : html`<img
            class="picture"
            src="data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture)}"
            alt="Drawing of the audit; its numbers are in the report below"
          />`
    }
    <details class="data" open>
      <summary>The whole report</summary>
      <pre class="report" tabindex="0">${text}</pre>
    </details>
    <div class="reproduce">
      ${copyLine(app, command)}
      ${page === undefined ? nothing : downloadButton("Download report (HTML)", `${name}.html`, () => page)}
      ${downloadButton("Download JSON", `${name}.json`, json)}
      ${copies(app, `copy-${headId}`, [
        { name: "number", text: () => rounded(bound.epsilon, kind, 4) },
        { name: "JSON", text: json },
        { name: "report", text: () => text },
        ...(picture === undefined ? [] : [{ name: "SVG", text: () => picture }]),
        { name: "link", text: () => linkOf(app) },
        { name: "BibTeX", text: () => bibtex(app.version, linkOf(app)) },
        { name: "command", text: () => command },
      ])}
    </div>`;
}

/** A button that saves a text, which is made when it is pressed. */
export function downloadButton(label: string, name: string, text: () => string): TemplateResult {
  const save = () => download(name, new TextEncoder().encode(text()));
  return html`<button type="button" class="quiet download" @click=${save}>${label}</button>`;
}
