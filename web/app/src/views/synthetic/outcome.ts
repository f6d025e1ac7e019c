import type { PateGanAnswer, PateGanQuestion, PateGanSoFar } from "@dpscope/wasm/synth";
import { html, type TemplateResult } from "lit/html.js";
import { confidence, rounded } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { toCsv } from "../../charts/data-table";
import { scientificDelta } from "../../components/badge";
import { copies, copyLine } from "../../components/copies";
import { verdictWord } from "../../components/verdict";
import { bibtex } from "../../copies/bibtex";
import { linkOf } from "../../copies/link";
import { standaloneSvg } from "../../copies/svg";
import { pateganCommand } from "../../copies/trained";
import { capitalised } from "../../numbers/accounted";
import { cellChart, cellTable } from "./cells";
import { epsilonScale } from "./scale";
import { scoreChart } from "./scores";

/** What the attack on the released rows shows, and the rows of both worlds. */
export function outcome(
  app: App,
  answer: PateGanAnswer,
  asked: PateGanQuestion,
  soFar: PateGanSoFar | undefined,
): TemplateResult {
  const { report, picture, text } = answer;
  const width = chartWidth(app);
  return html`<div class="outcome">
      <div>
        <p class="big audit">
          <span class="sign">ε ≥</span> ${rounded(report.epsilon, "lower", 2)}
        </p>
        <p class="under">
          by the released rows, at δ = ${scientificDelta(report.delta)}, with
          ${confidence(report.significance)} confidence
        </p>
      </div>
      <div class="verdict">
        <p>
          Accounted ε ≤ ${rounded(report.accounted_epsilon, "upper", 2)}:
          ${verdictWord(report.verdict)}
        </p>
        <p class="small">${capitalised(report.says)}.</p>
      </div>
    </div>
    ${epsilonScale(app.layout.split, report)}
    <div class="charts">
      ${cellChart(width, soFar?.cells ?? picture.cells)} ${scoreChart("synthetic-scores", width, picture.scores, report)}
    </div>
    <details class="data">
      <summary>The whole report</summary>
      <pre class="report" tabindex="0">${text}</pre>
    </details>
    ${reproduce(app, answer, asked)}`;
}

/** Two charts side by side where there is room. */
function chartWidth({ layout }: App): number {
  return layout.split >= 720 ? Math.floor((layout.split - 28) / 2) : layout.split;
}

function reproduce(
  app: App,
  { report, picture, text }: PateGanAnswer,
  asked: PateGanQuestion,
): TemplateResult {
  const command = pateganCommand(asked);
  return html`<div class="reproduce">
    ${copyLine(app, command)}
    <p class="small">This command reproduces the result exactly, on any machine.</p>
    ${copies(app, "copy-synthetic", [
      { name: "number", text: () => rounded(report.epsilon, "lower", 4) },
      { name: "JSON", text: () => JSON.stringify(report, null, 2) },
      { name: "report", text: () => text },
      { name: "CSV of the rows", text: () => toCsv(cellTable(picture.cells)) },
      { name: "SVG of the rows", text: () => standaloneSvg("synthetic-cells") },
      { name: "link", text: () => linkOf(app) },
      { name: "BibTeX", text: () => bibtex(app.version, linkOf(app)) },
      { name: "command", text: () => command },
    ])}
  </div>`;
}
