import { ref } from "lit/directives/ref.js";
import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { rounded } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { duration } from "../../audit/rates";
import { dataTable } from "../../charts/data-table";
import { curve, drawing, type Place, plot } from "../../charts/plot";
import { copyLine } from "../../components/copies";
import { download } from "../../components/download";
import { paired, plain } from "../../components/paired";
import { CANARY_FILE, optimizationWords } from "../../copies/trained";
import { chartWidthIn } from "../../layout";
import { count } from "../../numbers/counts";
import { lineOf } from "../../options/command";
import { canaries_optimise } from "../../options/options.json";
import { defaultWith, splitDefault } from "../../options/table";
import type { CanaryOptimisation, Course, Pictured } from "../../training/optimisation";
import { optimizationOf } from "../../training/question";
import type { SentFiles } from "../../workers/sent-files";

const MODELS = {
  mlp: "both MLPs with smooth units",
  lenet: "both LeNet-5 with average pooling",
} as const;

/** Steps of each inner training of every model, where the page asks for no other number. */
const USUAL_STEPS = splitDefault(canaries_optimise.steps.help).usual ?? "";

/** Canaries as they are moved along metagradients, where the audit asks for them. */
export function optimised(
  app: App,
  optimisation: CanaryOptimisation,
  files: SentFiles | undefined,
): TemplateResult | typeof nothing {
  if (app.state.train_kind !== "optimised") return nothing;
  const { phase, course, failure, unsaved, continuesAfter } = optimisation;
  const isRunning = phase === "running";
  const { train_model: model, train_inner_steps } = app.state;
  const inner = defaultWith(model, USUAL_STEPS);
  const isSlow = model === "lenet" && train_inner_steps === undefined;
  return html`<section class="panel spaced" aria-labelledby="optimise-head" aria-busy=${String(isRunning)}>
    <div class="head">
      <h2 id="optimise-head">Optimised canaries</h2>
      <span class="buttons">
        ${
          isRunning
            ? html`<button type="button" class="quiet" @click=${() => optimisation.cancel()}>
                Cancel optimisation
              </button>`
            : html`${
                continuesAfter === undefined
                  ? nothing
                  : html`<button
                      type="button"
                      class="quiet"
                      @click=${() => void optimisation.resume()}
                    >
                      Continue after step ${continuesAfter}
                    </button>`
              }
                <button
                  type="button"
                  class="main-button"
                  id="train-optimise"
                  @click=${() => void optimisation.start(optimizationOf(app.state), files)}
                >
                  ${phase === undefined ? "Optimise canaries" : "Optimise again"}
                </button>`
        }
      </span>
    </div>
    <p class="small">
      Each step trains two models, ${MODELS[model]}, on one half of the canaries each, and moves every
      canary so that its loss separates the two models.
      ${isSlow ? "A step takes about a minute." : nothing} The audit then trains with the best canaries.
    </p>
    <div class="settings">
      ${paired(app, "train_metasteps")} ${plain(app, "train_inner_steps", `${inner} if empty.`)}
    </div>
    ${phase === "failed" ? html`<p class="failure" role="alert">${failure}</p>` : nothing}
    ${phase === "cancelled" ? html`<p class="note">Cancelled.</p>` : nothing}
    ${phase === "interrupted" ? html`<p class="note">Interrupted when the page closed.</p>` : nothing}
    ${unsaved === undefined ? nothing : html`<p class="note">${unsaved}</p>`}
    ${course === undefined ? nothing : watched(app, course, isRunning ? optimisation.step_ms : undefined)}
    ${phase === "done" ? kept(app, optimisation) : nothing}
  </section>`;
}

/** How far the canaries are, and what they look like. */
function watched(
  app: App,
  { asked, steps, pictured }: Course,
  step_ms: number | undefined,
): TemplateResult {
  const done = steps.at(-1)?.metasteps ?? 0;
  const left =
    step_ms === undefined
      ? ""
      : `, about ${duration((step_ms * (asked.metasteps - done)) / 1000)} left`;
  return html`<div class="bar-row">
      <progress max=${asked.metasteps} value=${done} aria-label="Steps"></progress>
      <span class="small">${done} of ${count(asked.metasteps, "step")}${left}</span>
    </div>
    ${
      pictured === undefined || steps.length === 0
        ? nothing
        : html`<div class="charts">
            ${tiles(pictured)} ${objective(chartWidthIn(app.layout.wide, 2), steps)}
          </div>`
    }`;
}

