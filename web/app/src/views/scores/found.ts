import type { ScoresResult } from "@dpscope/wasm/files";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { numberText } from "../../../../fields/field";
import {
  confidence,
  decimalsOf,
  grouped,
  type Kind,
  rounded,
  SIGN,
} from "../../../../numbers/rounded";
import { no_leakage } from "../../../../numbers/words.json";
import type { App } from "../../app";
import { toCsv } from "../../charts/data-table";
import { details, scientificDelta } from "../../components/badge";
import { copies, copyLine } from "../../components/copies";
import { verdictWord } from "../../components/verdict";
import { bibtex } from "../../copies/bibtex";
import { scoresCommand } from "../../copies/command";
import { linkOf } from "../../copies/link";
import { standaloneSvg } from "../../copies/svg";
import { capitalised } from "../../numbers/accounted";
import { count } from "../../numbers/counts";
import { curveTable, tradeOff } from "../audit/trade-off";

/** The result of the audit of files. */
export function found(app: App, result: ScoresResult): TemplateResult {
  const isBound = result.kind === "bound";
  const kind: Kind = isBound ? "lower" : "estimate";
  const { target, zero_out } = app.scores.files;
  const command = scoresCommand(app.state, target?.name ?? "", zero_out?.name);
  const { runs } = result;
  const decimals = decimalsOf(result.claim?.epsilon, result.epsilon, 4);
  return html`<h2 id="found-head" class="hidden">Result</h2>
    <div class="outcome">
      <div>
        <p class="big audit">
          <span class="sign">ε ${SIGN[kind]}</span> ${rounded(result.epsilon, kind, decimals)}
        </p>
        <p class="under">
          at δ =
          ${scientificDelta(result.delta)}${
            isBound
              ? `, with ${confidence(result.significance)} confidence`
              : ": an estimate, without coverage"
          }
        </p>
        ${details(app, "about-scores", words(result), kind, rows(result))}
      </div>
      <div class="verdict">
        ${verdict(result)}
        ${result.findings.map((finding) => html`<p class="note">${capitalised(finding)}.</p>`)}
        <p class="small">
          ${evaluated(result)} ${count(result.false_positives, "false positive")} and
          ${count(result.false_negatives, "false negative")} at the chosen threshold. This many runs
          can show at most ε = ${rounded(result.ceiling, "upper", 2)}.
        </p>
      </div>
    </div>
    ${tradeOff({ width: app.layout.split, runs: runs.target + runs.zero_out, curve: result.curve, known: [] })}
    <div class="reproduce">
      ${copyLine(app, command)}
      ${copies(app, "copy-scores", [
        { name: "number", text: () => rounded(result.epsilon, kind, 4) },
        {
          name: "JSON",
          text: () => JSON.stringify({ ...result, curve: undefined }, null, 2),
        },
        { name: "CSV of the curve", text: () => toCsv(curveTable(result.curve)) },
        { name: "SVG of the curve", text: () => standaloneSvg("trade-off") },
        { name: "link", text: () => linkOf(app) },
        { name: "BibTeX", text: () => bibtex(app.version, linkOf(app)) },
        { name: "command", text: () => command },
      ])}
    </div>`;
}

function verdict(result: ScoresResult): unknown {
  const { claim } = result;
  if (claim === undefined) {
    const isNothing = result.kind === "bound" && result.epsilon === 0;
    return isNothing ? html`<p class="small">${no_leakage}</p>` : nothing;
  }
  return html`<p>
      Claim ε = ${numberText(claim.epsilon)}:
      ${verdictWord(claim.verdict.outcome)}
    </p>
    <p class="small">${claim.says}</p>`;
}

/** How many runs the numbers are from. */
function evaluated({ runs, evaluated }: ScoresResult): string {
  if (runs.target === evaluated.target && runs.zero_out === evaluated.zero_out) {
    return `From ${count(runs.target, "run")} with the target and ${grouped(runs.zero_out)} without.`;
  }
  const shares = [
    `${grouped(evaluated.target)} of ${count(runs.target, "run")} with the target`,
    `${grouped(evaluated.zero_out)} of ${grouped(runs.zero_out)} without`,
  ];
  return `From ${shares.join(" and ")}; the others chose the threshold.`;
}

function value({ kind, epsilon }: ScoresResult): string {
  const side: Kind = kind === "bound" ? "lower" : "estimate";
  return `ε ${SIGN[side]} ${rounded(epsilon, side, 6)}`;
}

function words(result: ScoresResult): string {
  return result.kind === "bound" ? `lower bound, ${confidence(result.significance)}` : "estimate";
}

function rows(result: ScoresResult): (readonly [string, string])[] {
  return [
    ["value", value(result)],
    ["at", `δ = ${scientificDelta(result.delta)}`],
    ["kind", words(result)],
    ["confidence", result.kind === "bound" ? confidence(result.significance) : "none"],
    ["n", evaluated(result)],
    ["method", `${result.threshold_rule}, ${count(result.cuts, "cut")}`],
    ["threshold", result.threshold === null ? "" : String(result.threshold)],
    ["direction", result.direction],
    ["seed", `${result.seed}, derived from the scores`],
    ["version", `dpscope ${result.version}`],
  ];
}
