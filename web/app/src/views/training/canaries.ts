import { html, nothing, type TemplateResult } from "lit/html.js";
import { grouped } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { recordedReport } from "../../components/recorded-report";
import { canaryTrainingCommand } from "../../copies/command";
import { chartWidthIn } from "../../layout";
import { count } from "../../numbers/counts";
import type { OneRun } from "../../training/protocols";
import type { TrainingSession } from "../../training/session";
import { type Compared, climb } from "../audit/climb";
import { claimed, SAME_DRAWS, soFar } from "./outcome";
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
  const { answer, asked, run } = session;
  if (run?.found === undefined || asked === undefined) return nothing;
  const { found } = run;
  const width = chartWidthIn(app.layout.wide, 2);
  const score = `${SCORE[asked.score ?? "final-loss"]}${asked.reference_models ? ", calibrated" : ""}`;
  const auc = found.auc === null ? "" : `; AUC ${found.auc.toFixed(3)}`;
  const guesses =
    found.guesses === 0
      ? ""
      : ` The bound is from the first ${count(found.guesses, "guess", "guesses")}, of which ${grouped(found.correct)} are correct.`;
  const { epsilon, delta } = found;
  return html`${
    answer !== undefined
      ? report(app, session)
      : epsilon === null
        ? nothing
        : soFar(session, { epsilon, delta }, run.isOver)
  }
    ${
      found.failed === 0
        ? nothing
        : html`<p class="note">${count(found.failed, "training")} diverged, and their canaries have no scores; a lower learning rate helps.</p>`
    }
    <div class="charts">
      <div>
        ${canaryScores(width, { id: "canary-scores", title: "Scores of the canaries", score, bins: found.bins })}
        <p class="small">
          Of ${count(found.repeats, "audited training")}: ${grouped(
            (asked.canaries ?? 0) * found.repeats,
          )} canaries${auc}.${guesses}
        </p>
      </div>
      ${
        (asked.repeats ?? 1) < 2
          ? nothing
          : climb(
              width,
              { history: run.history, total: asked.repeats ?? 1 },
              compared(session),
              "trainings",
            )
      }
    </div>`;
}

function compared({ claim }: TrainingSession<OneRun>): Compared[] {
  return claim === undefined ? [] : [{ words: "claimed", colour: "poisson", y: claim }];
}

function report(app: App, session: TrainingSession<OneRun>): unknown {
  const { answer, asked, claim } = session;
  if (answer === undefined || asked === undefined) return nothing;
  const names = { data: session.sentName("data"), labels: session.sentName("labels") };
  const command = canaryTrainingCommand(asked, names, claim);
  return html`${claimed(session)}
  ${recordedReport(app, "train-found", answer, command, "one-run.json")} ${SAME_DRAWS}`;
}
