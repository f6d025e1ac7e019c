import { html, nothing, type TemplateResult } from "lit/html.js";
import { grouped } from "../../../../numbers/rounded";
import type { App } from "../../app";
import type { Kind } from "../../training/protocols";
import type { TrainingSession } from "../../training/session";

/** The look that is shown, of the training that it was chosen for; the last one if none. */
let chosen: { of: object; look: number } | undefined;

/** One training with a slider over its looks. */
export function lookedAt<L extends object, K extends Kind & { watched: readonly L[] }>(
  app: App,
  session: TrainingSession<K>,
  label: string,
  text: (look: L) => string,
  content: (look: L, looks: readonly L[]) => TemplateResult,
): TemplateResult | typeof nothing {
  const { watched } = session;
  if (watched === undefined) return nothing;
  const looks: readonly L[] = watched.shown;
  const place = chosen?.of === watched ? chosen.look : looks.length - 1;
  const look = looks[place];
  if (look === undefined) return nothing;
  const choose = (event: Event) => {
    chosen = { of: watched, look: Number((event.target as HTMLInputElement).value) };
    app.redraw();
  };
  return html`<section class="panel spaced" aria-labelledby="watch-head">
    ${watchHead(session, `Training ${grouped(watched.run + 1)}`)}
    <label class="looks" for="train-look"
      >${label}
      <input
        id="train-look"
        class="slider"
        type="range"
        min="0"
        max=${String(looks.length - 1)}
        step="1"
        .value=${String(place)}
        aria-valuetext=${text(look)}
        @input=${choose}
      />
    </label>
    <div class="charts">${content(look, looks)}</div>
  </section>`;
}

/** The title of a training that is watched, and a button that watches the next one. */
export function watchHead<K extends Kind>(
  session: TrainingSession<K>,
  title: string,
): TemplateResult {
  const { watched, run, asked, protocol } = session;
  const last = asked === undefined ? 0 : protocol.watchedOf(asked) - 1;
  const at = watched?.run ?? 0;
  return html`<div class="head">
    <h2 id="watch-head">${title}</h2>
    ${
      last === 0
        ? nothing
        : html`<button
            type="button"
            class="quiet"
            ?disabled=${run?.isOver === true && run.phase !== "done"}
            @click=${() => void session.watch(at >= last ? 0 : at + 1)}
          >
            Watch another
          </button>`
    }
  </div>`;
}

/** A share after a look; one decimal, so that its width hardly changes. */
export function percent(share: number | null): string {
  return share === null ? "none" : `${(100 * share).toFixed(1)} %`;
}
