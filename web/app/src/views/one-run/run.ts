import { html, nothing, type TemplateResult } from "lit/html.js";
import { grouped, rounded } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { scientificDelta } from "../../components/badge";
import { paired } from "../../components/paired";
import { significance } from "../../components/significance";
import { OneRunSession } from "../../one-run/session";
import { studiesWorker } from "../../workers/spawn";
import { epsilonChart, rankingChart } from "./charts";
import { nothingLeaks } from "./nothing";
import { strip } from "./strip";

let session: OneRunSession | undefined;

/** A simulated run, and runs in which nothing leaks. */
export function run(app: App): TemplateResult {
  session ??= new OneRunSession(
    studiesWorker,
    () => app.redraw(),
    () => app.state.view === "one-run",
  );
  session.show(app.state);
  return html`<div class="split">
      <form class="fields" aria-label="The run">
        ${paired(app, "run_canaries")}
        ${paired(app, "run_guesses", { most: app.state.run_canaries })} ${paired(app, "run_mu")}
        ${paired(app, "delta")} ${significance(app)}
      </form>
      <section
        class="panel"
        aria-labelledby="run-head"
        aria-busy=${String(session.isStale && session.failure === undefined)}
      >
        <h2 id="run-head">A simulated run</h2>
        ${session.failure === undefined ? nothing : html`<p class="failure" role="alert">${session.failure}</p>`}
        ${session.run === undefined ? html`<p class="small">Simulating …</p>` : simulated(app, session)}
      </section>
    </div>
    ${nothingLeaks(app, session)}`;
}

function simulated(app: App, { run }: OneRunSession): unknown {
  if (run === undefined) return nothing;
  const { fixed, walk, largest, truth } = run;
  const width = app.layout.split;
  return html`${strip(width, "run-ranking", run.ranking, fixed.guesses)}
    <dl class="values">
      <div>
        <dt>${grouped(fixed.guesses)} guesses, fixed beforehand</dt>
        <dd class="audit">ε ≥ ${rounded(fixed.epsilon, "lower", 2)}</dd>
        <dd class="small">${grouped(fixed.correct)} correct</dd>
      </div>
      <div>
        <dt>Not fixed: tested jointly</dt>
        <dd class="deterministic">ε ≥ ${rounded(walk.epsilon, "lower", 2)}</dd>
        <dd class="small">the walk: 8, 16, 32, … guesses at a joint level</dd>
      </div>
      <div>
        <dt>The largest over k</dt>
        <dd class="claim">ε ≈ ${rounded(largest.epsilon, "estimate", 2)}</dd>
        <dd class="small">not a bound: k = ${grouped(largest.guesses)} was chosen afterwards</dd>
      </div>
      <div>
        <dt>True value</dt>
        <dd>ε = ${rounded(truth, "estimate", 2)}</dd>
        <dd class="small">at δ = ${scientificDelta(app.state.delta)}</dd>
      </div>
    </dl>
    <div class="run-charts">${epsilonChart(width, run)} ${rankingChart(width, run)}</div>`;
}
