import type { RuleValue, SimulatedSum } from "@dpscope/wasm/one_shot";
import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { rounded } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { scientificDelta } from "../../components/badge";
import type { Colour } from "../../numbers/lines";

const HEIGHT = 22;

const COLOUR: Record<RuleValue["rule"], Colour> = {
  any_mechanism: "audit",
  independent: "audit",
  gaussian: "deterministic",
  published: "claim",
};

/** A bar for each rule against the truth, with its assumption. */
export function rules(app: App, sum: SimulatedSum): TemplateResult {
  const { truth, estimate, canaries_lost_to_delta } = sum;
  const width = app.layout.split;
  const most = 1.02 * Math.max(1e-3, truth, ...sum.rules.map((rule) => rule.epsilon));
  return html`<h3>What the rules report</h3>
    <p>
      True value: <strong>ε = ${rounded(truth, "estimate", 2)}</strong> at δ =
      ${scientificDelta(app.state.delta)}, the line in each bar.
    </p>
    ${
      canaries_lost_to_delta === 0
        ? nothing
        : html`<p class="note">
            At this δ and this number of canaries, the first bound ignores the smallest
            ${canaries_lost_to_delta === 1 ? "p-value" : `${canaries_lost_to_delta} p-values`}.
          </p>`
    }
    <ul class="rule-bars">
      ${sum.rules.map((rule) => bar(width, rule, truth, most))}
    </ul>
    ${
      estimate === null || estimate === undefined
        ? nothing
        : html`<p class="small">
            Estimate by the mean score: ε ≈ ${rounded(estimate.epsilon, "estimate", 2)}; without any
            leak, 90 % of runs show ${rounded(estimate.null_range[0] ?? 0, "estimate", 2)} to
            ${rounded(estimate.null_range[1] ?? 0, "estimate", 2)}.
          </p>`
    }`;
}

function bar(width: number, rule: RuleValue, truth: number, most: number): TemplateResult {
  const at = (epsilon: number) => (epsilon / most) * width;
  const isAbove = rule.epsilon > truth;
  const colour = COLOUR[rule.rule];
  return html`<li class=${rule.rule}>
    <p class="rule-name">
      ${rule.name} <strong class=${colour}>${shownValue(rule)}</strong>
      ${isAbove ? html`<span class="above">above the truth</span>` : nothing}
    </p>
    <svg class="chart" viewBox="0 0 ${width} ${HEIGHT}" aria-hidden="true">
      ${svg`<rect class="rule-track" x="0" y="4" width=${width} height=${HEIGHT - 8}></rect>
      <rect class="rule-bar fill-${colour}" x="0" y="4" width=${at(rule.epsilon)} height=${HEIGHT - 8}></rect>
      <line class="rule-truth" x1=${at(truth)} x2=${at(truth)} y1="0" y2=${HEIGHT}></line>`}
    </svg>
    <p class="small">${rule.assumption}</p>
  </li>`;
}

/** A bound on μ stays one: its ε is that of the Gaussian curve. */
function shownValue({ rule, epsilon, gdp_mu }: RuleValue): string {
  if (gdp_mu !== null && gdp_mu !== undefined) {
    return `μ ≥ ${rounded(gdp_mu, "lower", 2)}, by the Gaussian curve ε = ${rounded(epsilon, "lower", 2)}`;
  }
  return rule === "published"
    ? `ε ≈ ${rounded(epsilon, "estimate", 2)}`
    : `ε ≥ ${rounded(epsilon, "lower", 2)}`;
}
