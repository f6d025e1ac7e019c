import type { FederatedAfter } from "@dpscope/wasm/training_canaries";
import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { grouped } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { dataTable } from "../../charts/data-table";
import { curve, drawing, type Place, plot } from "../../charts/plot";
import { recordedReport } from "../../components/recorded-report";
import { federatedTrainingCommand } from "../../copies/command";
import { chartWidthIn } from "../../layout";
import { count } from "../../numbers/counts";
import type { Federated } from "../../training/protocols";
import type { TrainingSession } from "../../training/session";
import { type Compared, climb } from "../audit/climb";
import { lookedAt } from "./looks";
import { normalScores } from "./normal-scores";
import { claimed, SAME_DRAWS, soFar } from "./outcome";

/** What the canary clients so far show, and at the end their report. */
export function clientOutcome(
  app: App,
  session: TrainingSession<Federated>,
): TemplateResult | typeof nothing {
  const { answer, asked, run } = session;
  if (run?.found === undefined || asked === undefined) return nothing;
  const { found } = run;
  const { epsilon, delta } = found;
  const width = chartWidthIn(app.layout.wide, 2);
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
        ${normalScores(width, "client-scores", "Scores of the canary clients", found.bins)}
        <p class="small">
          Of ${count(found.repeats, "audited training")}:
          ${count(found.canaries, "canary", "canaries")}.${accuracies(found)}
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

function accuracies({ accuracy, accuracy_without_canaries }: Federated["found"]): string {
  const parts = [
    accuracy === null ? [] : `${percent(accuracy)} with canaries`,
    accuracy_without_canaries === null ? [] : `${percent(accuracy_without_canaries)} without`,
  ].flat();
  return parts.length === 0 ? "" : ` Accuracy on held-out records: ${parts.join(", ")}.`;
}

function compared({ claim }: TrainingSession<Federated>): Compared[] {
  return claim === undefined ? [] : [{ words: "proven", colour: "poisson", y: claim }];
}

function report(app: App, session: TrainingSession<Federated>): unknown {
  const { answer, asked, claim } = session;
  if (answer === undefined || asked === undefined) return nothing;
  const names = { data: session.sentName("data"), labels: session.sentName("labels") };
  const command = federatedTrainingCommand(asked, names, claim);
  return html`${claimed(session)}
  ${recordedReport(app, "train-found", answer, command, "fedavg.json")} ${SAME_DRAWS}`;
}

/** One training, round by round: where its canaries stand, and what the model learns. */
export function watchClients(
  app: App,
  session: TrainingSession<Federated>,
): TemplateResult | typeof nothing {
  const width = chartWidthIn(app.layout.wide, 2);
  const content = (look: FederatedAfter, looks: readonly FederatedAfter[]) => {
    const title = `Scores after ${grouped(look.rounds)} of ${grouped(looks.at(-1)?.rounds ?? 0)} rounds`;
    return html`${normalScores(width, "watched-clients", title, look.bins)} ${learned(width, looks, look)}`;
  };
  return lookedAt(app, session, "Rounds so far", ({ rounds }) => `${rounds} rounds`, content);
}

/** The mean score of the canaries in the model so far. */
function learned(
  width: number,
  looks: readonly FederatedAfter[],
  look: FederatedAfter,
): TemplateResult {
  const means = looks.map(({ rounds, mean_score }): Place => [rounds, mean_score ?? Number.NaN]);
  const values = means.flatMap(([, y]) => (Number.isNaN(y) ? [] : [y]));
  const chart = plot(
    { width, height: 290 },
    {
      x: { label: "rounds so far", ends: [0, Math.max(1, looks.at(-1)?.rounds ?? 1)] },
      y: {
        label: "mean score",
        ends: [Math.min(0, ...values) - 0.2, Math.max(1, ...values) + 0.2],
      },
    },
  );
  const x = chart.x(look.rounds);
  const [low, high] = chart.axes.y.ends;
  const content = svg`
    <line class="base" x1=${x} x2=${x} y1=${chart.y(low)} y2=${chart.y(high)}></line>
    ${curve(chart, means, "attack")}`;
  const accuracy = look.accuracy === null ? "none" : percent(look.accuracy);
  const mean = look.mean_score?.toFixed(2) ?? "none";
  const says = `After ${look.rounds} rounds: mean score ${mean}, accuracy ${accuracy}.`;
  return html`<div class="figure-box">
    <h3>Mean score of the canary clients</h3>
    ${drawing(chart, "watched-mean", "Mean score of the canary clients", says, content)}
    <ul class="legend">
      <li><span class="dash attack"></span>in the change of the model so far: ${mean}</li>
      <li>accuracy on held-out records: ${accuracy}</li>
    </ul>
    ${dataTable({
      caption: "Mean score and accuracy",
      columns: ["rounds", "mean score", "accuracy"],
      rows: looks.map(({ rounds, mean_score, accuracy }) => [
        String(rounds),
        mean_score?.toFixed(4) ?? "",
        accuracy?.toFixed(4) ?? "",
      ]),
    })}
  </div>`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
