import { html, nothing, type TemplateResult } from "lit/html.js";
import { rounded, SIGN } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { scientificDelta } from "../../components/badge";
import { type Answer, recordedReport } from "../../components/recorded-report";
import { chartWidthIn } from "../../layout";
import { lineOf } from "../../options/command";
import type { Kind, TwoWorlds } from "../../training/protocols";
import type { TrainingSession } from "../../training/session";
import { type Compared, climb } from "../audit/climb";
import { tradeOff } from "../audit/trade-off";
import { scoreChart } from "./scores";

/** What the trainings so far show, and at the end their report. */
export function outcome(
  app: App,
  session: TrainingSession<TwoWorlds>,
): TemplateResult | typeof nothing {
  const { answer, asked, run } = session;
  if (run?.found === undefined || asked === undefined) return nothing;
  const { result, curve, scores } = run.found;
  const width = chartWidthIn(app.layout.wide, scores.length === 0 ? 2 : 3);
  return html`${answer === undefined ? soFar(session, result, run.isOver) : report(app, session, "trainings")}
    <div class="charts">
      ${scores.length === 0 ? nothing : scoreChart(width, scores)}
      ${climb(width, run, compared(session), "trainings")}
      ${tradeOff({ width, runs: run.total, curve, known: [] })}
    </div>`;
}

function compared({ claim, answer }: TrainingSession<TwoWorlds>): Compared[] {
  const simulated = answer?.report.training?.idealised?.epsilon;
  return [
    ...(claim === undefined ? [] : [{ words: "claimed", colour: "poisson" as const, y: claim }]),
    ...(simulated === undefined
      ? []
      : [{ words: "simulated", colour: "attack" as const, y: simulated }]),
  ];
}

/** The estimate before all models are trained. */
export function soFar<K extends Kind>(
  session: TrainingSession<K>,
  { epsilon, delta }: { epsilon: number; delta: number },
  isOver: boolean,
): TemplateResult {
  const unfinished = isOver
    ? "an estimate: the audit ended before all models were trained"
    : "so far: an estimate until all models are trained";
  return html`<div class="outcome">
    <div>
      <p class="big audit">
        <span class="sign">ε ${SIGN.estimate}</span> ${rounded(epsilon, "estimate", 2)}
      </p>
      <p class="under">at δ = ${scientificDelta(delta)}, ${unfinished}</p>
    </div>
    <div class="verdict">${claimed(session)}</div>
  </div>`;
}

export function claimed<K extends Kind>({
  claim,
  asked,
  protocol,
}: TrainingSession<K>): TemplateResult | typeof nothing {
  if (claim === undefined || asked === undefined) return nothing;
  return html`<p class="small">${protocol.claimed(rounded(claim, "upper", 4))}</p>`;
}

/** The program's report, and the command that repeats the audit. */
export function report<K extends Kind & { answer: Answer }>(
  app: App,
  session: TrainingSession<K>,
  name: string,
): TemplateResult | typeof nothing {
  const { answer, asked, claim, names, protocol } = session;
  if (answer === undefined || asked === undefined) return nothing;
  const command = lineOf(protocol.wordsOf(asked, names, claim));
  return html`${claimed(session)}
  ${recordedReport(app, "train-found", answer, command, name)}
  ${SAME_DRAWS}`;
}

const SAME_DRAWS = html`<p class="small">
  The command draws the same batches and noise. Sums of gradients are rounded in another order there,
  so that its scores differ in their last digits.
</p>`;
