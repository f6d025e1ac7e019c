import type { RankedRun } from "@dpscope/wasm/one_shot";
import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { grouped, rounded } from "../../../../numbers/rounded";
import { dataTable } from "../../charts/data-table";
import { curve, drawing, type Place, type Plot, plot } from "../../charts/plot";
import type { Colour } from "../../numbers/lines";

function flat(chart: Plot, height: number, colour: Colour): unknown {
  const [from, to] = chart.axes.x.ends;
  const ends: Place[] = [
    [from, height],
    [to, height],
  ];
  return curve(chart, ends, colour);
}

function dot(chart: Plot, [x, y]: Place, colour: Colour, size = 5): unknown {
  return svg`<circle class="dot fill-${colour}" cx=${chart.x(x)} cy=${chart.y(y)} r=${size}></circle>`;
}

function legend(lines: readonly (readonly [Colour, string])[]): TemplateResult {
  return html`<ul class="legend">
    ${lines.map(([colour, words]) => html`<li><span class="dash ${colour}"></span>${words}</li>`)}
  </ul>`;
}

/** ε against the number of guesses. */
export function epsilonChart(width: number, run: RankedRun): TemplateResult {
  const { path, fixed, walk, largest, truth } = run;
  const first = path[0]?.guesses ?? 1;
  const last = path.at(-1)?.guesses ?? 10;
  const ceiling = Math.max(0.5, ...path.map((step) => step.ceiling));
  const isShown = truth <= 2 * ceiling;
  const most = 1.06 * Math.max(ceiling, walk.ceiling, isShown ? truth : 0);
  const chart = plot(
    { width, height: 300 },
    {
      x: { label: "number of guesses k", ends: [first, last], isLog: true },
      y: { label: "ε", ends: [0, most] },
    },
  );
  const of = (value: (step: (typeof path)[number]) => number) =>
    curve(
      chart,
      path.map((step) => [step.guesses, value(step)] as const),
      "audit",
    );
  const content = svg`
    <g class="ceiling">${curve(
      chart,
      path.map((step) => [step.guesses, step.ceiling] as const),
      "plain",
    )}</g>
    ${isShown ? flat(chart, truth, "attack") : nothing}
    ${of((step) => step.epsilon)}
    ${flat(chart, walk.epsilon, "deterministic")}
    ${dot(chart, [fixed.guesses, fixed.epsilon], "audit")}
    ${dot(chart, [largest.guesses, largest.epsilon], "claim")}`;
  const says = `Bounds if each number of guesses had been fixed beforehand; the walk shows ε of at least ${rounded(walk.epsilon, "lower", 2)}.`;
  return html`<div class="figure-box">
    <h3>ε against the number of guesses</h3>
    ${drawing(chart, "run-epsilon", "ε against the number of guesses", says, content)}
    ${legend([
      ["audit", "bound for a k fixed beforehand"],
      ["deterministic", "the walk"],
      ["claim", "the largest over k: no bound"],
      ["plain", "ceiling: all guesses correct"],
      ["attack", isShown ? "true ε" : `true ε = ${rounded(truth, "estimate", 1)}, above the axis`],
    ])}
    ${dataTable({
      caption: "ε by number of guesses",
      columns: ["k", "correct", "ε if fixed", "ceiling"],
      rows: path.map((step) => [
        grouped(step.guesses),
        grouped(step.correct),
        rounded(step.epsilon, "lower", 4),
        rounded(step.ceiling, "lower", 4),
      ]),
    })}
  </div>`;
}

/** The share of correct guesses, with the boundary of the walk. */
export function rankingChart(width: number, run: RankedRun): TemplateResult {
  const { path, boundary } = run;
  const share = (step: { guesses: number; correct: number }): Place => [
    step.guesses,
    (100 * step.correct) / step.guesses,
  ];
  const fewest = boundary.flatMap(({ guesses, fewest }): Place[] =>
    fewest === null ? [] : [[guesses, (100 * fewest) / guesses]],
  );
  const first = Math.min(8, path[0]?.guesses ?? 8);
  const least = Math.min(45, ...path.map((step) => share(step)[1] - 5));
  const chart = plot(
    { width, height: 300 },
    {
      x: {
        label: "guesses, most confident first",
        ends: [first, path.at(-1)?.guesses ?? 10],
        isLog: true,
      },
      y: { label: "correct guesses (%)", ends: [Math.max(0, least), 100] },
    },
  );
  const steps = boundary.map(share);
  const content = svg`
    ${flat(chart, 50, "plain")}
    ${curve(chart, path.map(share), "audit")}
    ${curve(chart, fewest, "deterministic")}
    ${fewest.map((place) => dot(chart, place, "deterministic", 4))}
    ${steps.map((place) => dot(chart, place, "audit", 4))}`;
  return html`<div class="figure-box">
    <h3>The boundary of the walk</h3>
    ${drawing(chart, "run-boundary", "Share of correct guesses with the boundary of the walk", "A mark of the run on or above the boundary shows ε above 0.", content)}
    ${legend([
      ["audit", "correct guesses; tested at the marks"],
      ["deterministic", "needed to show ε > 0"],
      ["plain", "half of them, by chance"],
    ])}
    ${dataTable({
      caption: "The boundary of the walk",
      columns: ["k", "correct", "needed to show ε > 0"],
      rows: boundary.map((step) => [
        grouped(step.guesses),
        grouped(step.correct),
        step.fewest === null ? "more than k" : grouped(step.fewest),
      ]),
    })}
  </div>`;
}
