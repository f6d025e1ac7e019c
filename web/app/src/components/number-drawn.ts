import { html, nothing, type TemplateResult } from "lit/html.js";
import type { App } from "../app";
import { choose } from "./choose";
import { plain } from "./paired";

/** How the number of canaries was drawn before the training. */
export function numberDrawn(app: App): TemplateResult {
  const { run_number } = app.state;
  return html`${choose(app, "run_number")}
  ${run_number === "poisson" ? plain(app, "run_mean") : nothing}
  ${run_number === "bernoulli" ? html`${plain(app, "run_slots")} ${plain(app, "run_inclusion")}` : nothing}`;
}
