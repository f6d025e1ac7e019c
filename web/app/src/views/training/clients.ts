import type { FederatedAfter } from "@dpscope/wasm/training_canaries";
import { html, type nothing, svg, type TemplateResult } from "lit/html.js";
import { grouped } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { dataTable } from "../../charts/data-table";
import { curve, drawing, type Place, plot } from "../../charts/plot";
import { chartWidthIn } from "../../layout";
import { count } from "../../numbers/counts";
import type { Federated } from "../../training/protocols";
import type { TrainingSession } from "../../training/session";
import { lookedAt, percent } from "./looks";
import { normalScores } from "./normal-scores";
import { report } from "./outcome";
import { repeatedOutcome } from "./repeated";

/** What the canary clients so far show, and at the end their report. */
export function clientOutcome(
  app: App,
  session: TrainingSession<Federated>,
): TemplateResult | typeof nothing {
  return repeatedOutcome(app, session, {
    says: "proven",
    report: () => report(app, session, "fedavg"),
    shown,
  });
}

function shown(
  found: Federated["found"],
  _asked: Federated["question"],
  width: number,
): TemplateResult {
  return html`${normalScores(width, "client-scores", "Scores of the canary clients", found.bins)}
    <p class="small">
      Of ${count(found.repeats, "audited training")}:
      ${count(found.canaries, "canary", "canaries")}.${accuracies(found)}
    </p>`;
}

function accuracies({ accuracy, accuracy_without_canaries }: Federated["found"]): string {
  const parts = [
    accuracy === null ? [] : `${percent(accuracy)} with canaries`,
    accuracy_without_canaries === null ? [] : `${percent(accuracy_without_canaries)} without`,
  ].flat();
  return parts.length === 0 ? "" : ` Accuracy on held-out records: ${parts.join(", ")}.`;
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
  const accuracy = percent(look.accuracy);
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
