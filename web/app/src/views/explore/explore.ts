import { html, type TemplateResult } from "lit/html.js";
import type { App, Explored } from "../../app";
import { copies } from "../../components/copies";
import { nearby } from "../../components/nearby";
import { privacyStatement } from "../../components/privacy-statement";
import { exploreCopies } from "../../copies/explore";
import { controls } from "./controls";
import { figures, hero } from "./hero";
import { sweepChart } from "./sweep-chart";
import { numberTable } from "./table";

/** The start view: a training, and what it leaks. */
export function explore(app: App, below: unknown): TemplateResult {
  const tools = html`<span class="buttons">
    ${privacyStatement(app)} ${copies(app, "copy-numbers", exploreCopies(app))}
  </span>`;
  return html`<div class="lead">
      <h1>How much does shuffled training really leak?</h1>
      <p>
        DP-SGD is accounted as if its batches were Poisson sampled. In practice the data is shuffled.
        Move a slider and see the difference.
      </p>
    </div>
    ${comparison(app, tools, below)}`;
}

/** A training, what is claimed of it and what is proven. */
export function comparison(app: Explored, tools: unknown, below: unknown): TemplateResult {
  return html`<div class="explore">
    ${hero(app)}
    <div class="training">${nearby(figures(app))} ${controls(app)}</div>
    <div class="column">
      <section class="panel" aria-labelledby="numbers-head">
        <div class="head">
          <h2 id="numbers-head">Theory says</h2>
          ${tools}
        </div>
        ${numberTable(app)}
      </section>
      ${sweepChart(app)} ${below}
    </div>
  </div>`;
}
