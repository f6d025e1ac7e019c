import type { OneRunReport, OneShotReport, Report } from "@dpscope/wasm/one_run";
import { html, nothing } from "lit/html.js";
import { numberText } from "../../../fields/field";
import { confidence, decimalsOf, type Kind, rounded, SIGN } from "../../../numbers/rounded";
import type { App } from "../app";
import { bibtex } from "../copies/bibtex";
import { linkOf } from "../copies/link";
import { capitalised } from "../numbers/accounted";
import { scientificDelta } from "./badge";
import { copies, copyLine } from "./copies";
import { verdictWord } from "./verdict";

/** A report with what the program prints. */
export interface Answer {
  report: Report | OneRunReport | OneShotReport;
  text: string;
}

interface Shown {
  epsilon: number;
  delta: number;
  significance: number;
  isBound: boolean;
}

/** The bound for any training algorithm. */
function boundOf(report: Answer["report"]): Shown | undefined {
  if ("result" in report) {
    const { epsilon, delta, significance, kind } = report.result;
    return { epsilon, delta, significance, isBound: kind === "bound" };
  }
  const { significance } = report;
  const isBound = report.kind === "bound";
  if ("delta" in report) {
    return { epsilon: report.bounds.epsilon, delta: report.delta, significance, isBound };
  }
  const [bound] = report.bounds;
  return bound === undefined ? undefined : { ...bound, significance, isBound };
}

/** The report of an audit: its bound, the verdict on the claim, findings and all of its text. */
export function recordedReport(
  app: App,
  headId: string,
  { report, text }: Answer,
  command: string,
  file: string,
): unknown {
  const bound = boundOf(report);
  if (bound === undefined) return nothing;
  const kind: Kind = bound.isBound ? "lower" : "estimate";
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
              ? `, with ${confidence(bound.significance)} confidence`
              : ": an estimate, without coverage"
          }
        </p>
      </div>
      <div class="verdict">
        ${
          report.claim === null || report.claim === undefined
            ? nothing
            : html`<p>
                  Claim ε = ${numberText(report.claim.epsilon)}:
                  ${verdictWord(report.claim.verdict.outcome)}
                </p>
                <p class="small">${report.claim.says}</p>`
        }
        ${report.findings.map((finding) => html`<p class="note">${capitalised(finding.sentence)}.</p>`)}
      </div>
    </div>
    <details class="data" open>
      <summary>The whole report</summary>
      <pre class="report" tabindex="0">${text}</pre>
    </details>
    <div class="reproduce">
      ${copyLine(app, command)}
      <a
        class="quiet download"
        download=${file}
        href=${`data:application/json;charset=utf-8,${encodeURIComponent(json())}`}
        >Download JSON</a
      >
      ${copies(app, `copy-${headId}`, [
        { name: "number", text: () => rounded(bound.epsilon, kind, 4) },
        { name: "JSON", text: json },
        { name: "report", text: () => text },
        { name: "link", text: () => linkOf(app) },
        { name: "BibTeX", text: () => bibtex(app.version, linkOf(app)) },
        { name: "command", text: () => command },
      ])}
    </div>`;
}
