import type { Accounted } from "@dpscope/wasm/calculators";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { methodInWords } from "../../../numbers/methods";
import { confidence, type Kind, rounded, SIGN, scientific } from "../../../numbers/rounded";
import type { Explored } from "../app";
import { boundCommand } from "../copies/command";
import { linkTo } from "../copies/link";
import { directionInWords, scopeInWords, standing } from "../numbers/accounted";
import { count } from "../numbers/counts";
import type { LineName } from "../numbers/lines";

interface Provenance {
  observations?: number | undefined;
  seed?: string | undefined;
  /** Reproduces the number. */
  command?: string | undefined;
}

/** What a number is in three words, and its details one click away. */
export function badge(
  app: Explored,
  id: string,
  value: Accounted,
  provenance: Provenance = {},
): TemplateResult {
  const rows: (readonly [string, string])[] = [
    ["value", `ε ${SIGN[value.kind]} ${rounded(value.epsilon, value.kind, 6)}`],
    ["at", `δ = ${scientificDelta(value.delta)}`],
    ["kind", standing(value)],
    ["confidence", confidenceOf(value)],
    ["scope", scopeInWords(value)],
    ["direction", directionInWords(value.direction)],
    ["method", methodInWords(value.method)],
    ["numeric error", `at most ${scientific(value.numeric_error, "upper")}, already included`],
    ["open", openInWords(value)],
  ];
  if (value.standard_error !== undefined) {
    rows.push(["standard error", rounded(value.standard_error, "upper", 5)]);
  }
  if (provenance.observations !== undefined)
    rows.push(["n", count(provenance.observations, "draw")]);
  if (provenance.seed !== undefined) rows.push(["seed", provenance.seed]);
  rows.push(["version", `dpscope ${app.version}`]);
  if (provenance.command !== undefined) rows.push(["command", provenance.command]);
  return details(app, id, standing(value), value.kind, rows);
}

/** The badge of a line of Explore. */
export function lineBadge(
  app: Explored,
  id: string,
  name: LineName,
): TemplateResult | typeof nothing {
  const found = app.theory.lines[name];
  if (found === undefined || "reason" in found) return nothing;
  const { value, observations, seed } = found;
  return badge(app, id, value, { observations, seed, command: boundCommand(app.state, name) });
}

/** A badge and the list behind it. */
export function details(
  app: Explored,
  id: string,
  words: string,
  kind: Kind,
  rows: readonly (readonly [string, string])[],
): TemplateResult {
  return html`<button type="button" class="badge ${kind}" popovertarget=${id} aria-haspopup="dialog">
      ${words}</button
    ><div id=${id} class="popover" popover role="dialog" aria-label="About this number">
      <dl>
        ${rows.map(([name, text]) =>
          text === "" ? nothing : html`<div><dt>${name}</dt><dd>${text}</dd></div>`,
        )}
      </dl>
      ${app.hasViews ? html`<p><a href=${linkTo(app, "meaning")}>What a bound means</a></p>` : nothing}
    </div>`;
}

/** What theory leaves open beside the value. */
function openInWords({ theory_gap: gap = 0 }: Accounted): string {
  return gap > 0 ? `what is proven below and above is ${rounded(gap, "upper", 4)} apart` : "";
}

function confidenceOf(value: Accounted): string {
  if (value.kind === "estimate") return "none: an estimate has no coverage";
  return value.significance === undefined ? "proven" : confidence(value.significance);
}

export function scientificDelta(delta: number): string {
  return delta.toExponential().replace("e+", "e");
}
