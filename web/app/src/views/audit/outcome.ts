import type { SimulationResult } from "@dpscope/wasm/audits";
import { html, nothing, type TemplateResult } from "lit/html.js";
import {
  confidence,
  decimalsOf,
  grouped,
  type Kind,
  rounded,
  SIGN,
} from "../../../../numbers/rounded";
import { scopes } from "../../../../numbers/words.json";
import type { App } from "../../app";
import type { AuditRun } from "../../audit/run";
import { toCsv } from "../../charts/data-table";
import { details, scientificDelta } from "../../components/badge";
import { copies, copyLine } from "../../components/copies";
import { verdictWord } from "../../components/verdict";
import { bibtex } from "../../copies/bibtex";
import { auditCommand } from "../../copies/command";
import { linkOf } from "../../copies/link";
import { standaloneSvg } from "../../copies/svg";
import { count } from "../../numbers/counts";
import { climbChart } from "./climb";
import { curveTable, tradeOffChart } from "./trade-off";

/** The result of the audit so far, and its charts. */
export function results(app: App): TemplateResult | typeof nothing {
  const { run } = app.audit;
  if (run?.found === undefined) return nothing;
  return html`${outcome(app, run)}
    <div class="charts">${climbChart(app, run)} ${tradeOffChart(app, run)}</div>`;
}

function outcome(app: App, run: AuditRun): TemplateResult {
  const result = run.found?.result as SimulationResult;
  const kind: Kind = result.kind === "bound" ? "lower" : "estimate";
  const isOver = run.phase === "done";
  const decimals = decimalsOf(app.comparison.conclusion?.claimed, result.epsilon, 4);
  const unfinished = run.isOver
    ? "an estimate: the audit ended before all observations were counted"
    : "so far: an estimate until all observations are counted";
  return html`<div class="outcome">
    <div>
      <p class="big audit">
        <span class="sign">ε ${SIGN[kind]}</span> ${rounded(result.epsilon, kind, isOver ? decimals : 2)}
      </p>
      <p class="under">${isOver ? level(result) : unfinished}</p>
      ${details(app, "about-audit", badgeOf(result), kind, rows(result))}
    </div>
    <div class="verdict">${isOver ? [verdict(app), reach(app, result)] : nothing}</div>
  </div>
  ${isOver ? reproduce(app, run, result) : nothing}`;
}

function level(result: SimulationResult): string {
  const at = `at δ = ${scientificDelta(result.delta)}`;
  if (result.kind !== "bound") return `${at}: an estimate`;
  return `${at}, with ${confidence(result.significance)} confidence`;
}

function badgeOf(result: SimulationResult): string {
  return result.kind === "bound"
    ? `lower bound, ${confidence(result.significance)}`
    : "estimate, not complete";
}

function verdict(app: App): TemplateResult | typeof nothing {
  const { conclusion, failure } = app.comparison;
  if (failure !== undefined) return html`<p class="failure" role="alert">${failure}</p>`;
  if (conclusion === undefined) return nothing;
  return html`<p>
      ${verdictWord(conclusion.verdict.outcome)}
    </p>
    <p class="small">${conclusion.sentence}</p>`;
}

/** What more observations could show; the conclusion on a claim that is not refuted has the gain. */
function reach(app: App, result: SimulationResult): TemplateResult {
  const isRefuted = app.comparison.conclusion?.verdict.outcome === "refuted";
  const gain = isRefuted
    ? ` Ten times as many, with the same error rates, would add about ${rounded(result.gain_at_10x, "estimate", 2)}.`
    : "";
  return html`<p class="small">
    This many observations can show at most ε = ${rounded(result.ceiling, "upper", 2)}.${gain}
  </p>`;
}

function reproduce(app: App, run: AuditRun, result: SimulationResult): TemplateResult {
  const command = commandOf(app, run, result);
  return html`<div class="reproduce">
    ${copyLine(app, command)}
    <p class="small">
      ${
        result.float_modes.every((mode) => mode === "exact")
          ? "This command reproduces the result exactly, on any machine."
          : "Counted in fast mode: the command’s result may differ in the last digits."
      }
    </p>
    ${copies(app, "copy-audit", [
      { name: "number", text: () => rounded(result.epsilon, "lower", 4) },
      { name: "JSON", text: () => JSON.stringify({ plan: run.plan, result }, null, 2) },
      {
        name: "CSV of the curve",
        text: () => (run.found === undefined ? undefined : toCsv(curveTable(run.found.curve))),
      },
      { name: "SVG of the curve", text: () => standaloneSvg("trade-off") },
      { name: "link", text: () => linkOf(app) },
      { name: "BibTeX", text: () => bibtex(app.version, linkOf(app)) },
      { name: "command", text: () => command },
    ])}
  </div>`;
}

function commandOf(app: App, run: AuditRun, result: SimulationResult): string {
  const state = { ...(app.audit.state ?? app.state), claim: app.state.claim };
  return auditCommand(state, result.seed, run.plan.observations);
}

function rows(result: SimulationResult): (readonly [string, string])[] {
  const kind: Kind = result.kind === "bound" ? "lower" : "estimate";
  const half = result.observations / 2;
  return [
    ["value", `ε ${SIGN[kind]} ${rounded(result.epsilon, kind, 6)}`],
    ["at", `δ = ${scientificDelta(result.delta)}`],
    ["kind", badgeOf(result)],
    ["n", `${grouped(half)} with the target record, ${grouped(half)} without`],
    ["planned", grouped(result.planned)],
    ["method", `${result.threshold_rule}, ${count(result.cuts, "cut")}`],
    [
      "attack",
      result.threshold === null
        ? ""
        : `score > ${result.threshold.toFixed(4)}: ${count(result.false_positives, "false positive")}, ${count(result.false_negatives, "false negative")}`,
    ],
    ["direction", result.direction],
    ["scope", scopes.pair.lower],
    ["seed", result.seed],
    ["device", result.devices.join(", ")],
    ["float mode", result.float_modes.join(", ")],
    [
      "fallback",
      result.fallback_shards === 0 ? "" : `${count(result.fallback_shards, "range")} on the CPU`,
    ],
    ["digest", result.histogram_digest],
    ["version", `dpscope ${result.version}`],
  ];
}
