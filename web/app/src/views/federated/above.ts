import type { RunsAbove } from "@dpscope/wasm/one_shot";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { grouped, rounded } from "../../../../numbers/rounded";
import type { App } from "../../app";
import type { FederatedSession } from "../../federated/session";
import { count, percent } from "../../numbers/counts";

const MANY = 1000;

/** How often each rule exceeds the truth, at the noise of the page and where nothing leaks. */
export function aboveTruth(app: App, session: FederatedSession): TemplateResult {
  const { above, sum } = session;
  const allowed = `at most ${percent(app.state.significance)}`;
  const truth = sum === undefined ? "with this noise" : `ε = ${rounded(sum.truth, "estimate", 2)}`;
  const names = new Map(sum?.rules.map(({ rule, name }) => [rule, name]));
  const rows = [
    ["any_mechanism", names.get("any_mechanism") ?? "Any mechanism", allowed],
    ["independent", names.get("independent") ?? "Independent canaries", allowed],
    ["gaussian", `${names.get("gaussian") ?? "Gaussian mechanism"}, by μ`, allowed],
    ["published", names.get("published") ?? "Published rule", "not controlled"],
  ] as const;
  const share = (runs: number, counts: RunsAbove, rule: keyof RunsAbove) =>
    `${percent(counts[rule] / runs)} (${grouped(counts[rule])})`;
  return html`<section class="panel spaced" aria-labelledby="above-head">
    <h2 id="above-head">How often each rule exceeds the truth</h2>
    <p>
      Noise and directions are redrawn for every run: with these settings, and for canaries that
      are not in the sum.
    </p>
    <div class="player">
      <button
        type="button"
        class="main-button"
        ?disabled=${sum === undefined}
        @click=${() => (session.isCounting ? session.stop() : session.count(MANY))}
      >
        ${session.isCounting ? "Stop" : `Simulate ${grouped(MANY)} runs`}
      </button>
      ${
        session.isCounting
          ? html`<progress
              max=${session.planned}
              value=${above?.runs ?? 0}
              aria-label="Simulated runs"
            ></progress>`
          : nothing
      }
    </div>
    <div class="scroll" tabindex="0" role="region" aria-label="Runs above the truth">
      <table class="rules">
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col">above ${truth}</th>
            <th scope="col">above 0, no leak</th>
            <th scope="col">allowed</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ([rule, name, most]) => html`<tr class=${rule}>
              <th scope="row">${name}</th>
              <td>${above === undefined ? "–" : share(above.runs, above.with_leak, rule)}</td>
              <td>${above === undefined ? "–" : share(above.runs, above.without_leak, rule)}</td>
              <td>${most}</td>
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p class="small runs" aria-live=${session.isCounting ? "off" : "polite"}>
      ${
        above === undefined
          ? "No runs simulated yet."
          : `${count(above.runs, "run")}${session.isCounting ? ` of ${grouped(session.planned)}` : ""}.`
      }
    </p>
  </section>`;
}
