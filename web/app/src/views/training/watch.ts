import type { WatchedTraining } from "@dpscope/wasm/training";
import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { grouped } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { dataTable } from "../../charts/data-table";
import { curve, drawing, type Place, type Plot, plot } from "../../charts/plot";
import { chartWidthIn } from "../../layout";
import type { TwoWorlds } from "../../training/protocols";
import type { TrainingSession, Watched } from "../../training/session";
import { watchHead } from "./looks";

const WORLDS = ["with the canary", "without"] as const;

/** One training of each world: what the attacker sees, and what the models learn. */
export function watch(
  app: App,
  session: TrainingSession<TwoWorlds>,
): TemplateResult | typeof nothing {
  const { watched } = session;
  if (watched === undefined) return nothing;
  return html`<section class="panel spaced" aria-labelledby="watch-head">
    ${watchHead(session, `Training ${grouped(watched.run + 1)} of each world`)}
    <div class="charts">${outputs(app, watched)} ${learned(app, watched)}</div>
  </section>`;
}

/** Outputs of both trainings, step by step. */
function outputs(app: App, { shown: worlds, run }: Watched<TwoWorlds>): TemplateResult {
  const width = chartWidthIn(app.layout.wide, 2);
  const all = worlds.flatMap(({ outputs }) => outputs.filter((output) => output !== null));
  const [low, high] = [Math.min(-1.5, ...all), Math.max(1.5, ...all)];
  const steps = Math.max(...worlds.map(({ outputs }) => outputs.length), 2);
  const chart = plot(
    { width, height: 290 },
    {
      x: { label: "step", ends: [0.5, steps + 0.5] },
      y: { label: "output along the canary, in C", ends: [1.1 * low, 1.1 * high] },
    },
  );
  const zero = chart.y(0);
  const content = svg`
    <line class="base" x1=${chart.left} x2=${width - chart.right} y1=${zero} y2=${zero}></line>
    ${worlds.map((world, index) => dots(chart, world, index === 0 ? "with" : "without"))}`;
  const scores = worlds.map(
    ({ score }, index) => `${score?.toFixed(2) ?? "none"} ${WORLDS[index]}`,
  );
  return html`<div class="figure-box">
    <h3>What the attacker sees</h3>
    ${drawing(chart, "watched-outputs", "Outputs of each step", `Scores: ${scores.join(", ")}.`, content)}
    <ul class="legend">
      <li><span class="mark with"></span>with the canary; ringed where it was added</li>
      <li><span class="mark without"></span>without; ringed where nothing took its place</li>
    </ul>
    <p class="small">Scores: ${scores.join(", ")}.</p>
    ${dataTable({
      caption: `Outputs of training ${run + 1}`,
      columns: ["step", ...WORLDS],
      rows: Array.from({ length: steps }, (_, step) => [
        String(step + 1),
        ...worlds.map(({ outputs }) => outputs[step]?.toFixed(4) ?? ""),
      ]),
    })}
  </div>`;
}

function dots(chart: Plot, { outputs, canary_steps }: WatchedTraining, world: string): unknown {
  const shift = world === "with" ? -1.5 : 1.5;
  const radius = outputs.length > 300 ? 1.5 : 3;
  const at = (step: number, output: number) =>
    [chart.x(step + 1) + shift, chart.y(output)] as const;
  return svg`<g class="watched ${world}">
    ${outputs.map((output, step) => {
      if (output === null) return nothing;
      const [x, y] = at(step, output);
      return svg`<circle cx=${x.toFixed(1)} cy=${y.toFixed(1)} r=${radius}></circle>`;
    })}
    ${canary_steps.map((step) => {
      const [x, y] = at(step, outputs[step] ?? 0);
      return svg`<circle class="ring" cx=${x.toFixed(1)} cy=${y.toFixed(1)} r="7"></circle>`;
    })}
  </g>`;
}

/** Accuracy and loss on held-out records. */
function learned(app: App, { shown: worlds }: Watched<TwoWorlds>): TemplateResult {
  const looks = worlds[0].learned;
  if (looks.length === 0) {
    return html`<div class="figure-box">
      <h3>What the models learn</h3>
      <p class="small">The data has no held-out records to test the models on.</p>
    </div>`;
  }
  const losses = worlds.flatMap(({ learned }) => learned.flatMap(({ loss }) => loss ?? []));
  const [low, high] = [Math.min(...losses), Math.max(...losses)];
  const room = 0.08 * (high - low) + 0.01;
  const steps = Math.max(1, looks.at(-1)?.steps ?? 1);
  const chart = plot(
    { width: chartWidthIn(app.layout.wide, 2), height: 290 },
    {
      x: { label: "steps so far", ends: [0, steps] },
      y: { label: "loss on held-out records", ends: [Math.max(0, low - room), high + room] },
    },
  );
  const lines = worlds.map(({ learned }) =>
    learned.map(({ steps, loss }): Place => [steps, loss ?? Number.NaN]),
  );
  const content = svg`${lines.map((line, index) => curve(chart, line, index === 0 ? "attack" : "plain"))}`;
  const ends = worlds.map(({ learned }, index) => {
    const last = learned.at(-1);
    return `${last === undefined ? "" : (100 * last.accuracy).toFixed(1)} % ${WORLDS[index]}`;
  });
  return html`<div class="figure-box">
    <h3>What the models learn</h3>
    ${drawing(chart, "watched-loss", "Loss of both models", `Accuracy at the end: ${ends.join(", ")}.`, content)}
    <ul class="legend">
      <li><span class="dash attack"></span>with the canary</li>
      <li><span class="dash plain"></span>without</li>
    </ul>
    <p class="small">Accuracy at the end: ${ends.join(", ")}.</p>
    ${dataTable({
      caption: "Loss and accuracy",
      columns: ["steps", ...WORLDS.flatMap((world) => [`loss ${world}`, `accuracy ${world}`])],
      rows: looks.map(({ steps }, row) => [
        String(steps),
        ...worlds.flatMap(({ learned }) => [
          learned[row]?.loss?.toFixed(4) ?? "",
          learned[row]?.accuracy.toFixed(4) ?? "",
        ]),
      ]),
    })}
  </div>`;
}
