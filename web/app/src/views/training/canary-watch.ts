import type { CanariesAfter } from "@dpscope/wasm/training_canaries";
import { html, type nothing, svg, type TemplateResult } from "lit/html.js";
import { grouped } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { dataTable } from "../../charts/data-table";
import { curve, drawing, type Place, plot } from "../../charts/plot";
import { chartWidthIn } from "../../layout";
import type { OneRun } from "../../training/protocols";
import type { TrainingSession } from "../../training/session";
import { SCORE } from "./canaries";
import { lookedAt, percent } from "./looks";
import { canaryScores } from "./scores";

/** One training: how the scores of its canaries change, and what the model learns. */
export function watchCanaries(
  app: App,
  session: TrainingSession<OneRun>,
): TemplateResult | typeof nothing {
  const width = chartWidthIn(app.layout.wide, 2);
  const score = SCORE[session.asked?.score ?? "final-loss"];
  const content = (look: CanariesAfter, looks: readonly CanariesAfter[]) => {
    const last = looks.at(-1) ?? look;
    const most = Math.max(...last.bins.flatMap(({ canaries }) => canaries));
    const title = `Scores after ${grouped(look.steps)} of ${grouped(last.steps)} steps`;
    return html`
      ${canaryScores(width, { id: "watched-canaries", title, score, bins: look.bins, most })}
      ${learned(width, looks, look)}`;
  };
  return lookedAt(app, session, "Steps so far", ({ steps }) => `${steps} steps`, content);
}

/** How well the scores separate the canaries, beside the accuracy on held-out records. */
function learned(
  width: number,
  looks: readonly CanariesAfter[],
  look: CanariesAfter,
): TemplateResult {
  const line = (of: (look: CanariesAfter) => number | null): Place[] =>
    looks.map((look): Place => [look.steps, 100 * (of(look) ?? Number.NaN)]);
  const aucs = line(({ auc }) => auc);
  const accuracies = line(({ accuracy }) => accuracy);
  const values = [...aucs, ...accuracies].flatMap(([, y]) => (Number.isNaN(y) ? [] : [y]));
  const chart = plot(
    { width, height: 290 },
    {
      x: { label: "steps so far", ends: [0, Math.max(1, looks.at(-1)?.steps ?? 1)] },
      y: {
        label: "%",
        ends: [
          Math.max(0, Math.min(45, ...values) - 5),
          Math.min(100, Math.max(60, ...values) + 5),
        ],
      },
    },
  );
  const [auc, accuracy] = [percent(look.auc), percent(look.accuracy)];
  const says = `After ${look.steps} steps: AUC ${auc}, accuracy ${accuracy}.`;
  const x = chart.x(look.steps);
  const content = svg`
    <line class="base" x1=${x} x2=${x} y1=${chart.y(chart.axes.y.ends[0])} y2=${chart.y(chart.axes.y.ends[1])}></line>
    ${curve(chart, aucs, "attack")} ${curve(chart, accuracies, "plain")}`;
  return html`<div class="figure-box">
    <h3>What the model learns</h3>
    ${drawing(chart, "watched-auc", "AUC of the canaries and accuracy", says, content)}
    <ul class="legend">
      <li><span class="dash attack"></span>AUC of included against other canaries: ${auc}</li>
      <li><span class="dash plain"></span>accuracy on held-out records: ${accuracy}</li>
    </ul>
    ${dataTable({
      caption: "AUC and accuracy",
      columns: ["steps", "AUC", "accuracy", "loss on held-out records"],
      rows: looks.map(({ steps, auc, accuracy, loss }) => [
        String(steps),
        auc?.toFixed(4) ?? "",
        accuracy?.toFixed(4) ?? "",
        loss?.toFixed(4) ?? "",
      ]),
    })}
  </div>`;
}
