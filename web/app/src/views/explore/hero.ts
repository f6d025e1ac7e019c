import { html, nothing, type TemplateResult } from "lit/html.js";
import { rounded } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { lineBadge } from "../../components/badge";
import { type Statement, statement } from "../../numbers/statement";
import { ruler } from "./ruler";

/** The one thing to see: what is claimed and what leaks. */
export function hero(app: App): TemplateResult {
  const told = statement(app.state.sampler, app.theory.lines);
  const { claimed } = told;
  return html`<section class="hero" aria-label="Claimed and real" aria-busy=${String(app.theory.isStale)}>
    <div class="figures ${app.theory.isStale ? "stale" : ""}">
      <div class="figure">
        <h2>Claimed</h2>
        <p class="big poisson">
          ${claimed === undefined ? "–" : rounded(claimed.epsilon, "upper", 2)}
        </p>
        <p class="under">by Poisson accounting</p>
        ${claimed === undefined ? nothing : lineBadge(app, "about-claimed", "poisson")}
      </div>
      ${real(app, told)}
      ${
        told.factor === undefined
          ? nothing
          : html`<div class="figure factor">
            <h2>That is</h2>
            <p class="big">${told.factor}<span class="times">×</span></p>
            <p class="under">the claim, or more</p>
          </div>`
      }
    </div>
    ${ruler(Math.min(app.layout.column, 860), told)}
    <p class="sentence">${told.sentence}</p>
  </section>`;
}

function real(app: App, told: Statement): TemplateResult | typeof nothing {
  if (told.least !== undefined) {
    return html`<div class="figure">
      <h2>Leaks at least</h2>
      <p class="big attack">${rounded(told.least.epsilon, "lower", 2)}</p>
      <p class="under">${app.state.sampler} batches</p>
      ${lineBadge(app, "about-least", told.leastName ?? "pair-lower")}
    </div>`;
  }
  if (told.most !== undefined) {
    return html`<div class="figure">
      <h2>Leaks at most</h2>
      <p class="big deterministic">${rounded(told.most.epsilon, "upper", 2)}</p>
      <p class="under">${app.state.sampler} batches</p>
      ${lineBadge(app, "about-most", told.mostName ?? "deterministic")}
    </div>`;
  }
  return nothing;
}
