import { html, nothing, type TemplateResult } from "lit/html.js";
import { grouped } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { count } from "../../numbers/counts";
import type { OneRun } from "../../training/protocols";
import type { TrainingSession } from "../../training/session";
import { report } from "./outcome";
import { canaryDownload } from "./progress";
import { repeatedOutcome } from "./repeated";
import { canaryScores } from "./scores";

/** The label of an axis with a score. */
export const SCORE = {
  "final-loss": "minus the loss, nats",
  "loss-difference": "fall of the loss, nats",
  "white-box": "log-likelihood ratio, nats",
} as const;

/** What the canaries so far show, and at the end their report. */
export function canaryOutcome(
  app: App,
  session: TrainingSession<OneRun>,
): TemplateResult | typeof nothing {
  return repeatedOutcome(app, session, {
    says: "claimed",
    report: () => html`${report(app, session, "one-run")} ${canaryFile(session)}`,
    shown,
  });
}

/** The file that the command names, where canaries were optimised. */
function canaryFile(session: TrainingSession<OneRun>): TemplateResult | typeof nothing {
  if (session.canaryFile === undefined) return nothing;
  return html`<p class="small buttons">
    The command reads the canaries of this audit from a file: ${canaryDownload(session)}
  </p>`;
}

function shown(found: OneRun["found"], asked: OneRun["question"], width: number): TemplateResult {
  const score = `${SCORE[asked.score ?? "final-loss"]}${asked.reference_models ? ", calibrated" : ""}`;
  const auc = found.auc === null ? "" : `; AUC ${found.auc.toFixed(3)}`;
  const guesses =
    found.guesses === 0
      ? ""
      : ` The bound is from the first ${count(found.guesses, "guess", "guesses")}, of which ${grouped(found.correct)} are correct.`;
  return html`${canaryScores(width, { id: "canary-scores", title: "Scores of the canaries", score, bins: found.bins })}
    <p class="small">
      Of ${count(found.repeats, "audited training")}: ${grouped(
        (asked.canaries ?? 0) * found.repeats,
      )} canaries${auc}.${guesses}
    </p>`;
}
