import { html, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";
import { trainings } from "./trainings";

/** Published trainings and what shuffling would leak. */
export function published(app: App): TemplateResult {
  return html`<div class="lead">
      <h1>Published trainings</h1>
      <p>
        What was claimed, how batches were drawn as far as the source states, and what shuffled
        batches leak at least.
      </p>
    </div>
    ${trainings(app)}`;
}
