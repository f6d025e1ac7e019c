import { html, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";

let loaded: typeof import("./trainings") | undefined;

/** Published trainings and what shuffling would leak, loaded on demand. */
export function published(app: App): TemplateResult {
  if (loaded === undefined) {
    void import("./trainings").then((module) => {
      loaded = module;
      app.redraw();
    });
  }
  return html`<div class="lead">
      <h1>Published trainings</h1>
      <p>
        What was claimed, how batches were drawn as far as the source states, and what shuffled
        batches leak at least.
      </p>
    </div>
    ${loaded?.trainings(app)}`;
}
