import { html, type TemplateResult } from "lit/html.js";
import type { App } from "../app";

type Text = () => TemplateResult;
let text: Text | undefined;

/** What a bound means and does not mean, loaded on demand. */
export function meaning(app: App): TemplateResult {
  if (text === undefined) {
    void import("../meaning/meaning.html?mathml").then((loaded) => {
      text = loaded.default;
      app.redraw();
    });
    return html`<h1>What a bound means</h1>`;
  }
  return text();
}
