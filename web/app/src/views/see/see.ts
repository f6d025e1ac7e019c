import { html, nothing, type TemplateResult } from "lit/html.js";
import { grouped, rounded } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { scientificDelta } from "../../components/badge";
import { buttons, segments } from "../../components/choose";
import { paired, plain } from "../../components/paired";
import { count } from "../../numbers/counts";
import { SeeSession, type Speed } from "../../see/session";
import { type Field, fieldOf, type State } from "../../state/fields";
import { hasUses, truncates } from "../../state/samplers";
import { BUNDLES } from "../../workers/spawn";
import { histograms } from "./histograms";
import { scene } from "./scene";
import { nowInWords, WHY } from "./words";

/** The page, once the session of this view is open. */
type SeePage = App & { see: SeeSession };

/** One epoch after the other, as the attacker sees it. */
export function see(app: App): TemplateResult {
  if (app.see === undefined) {
    app.see = new SeeSession(BUNDLES, () => app.redraw());
    app.see.show(app.state);
    app.see.open();
  }
  return shown(app as SeePage);
}

function shown(app: SeePage): TemplateResult {
  const { state } = app;
  const words = nowInWords(app.see, state);
  const width = app.layout.content;
  return html`<div class="lead">
      <h1>See it happen</h1>
      <p>
        Follow one record through an epoch: which batch it is in, what the outputs are, and how an
        attacker detects it.
      </p>
    </div>
    ${buttons(app, "see_sampler")}
    <p class="why">${WHY[state.see_sampler]}</p>
    <section class="stage" aria-label="An epoch">
      ${scene(
        width,
        {
          steps: state.see_steps,
          batchSize: state.see_batch,
          isInstant: app.see.speed !== 1,
        },
        app.see.epoch,
        app.see.stage,
        words,
      )}
      ${player(app)}
      <p class="now" aria-live=${app.see.isPlaying ? "off" : "polite"}>${app.see.isPlaying && app.see.speed > 1 ? summary(app) : words}</p>
      ${
        app.see.failure === undefined || app.see.isFieldRefused
          ? nothing
          : html`<p class="failure">${app.see.failure}</p>`
      }
    </section>
    <div class="split reverse">
      <section class="panel" aria-labelledby="scores-head">
        <div class="head">
          <h2 id="scores-head">Scores of both worlds</h2>
          <button type="button" class="quiet" @click=${() => app.see.more()}>
            Add 2,000 epochs
          </button>
        </div>
        ${histograms(
          app.layout.split,
          scoreOf(state),
          { target: app.see.target, zeroOut: app.see.zeroOut },
          state.see_threshold,
          app.see.stage.name === "scored" && app.see.epoch !== undefined
            ? { target: app.see.epoch.score_target, zeroOut: app.see.epoch.score_zero_out }
            : undefined,
        )}
      </section>
      <form class="fields" aria-label="Settings">
        ${paired(app, "see_threshold")} ${errors(app)}
        ${paired(app, "see_noise")} ${paired(app, "see_steps")}
        ${paired(app, "see_batch", { problem: refusalOf(app, "see_batch") })} ${ofSampler(app)}
        ${plain(app, "see_dataset", filledUp(app))} ${plain(app, "see_claim")} ${ownClaim(app)}
      </form>
    </div>`;
}

/** What the score of an epoch is. */
function scoreOf({ see_sampler, see_uses, see_steps }: State): string {
  const isRatio = !hasUses(see_sampler) || see_uses === 1 || see_uses === see_steps;
  return isRatio
    ? "score: log-likelihood ratio of the epoch"
    : "score: that of Poisson sampling with q = k/T, an approximate log-likelihood ratio";
}

/** The parameter of a sampler that has one. */
function ofSampler(app: SeePage): TemplateResult {
  const { see_steps, see_batch, see_uses } = app.state;
  const buffer = `Records; two batches, ${2 * see_batch}, if empty.`;
  return html`${plain(app, "see_buffer", buffer, refusalOf(app, "see_buffer"))}
    ${paired(app, "see_uses", {
      hint: `Each record is in ${see_uses} of the ${see_steps} batches.`,
      problem: refusalOf(app, "see_uses"),
    })}
    ${paired(app, "see_max_batch", {
      hint: `Batches have ${see_batch} of ${see_steps * see_batch} records on average; if more than the maximum are drawn, the excess is dropped at random.`,
      problem: refusalOf(app, "see_max_batch"),
    })}`;
}

/** Why the epoch cannot be drawn, if one field is at fault. */
function refusalOf({ see }: SeePage, field: Field): string | undefined {
  return see.refusalOf(field, fieldOf(field).label);
}

/** The size that is drawn, where it is not the one entered: all batches are full. */
function filledUp({ see, state }: SeePage): string | undefined {
  const records = see.epoch?.records;
  const { see_dataset } = state;
  if (see_dataset === undefined || records === undefined || see_dataset === records) {
    return undefined;
  }
  return `All batches are full here: ${count(records, "record")} are drawn.`;
}

function ownClaim({ see, state }: SeePage): TemplateResult | typeof nothing {
  if (see.claim === undefined) return nothing;
  const { verdict, sentence } = see.claim;
  const at = scientificDelta(state.delta);
  return html`<p class="own-claim ${verdict}">${sentence}</p>
    <p class="hint">This is about one epoch of this miniature, at δ = ${at}.</p>`;
}

function player(app: SeePage): TemplateResult {
  const { see } = app;
  return html`<div class="player">
    <button type="button" class="main-button" @click=${() => (see.isPlaying ? see.pause() : see.play())}>
      ${see.isPlaying ? "Pause" : "Play"}
    </button>
    <button type="button" class="quiet" @click=${() => see.step()} ?disabled=${see.isPlaying}>
      Step
    </button>
    <button type="button" class="quiet" @click=${() => see.restart()}>Start over</button>
    ${segments<`${Speed}`>(
      "Speed",
      `${see.speed}`,
      [
        ["1", "1×"],
        ["4", "4×"],
        ["32", "32×"],
      ],
      (speed) => see.setSpeed(Number(speed) as Speed),
    )}
    <ul class="legend">
      <li><span class="square target"></span>the target</li>
      <li><span class="dash with"></span>sum with it</li>
      <li><span class="dash without"></span>sum without it</li>
      ${
        truncates(app.state.see_sampler)
          ? html`<li><span class="square dropped"></span>dropped</li>`
          : nothing
      }
    </ul>
  </div>`;
}

function summary(app: SeePage): string {
  return `At least ${grouped(Math.floor(app.see.index / 10) * 10)} epochs.`;
}

function errors(app: SeePage): TemplateResult {
  const { falsePositives, falseNegatives } = app.see.errors(app.state.see_threshold);
  const n = app.see.target.length;
  const { evidence } = app.see;
  return html`<div class="errors">
    <p>
      Wrong in <strong>${grouped(falsePositives)}</strong> of ${count(n, "epoch")} without the
      target, and in <strong>${grouped(falseNegatives)}</strong> of ${grouped(n)} with it.
    </p>
    ${
      evidence === undefined || n === 0
        ? nothing
        : html`<p>
          At this threshold the errors indicate
          <strong>ε ≈ ${rounded(Math.max(0, evidence.epsilon), "estimate", 2)}</strong>. This is an
          estimate: the threshold was chosen on the same scores.
        </p>`
    }
  </div>`;
}
