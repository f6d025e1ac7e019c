import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { grouped, rounded } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { isSamePlan } from "../../audit/plan";
import type { AuditRun } from "../../audit/run";
import { dataTable } from "../../charts/data-table";
import { curve, drawing, endLabels, type Place, plot } from "../../charts/plot";
import { accountedOf, type Colour, type LineName } from "../../numbers/lines";

const COMPARED: readonly { name: LineName; words: string; colour: Colour }[] = [
  { name: "poisson", words: "claimed", colour: "poisson" },
  { name: "pair-estimate", words: "estimate", colour: "attack" },
];

/** A value that the climb is compared with. */
export interface Compared {
  words: string;
  colour: Colour;
  y: number;
}

/** ε as observations come in, with the claim and the estimate for comparison. */
export function climbChart(app: App, run: AuditRun): TemplateResult {
  const compared = isSamePlan(run.plan, app.state)
    ? COMPARED.flatMap((line) => {
        const value = accountedOf(app.theory.lines, line.name);
        return value === undefined ? [] : [{ ...line, y: value.epsilon }];
      })
    : [];
  return climb(chartWidth(app), run, compared, "observations");
}

/** ε as results of a kind come in. */
export function climb(
  width: number,
  run: Pick<AuditRun, "history" | "total">,
  compared: readonly Compared[],
  things: string,
): TemplateResult {
  const points = run.history.map(({ observations, epsilon }): Place => [observations, epsilon]);
  const first = Math.max(1, Math.min(points[0]?.[0] ?? 1000, run.total / 10));
  const most = Math.max(...points.map(([, y]) => y), ...compared.map(({ y }) => y), 0.1);
  const chart = plot(
    { width, height: 290, right: 82 },
    {
      x: { label: things, ends: [first, run.total], isLog: true },
      y: { label: "ε", ends: [0, 1.12 * most] },
    },
  );
  const last = points.at(-1);
  const labels = [
    ...compared,
    ...(last === undefined ? [] : [{ words: "audit", colour: "audit" as const, y: last[1] }]),
  ];
  const content = svg`
    ${compared.map((line) =>
      curve(
        chart,
        [
          [first, line.y],
          [run.total, line.y],
        ],
        line.colour,
      ),
    )}
    ${curve(chart, points, "audit")}`;
  const end =
    last === undefined
      ? nothing
      : svg`<circle class="fill-audit" cx=${chart.x(last[0])} cy=${chart.y(last[1])} r="4.5"></circle>`;
  const title = `ε of the audit against ${things}`;
  const says = `After ${grouped(last?.[0] ?? 0)} ${things}: ${(last?.[1] ?? 0).toFixed(2)}.`;
  return html`<div class="figure-box">
    <h3>ε as ${things} come in</h3>
    ${drawing(chart, "climb", title, says, content, svg`${end}${endLabels(chart, labels)}`)}
    ${dataTable({
      caption: `ε as ${things} come in`,
      columns: [things, "ε so far"],
      rows: run.history.map(({ observations, epsilon }) => [
        grouped(observations),
        rounded(epsilon, "estimate", 4),
      ]),
    })}
  </div>`;
}

/** Two charts side by side where there is room. */
export function chartWidth(app: App): number {
  return app.layout.panel >= 720 ? Math.floor((app.layout.panel - 28) / 2) : app.layout.panel;
}
