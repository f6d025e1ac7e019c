import type { Accounted } from "@dpscope/wasm/calculators";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { decimalsOf, rounded } from "../../../../numbers/rounded";
import type { Explored } from "../../app";
import { lineBadge } from "../../components/badge";
import { type Statement, statement } from "../../numbers/statement";
import { about } from "../../state/samplers";
import { ruler } from "./ruler";

/** The main result: what is claimed and what leaks. */
export function hero(app: Explored): TemplateResult {
  const summary = statement(app.theory);
  const { claimed } = summary;
  const decimals = decimalsOf(claimed?.epsilon, summary.least?.epsilon, 2);
  return html`<section class="hero" aria-label="Claim and leakage" aria-busy=${String(app.theory.isStale)}>
    <div class="figures ${app.theory.isStale ? "stale" : ""}">
      <div class="figure">
        <h2>Claimed</h2>
        <p class="big poisson">
          ${claimed === undefined ? "–" : rounded(claimed.epsilon, "upper", decimals)}
        </p>
        <p class="under">by Poisson accounting</p>
        ${claimed === undefined ? nothing : lineBadge(app, "about-claimed", "poisson")}
      </div>
      ${leakage(app, summary, decimals)}
      ${
        summary.factor === undefined
          ? nothing
          : html`<div class="figure factor">
            <h2>That is</h2>
            <p class="big">${summary.factor}<span class="times">×</span></p>
            <p class="under">the claim, or more</p>
          </div>`
      }
    </div>
    ${ruler(Math.min(app.layout.column, 860), summary)}
    <p class="sentence">${summary.sentence}</p>
    ${
      summary.claim === undefined
        ? nothing
        : html`<p class="sentence own-claim ${summary.claim.verdict}">${summary.claim.sentence}</p>`
    }
  </section>`;
}

const OWN_CLAIM = {
  refuted: "your claim is refuted",
  "holds-as-described": "your claim holds",
  inconclusive: "your claim is open",
} as const;

/** The figures in a line. */
export function figures(app: Explored): TemplateResult {
  const { claimed, least, most, factor, claim } = statement(app.theory);
  const decimals = decimalsOf(claimed?.epsilon, least?.epsilon, 2);
  const value = (bound: Accounted | undefined, words: string, colour: string) =>
    bound === undefined
      ? nothing
      : html`<span
          >${words} <strong class=${colour}>${rounded(bound.epsilon, bound.kind, decimals)}</strong></span
        >`;
  return html`${value(claimed, "claimed", "poisson")}
  ${least === undefined ? value(most, "leaks at most", "deterministic") : value(least, "leaks at least", "attack")}
  ${factor === undefined ? nothing : html`<strong>${factor}×</strong>`}
  ${claim === undefined ? nothing : html`<span class="own-claim ${claim.verdict}">${OWN_CLAIM[claim.verdict]}</span>`}`;
}

function leakage(
  app: Explored,
  summary: Statement,
  decimals: number,
): TemplateResult | typeof nothing {
  if (summary.least !== undefined) {
    return html`<div class="figure">
      <h2>Leaks at least</h2>
      <p class="big attack">${rounded(summary.least.epsilon, "lower", decimals)}</p>
      <p class="under">${about(app.state.sampler).batches}</p>
      ${lineBadge(app, "about-least", summary.leastName)}
    </div>`;
  }
  if (summary.most !== undefined) {
    return html`<div class="figure">
      <h2>Leaks at most</h2>
      <p class="big deterministic">${rounded(summary.most.epsilon, "upper", decimals)}</p>
      <p class="under">${about(app.state.sampler).batches}</p>
      ${lineBadge(app, "about-most", summary.mostName)}
    </div>`;
  }
  return nothing;
}
