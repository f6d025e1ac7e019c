import type { CheckOutcome, GeneratorCheck } from "@dpscope/wasm/synth";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { capitalised } from "../../numbers/accounted";

const WORDS: Record<CheckOutcome, string> = {
  fired: "fires",
  clear: "silent",
  untestable: "not testable",
};

/** The strongest thing that the checks of a detector found. */
function outcomeOf(checks: readonly GeneratorCheck[]): CheckOutcome {
  const has = (outcome: CheckOutcome) => checks.some((check) => check.outcome === outcome);
  return has("fired") ? "fired" : has("clear") ? "clear" : "untestable";
}

/** Checks by detector, in their order. */
export function byDetector(checks: readonly GeneratorCheck[]): Map<string, GeneratorCheck[]> {
  const groups = new Map<string, GeneratorCheck[]>();
  for (const check of checks) {
    groups.set(check.detector, [...(groups.get(check.detector) ?? []), check]);
  }
  return groups;
}

/** One indicator per detector, and what those that fire have seen. */
export function lamps(checks: readonly GeneratorCheck[]): TemplateResult {
  const groups = [...byDetector(checks)];
  const fired = checks.filter((check) => check.outcome === "fired");
  return html`<ul class="lamps" aria-label="Detectors">
      ${groups.map(([detector, own]) => lamp(detector, own))}
    </ul>
    ${fired.length === 0 ? nothing : seen(fired)}`;
}

function led(): TemplateResult {
  return html`<svg class="led" viewBox="0 0 16 16" aria-hidden="true">
    <circle class="halo" cx="8" cy="8" r="8"></circle>
    <circle class="glass" cx="8" cy="8" r="5"></circle>
  </svg>`;
}

/** All indicators in one line, without the checks. */
export function lampLine(checks: readonly GeneratorCheck[]): TemplateResult {
  return html`<ul class="lamp-line" aria-hidden="true">
    ${[...byDetector(checks)].map(
      ([detector, own]) => html`<li class="lamp ${outcomeOf(own)}">${led()}${detector}</li>`,
    )}
  </ul>`;
}

function lamp(detector: string, checks: readonly GeneratorCheck[]): TemplateResult {
  const outcome = outcomeOf(checks);
  return html`<li class="lamp ${outcome}">
    <p class="lamp-name">
      ${led()}
      <strong>${detector}</strong> <span class="state">${WORDS[outcome]}</span>
    </p>
    <ul class="lamp-checks">
      ${checks.map(
        (check) =>
          html`<li class=${check.outcome}>
            ${check.name}${check.outcome === outcome ? nothing : `: ${WORDS[check.outcome]}`}
            ${
              check.outcome === "untestable" && check.says !== undefined
                ? html`<span class="because">${check.says}</span>`
                : nothing
            }
          </li>`,
      )}
    </ul>
  </li>`;
}

function seen(fired: readonly GeneratorCheck[]): TemplateResult {
  return html`<ul class="findings seen">
    ${fired.map(
      (check) =>
        html`<li class="is-refutes">
          <span class="severity">${check.detector}: ${check.faults.join(", ")}</span>
          <span>
            ${capitalised(check.says ?? check.name)}.
            <span class="small">${capitalised(check.remedy ?? "")}.</span>
          </span>
        </li>`,
    )}
  </ul>`;
}
