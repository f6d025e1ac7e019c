import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { optionLabel } from "../../../fields/field";
import type { App } from "../app";
import { copyText } from "../components/copies";
import { linkOf, linkTo } from "../copies/link";
import { FIELDS, type View } from "../state/fields";
import { nextTheme, themeName } from "../theme";
import { auditPanel } from "./audit/panel";
import { explore } from "./explore/explore";
import { lazy } from "./lazy";

const VIEWS: Record<View, (app: App) => unknown> = {
  explore: (app) => explore(app, auditPanel(app)),
  matrix: lazy(async () => (await import("./matrix/matrix")).matrix),
  see: lazy(async () => (await import("./see/see")).see),
  train: lazy(async () => (await import("./training/training")).training),
  check: lazy(async () => (await import("./check")).check),
  scores: lazy(async () => (await import("./own-data")).ownData),
  "one-run": lazy(async () => (await import("./one-run/one-run")).oneRun),
  federated: lazy(async () => (await import("./federated/federated")).federated),
  synthetic: lazy(async () => (await import("./synthetic/synthetic")).synthetic),
  published: lazy(async () => (await import("./published/published")).published),
  meaning: lazy(async () => (await import("../meaning/meaning.html?mathml")).default),
};

/** The title of the window, different for each view. */
export function titleOf(view: View): string {
  const name = optionLabel(FIELDS.view, view);
  return view === "explore" ? "dpscope: what shuffled training really leaks" : `${name}: dpscope`;
}

/** The whole page. */
export function shell(app: App): TemplateResult {
  return html`<a class="skip" href="#content" @click=${skip}>Skip to the content</a>
    <header class="top">
      <a class="brand" href=${linkTo(app, "explore")}>${mark()} dpscope</a>
      <nav aria-label="Views">
        <ul>
          ${FIELDS.view.options.map(
            ([view, name]) =>
              html`<li>
                <a
                  href=${linkTo(app, view)}
                  aria-current=${app.state.view === view ? "page" : nothing}
                  >${name}</a
                >
              </li>`,
          )}
        </ul>
      </nav>
      <div class="tools">
        <button
          type="button"
          class="quiet"
          @click=${() => void copyText(app, "link", linkOf(app))}
        >
          Copy link
        </button>
        <button
          type="button"
          class="quiet"
          title="Colours: light, dark or system"
          @click=${() => nextTheme(app)}
        >
          <svg class="half" viewBox="0 0 16 16" aria-hidden="true">
            <circle cx="8" cy="8" r="6.5"></circle>
            <path d="M8 1.5a6.5 6.5 0 0 1 0 13z"></path>
          </svg>
          <span class="hidden">Colours: ${themeName()}</span>
        </button>
      </div>
    </header>
    ${messages(app)}
    <main id="content" tabindex="-1">${VIEWS[app.state.view](app)}</main>
    <footer>
      <p>
        dpscope ${app.version}. <a href="./docs/">Documentation</a>. Everything is computed in this
        browser: nothing is sent anywhere. Open source, MIT or Apache-2.0.
      </p>
    </footer>
    <p class="hidden" aria-live="polite">${app.spoken}</p>
    <div class="toast" role="status">${app.toast}</div>`;
}

function messages(app: App): TemplateResult | typeof nothing {
  if (app.store.messages.length === 0) return nothing;
  return html`<div class="messages" role="alert">
    <ul class="notices">
      ${app.store.messages.map((message) => html`<li>${message}</li>`)}
    </ul>
  </div>`;
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

function mark(): TemplateResult {
  return html`<svg viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" class="mark-ground"></rect>
    ${svg`<path d="M6 22C11 22 12 9 16 9s5 13 10 13" class="mark-curve"></path>
    <path d="M19.5 6v20" class="mark-cut"></path>`}
  </svg>`;
}