/** The file of the canaries, and the command that optimises them. */
function kept(app: App, { course, canaries }: CanaryOptimisation): TemplateResult | typeof nothing {
  if (course === undefined || canaries === undefined) return nothing;
  const command = lineOf(optimizationWords(course.asked, course.names));
  const save = () => download(CANARY_FILE, canaries.file);
  return html`<div class="reproduce">
      ${copyLine(app, command, "Copy the command that optimises")}
      <button type="button" class="quiet" @click=${save}>Download ${CANARY_FILE}</button>
    </div>
    <p class="small">
      The command moves the same records; its sums are rounded in another order, so that its canaries
      differ from these. To repeat an audit with these canaries elsewhere, use this file.
    </p>`;
}

/** The first canaries, one tile each: darker where a feature is larger, coloured where it was moved. */
function tiles(pictured: Pictured): TemplateResult {
  const shown = Math.round(pictured.now.length / pictured.features);
  return html`<div class="figure-box">
    <h3>The first ${count(shown, "canary", "canaries")}</h3>
    <canvas
      class="tiles"
      role="img"
      aria-label=${`${count(shown, "canary", "canaries")}: their features, coloured where they were moved.`}
      ${ref((canvas) => draw(canvas as HTMLCanvasElement | undefined, pictured))}
    ></canvas>
    <ul class="legend">
      <li>darker where a feature is larger</li>
      <li><span class="mark with"></span>moved</li>
    </ul>
  </div>`;
}

const ACROSS = 4;

function draw(
  canvas: HTMLCanvasElement | undefined,
  { features, range, start, now }: Pictured,
): void {
  const context = canvas?.getContext("2d");
  if (canvas === undefined || !context) return;
  const columns = Math.ceil(Math.sqrt(features));
  const rows = Math.ceil(features / columns);
  const tiles = Math.round(now.length / features);
  const [width, height] = [ACROSS * (columns + 1), Math.ceil(tiles / ACROSS) * (rows + 1)];
  [canvas.width, canvas.height] = [width, height];
  const image = context.createImageData(width, height);
  const ink = channels(getComputedStyle(canvas).color);
  const moved = channels(getComputedStyle(canvas).borderTopColor);
  const [low = 0, high = 1] = range;
  now.forEach((value, at) => {
    const [tile, feature] = [Math.floor(at / features), at % features];
    const x = (tile % ACROSS) * (columns + 1) + (feature % columns);
    const y = Math.floor(tile / ACROSS) * (rows + 1) + Math.floor(feature / columns);
    const change = Math.min(1, (4 * Math.abs(value - (start[at] ?? value))) / (high - low));
    const place = 4 * (y * width + x);
    for (const channel of [0, 1, 2]) {
      const [from = 0, to = 0] = [ink[channel], moved[channel]];
      image.data[place + channel] = from + change * (to - from);
    }
    const shade = (value - low) / (high - low);
    image.data[place + 3] = 255 * Math.max(0.08, shade, 0.5 * change);
  });
  context.putImageData(image, 0, 0);
}

function channels(colour: string): number[] {
  return (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
}

/** The objective, step by step. */
function objective(width: number, steps: Course["steps"]): TemplateResult {
  const line = steps.map(({ metasteps, objective }): Place => [metasteps, objective ?? Number.NaN]);
  const values = line.flatMap(([, y]) => (Number.isNaN(y) ? [] : [y]));
  const [low, high] = [Math.min(0, ...values), Math.max(0.1, ...values)];
  const chart = plot(
    { width, height: 290 },
    {
      x: { label: "steps", ends: [0, Math.max(1, steps.at(-1)?.metasteps ?? 1)] },
      y: { label: "loss left out − included, nats", ends: [low, high + 0.08 * (high - low)] },
    },
  );
  const aucs = steps.filter(({ auc }) => auc !== null);
  const auc = aucs.at(-1)?.auc;
  const says = `Objective after ${steps.length} steps: ${values.at(-1)?.toFixed(3) ?? "none"}.`;
  return html`<div class="figure-box">
    <h3>What the canaries show</h3>
    ${drawing(chart, "canary-objective", "Objective of the canaries", says, svg`${curve(chart, line, "attack")}`)}
    <ul class="legend">
      <li><span class="dash attack"></span>difference between the losses of the two halves</li>
      ${auc === undefined || auc === null ? nothing : html`<li>AUC of a canary: ${rounded(auc, "estimate", 3)}, an estimate</li>`}
    </ul>
    ${dataTable({
      caption: "Steps of the canaries",
      columns: ["step", "objective", "AUC of a canary"],
      rows: steps.map(({ metasteps, objective, auc }) => [
        String(metasteps),
        objective?.toFixed(4) ?? "skipped",
        auc?.toFixed(3) ?? "",
      ]),
    })}
  </div>`;
}
