import { html, nothing, type TemplateResult } from "lit/html.js";
import { numberText } from "../../../../fields/field";
import type { Explored } from "../../app";
import { choose, optionList } from "../../components/choose";
import { labelOf, note, numberInput, paired, plain } from "../../components/paired";
import { significance } from "../../components/significance";
import { linesOf } from "../../numbers/lines";
import { FIELDS, type Field, fieldOf, type State } from "../../state/fields";
import { PRESETS, PRINTED_DELTA, presetOf } from "../../state/presets";
import { about, type ThreatModel, truncates } from "../../state/samplers";
import { freshSeed } from "../../state/seed";
import { recordsOf } from "../../theory/setting";

/** The settings of the training. */
export function controls(app: Explored): TemplateResult {
  const { state } = app;
  const sampler = about(state.sampler);
  return html`<form class="controls" aria-label="The training">
    <h2>The training</h2>
    ${presets(app)}
    ${paired(app, "noise_multiplier")} ${paired(app, "steps")}
    <details
      class="more"
      ?open=${state.dataset_size !== undefined || truncates(state.sampler)}
    >
      <summary>Steps from dataset and batch size</summary>
      ${plain(app, "dataset_size", cappedSteps(state))} ${sampler.needs_batch_size ? nothing : plain(app, "batch_size")}
    </details>
    ${paired(app, "epochs")} ${paired(app, "delta")} ${plain(app, "claim")}
    ${choose(app, "sampler")}
    ${usesPerEpoch(app)} ${maxBatchSize(app)}
    ${choose(app, "adjacency")}
    <details class="more">
      <summary>Attacker, confidence, seed</summary>
      ${choose(app, "threat_model", (value) =>
        sampler.threat_models.includes(value as ThreatModel),
      )}
      ${significance(app, "a simulated bound")} ${seed(app)}
    </details>
    ${sampler.needs_batch_size ? paired(app, "batch_size") : nothing}
    ${paired(app, "buffer_examples")}
  </form>`;
}

/** k, with what the accountants say of it. */
function usesPerEpoch(app: Explored): TemplateResult | typeof nothing {
  const { uses_per_epoch, steps } = app.state;
  const rate = numberText(Number((uses_per_epoch / steps).toPrecision(3)));
  return ofSubsets(app, "uses_per_epoch", `Poisson accounting assumes the rate k/T = ${rate}.`);
}

/** The maximum of truncated batches, with their mean. */
function maxBatchSize(app: Explored): TemplateResult | typeof nothing {
  const { state } = app;
  const [mean, records] = [state.batch_size, recordsOf(state)].map(numberText);
  const hint = `Batches have ${mean} of N = ${records} records on average; at most this many are kept.`;
  return ofSubsets(app, "max_batch_size", hint);
}

/** A number of uniform subsets, which the accountants may refuse. */
function ofSubsets(app: Explored, field: Field, hint: string): TemplateResult | typeof nothing {
  return plain(app, field, hint, lineFailure(app, field));
}

/** Why a line has no value, if one input is at fault. */
function lineFailure(app: Explored, field: Field): string | undefined {
  for (const name of linesOf(app.state.sampler)) {
    const found = app.theory.lines[name];
    if (found === undefined || "value" in found || found.field !== field) continue;
    return `${found.reason.replace(field, fieldOf(field).label)}.`;
  }
  return undefined;
}

/** Why the steps are not those of the dataset. */
function cappedSteps({ dataset_size = 0, batch_size }: State): string | undefined {
  const { most } = FIELDS.steps;
  if (dataset_size <= most * batch_size) return undefined;
  return `More than ${numberText(most)} batches per epoch: ${numberText(most)} are used.`;
}

function seed(app: Explored): TemplateResult {
  const refused = app.refused.get("seed");
  return html`<div class="paired">
    ${labelOf("seed")} ${numberInput(app, "seed", "seed-hint")}
    <button type="button" class="quiet" @click=${() => app.change({ seed: freshSeed() })}>
      New seed
    </button>
    ${note("seed-hint", refused, "The same seed reproduces the same draws, here and on the command line.")}
  </div>`;
}

function presets(app: Explored): TemplateResult {
  const chosen = presetOf(app.state);
  const selected = chosen === undefined ? "" : String(PRESETS.indexOf(chosen));
  const groups = [...new Set(PRESETS.map((preset) => preset.group))];
  return html`<div class="choose">
    <label for="preset">Preset</label>
    <select
      id="preset"
      @change=${(event: Event) => {
        const preset = PRESETS[Number((event.target as HTMLSelectElement).value)];
        if (preset === undefined) return;
        const { noise_multiplier, steps, epochs } = preset;
        app.change({ noise_multiplier, steps, epochs, delta: PRINTED_DELTA, sampler: "shuffle" });
      }}
    >
      ${optionList([["", "Custom"]], selected)}
      ${groups.map((group) => {
        const rows = PRESETS.map(({ name }, index) => [String(index), name] as const);
        const inGroup = rows.filter((_, index) => PRESETS[index]?.group === group);
        return html`<optgroup label=${group}>${optionList(inGroup, selected)}</optgroup>`;
      })}
    </select>
    ${
      app.state.sampler !== "shuffle" ||
      (chosen?.printed === undefined && chosen?.empirical === undefined)
        ? nothing
        : html`<p class="hint">
          The paper reports
          ${chosen.printed === undefined ? nothing : html`a claim of ε = ${chosen.printed}`}
          ${chosen.printed !== undefined && chosen.empirical !== undefined ? "and" : nothing}
          ${chosen.empirical === undefined ? nothing : html`an estimate of ε ≈ ${chosen.empirical}`}.
        </p>`
    }
  </div>`;
}
