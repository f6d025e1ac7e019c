import { html, nothing, type TemplateResult } from "lit/html.js";
import { grouped } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { count, percent } from "../../numbers/counts";
import type { OneRunSession } from "../../one-run/session";
import { strip } from "./strip";

const MANY = 100;

/** Runs in which nothing leaks: how often each rule reports a leak. */
export function nothingLeaks(app: App, session: OneRunSession): TemplateResult {
  const { nothing: found } = session;
  const { significance, run_guesses } = app.state;
  const allowed = `at most ${percent(significance)}`;
  const rules = [
    ["fixed", `${grouped(run_guesses)} guesses, fixed beforehand`, allowed],
    ["walk", "Not fixed: several, tested jointly", allowed],
    ["largest", "Largest value over k, uncorrected", "not controlled"],
  ] as const;
  return html`<section class="panel spaced" aria-labelledby="null-head">
    <h2 id="null-head">When nothing leaks</h2>
    <p>
      The coins are redrawn for every run, and the scores do not depend on them, so every ε above 0
      is a false alarm.
    </p>
    <div class="player">${player(session)}</div>
    ${found === undefined ? nothing : strip(insideOf(app), "null-ranking", found.ranking, run_guesses)}
    <div class="scroll" tabindex="0" role="region" aria-label="False alarms">
      <table class="rules">
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col">reports ε &gt; 0</th>
            <th scope="col">allowed</th>
          </tr>
        </thead>
        <tbody>
          ${rules.map(
            ([rule, name, most]) => html`<tr class=${rule}>
              <th scope="row">${name}</th>
              <td>
                ${found === undefined ? "–" : `${percent(found[rule] / found.runs)} (${grouped(found[rule])})`}
              </td>
              <td>${most}</td>
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p class="small runs" aria-live=${session.isPlaying ? "off" : "polite"}>
      ${found === undefined ? "No coins drawn yet." : `${count(found.runs, "run")} without a leak.`}
    </p>
  </section>`;
}

function player(session: OneRunSession): TemplateResult {
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const many = html`<button type="button" class=${isStill ? "main-button" : "quiet"} @click=${() => session.redrawCoins(MANY)} ?disabled=${session.isPlaying}>
    Redraw ${MANY}
  </button>`;
  if (isStill) return many;
  return html`<button
      type="button"
      class="main-button"
      @click=${() => (session.isPlaying ? session.pause() : session.play())}
    >
      ${session.isPlaying ? "Stop" : "Start"}
    </button>
    ${many}`;
}

/** Inside a panel as wide as the content. */
function insideOf({ layout }: App): number {
  return layout.content - (layout.column - layout.panel);
}
