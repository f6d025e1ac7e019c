import type { Verdict } from "@dpscope/wasm/calculators";
import { html, type TemplateResult } from "lit/html.js";
import { verdicts } from "../../../numbers/words.json";

/** The verdict on a claim. */
export function verdictWord(verdict: Verdict): TemplateResult {
  return html`<strong class=${verdict === "refuted" ? "refuted" : ""}>${verdicts[verdict]}</strong>`;
}
