/** The templates of a calculator: functions of plain data, without state. */

import { html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import {
  type ChoiceField,
  type Field,
  keypadOf,
  type NumberField,
  numberText,
  type Value,
} from "../../fields/field";
import { rounded } from "../../numbers/rounded";
import type { Answer, Columns } from "./calculator";
import type { Failure } from "./calls";
import { CURVES, chart, HEIGHT } from "./chart";

type Shown = TemplateResult | typeof nothing;

/** An input with its value, the text being typed, and the problem with it. */
export interface InputView<F extends Field = NumberField | ChoiceField> {
  readonly id: string;
  readonly field: F;
  readonly value: Value;
  readonly draft: string | undefined;
  readonly problem: string | undefined;
  typed(text: string): void;
  committed(text: string): void;
}

const textOf = (event: Event) => (event.target as HTMLInputElement | HTMLSelectElement).value;

export function fieldView(input: InputView): TemplateResult {
  const { id, field, problem } = input;
  const { label, symbol, help } = field;
  const slides = field.kind === "number" && field.slider !== undefined;
  const shape = slides ? "slides" : field.kind;
  return html`
    <div class=${`field ${shape}`} part="field">
      <label for=${id} title=${help ?? nothing} part="label"
        >${label}${symbol === undefined ? nothing : html` <i>${symbol}</i>`}</label
      >
      ${
        field.kind === "choice"
          ? choiceView({ ...input, field })
          : html`${slides ? sliderView({ ...input, field }) : nothing}${numberView({ ...input, field })}`
      }
    </div>
    ${problem === undefined ? nothing : html`<p class="problem" part="problem" id=${`${id}-problem`}>${problem}</p>`}
  `;
}

function choiceView({
  id,
  field,
  value,
  problem,
  committed,
}: InputView<ChoiceField>): TemplateResult {
  const { options } = field;
  return html`
    <select
      id=${id}
      part="input"
      aria-describedby=${problem === undefined ? nothing : `${id}-problem`}
      .value=${live(value)}
      @change=${(event: Event) => committed(textOf(event))}
    >
      ${options.map(([option, words]) => html`<option value=${option} ?selected=${option === value}>${words}</option>`)}
    </select>
  `;
}

function numberView({
  id,
  field,
  value,
  draft,
  problem,
  typed,
  committed,
}: InputView<NumberField>): TemplateResult {
  return html`
    <input
      id=${id}
      part="input"
      type="text"
      inputmode=${keypadOf(field)}
      autocomplete="off"
      spellcheck="false"
      maxlength="32"
      aria-invalid=${problem === undefined ? "false" : "true"}
      aria-describedby=${problem === undefined ? nothing : `${id}-problem`}
      .value=${live(draft ?? numberText(value))}
      @input=${(event: Event) => typed(textOf(event))}
      @change=${(event: Event) => committed(textOf(event))}
    />
  `;
}

const SLIDER_STEPS = 200;

/** Even steps on a logarithmic scale; a value outside is shown at the nearer end. */
function sliderView({ field, value, committed }: InputView<NumberField>): TemplateResult {
  const { least = field.least, most = field.most } = field.slider ?? {};
  const span = Math.log(most / least);
  const position = Math.round((SLIDER_STEPS * Math.log(Number(value) / least)) / span);
  const moved = (event: Event) => {
    const noise = least * Math.exp((span * Number(textOf(event))) / SLIDER_STEPS);
    committed(numberText(Number(noise.toPrecision(3))));
  };
  return html`
    <input
      type="range"
      part="slider"
      min="0"
      max=${SLIDER_STEPS}
      step="1"
      aria-label=${`${field.label}, slider`}
      aria-valuetext=${numberText(value)}
      .value=${live(String(Math.max(0, Math.min(SLIDER_STEPS, position))))}
      @input=${moved}
    />
  `;
}

/** A failure; if nothing could be loaded, the content of the element is shown again. */
export function failureView({ kind, message }: Failure): TemplateResult {
  return html`
    <div class="result" part="result">
      <p class="problem" part="problem">${message}</p>
      ${kind === "file" ? html`<slot dir="auto"></slot>` : nothing}
    </div>
  `;
}

export function answerView(answer: Answer<unknown> | undefined, isBusy: boolean): TemplateResult {
  if (!answer) {
    return html`<div class="result" part="result" aria-busy="true"><p class="about">Loading …</p></div>`;
  }
  const { figures, sentences, table } = answer;
  return html`
    <div class="result" part="result" aria-busy=${isBusy ? "true" : "false"}>
      <dl class="figures" part="figures">
        ${figures.map(
          ({ role, label, value, standing }) => html`
            <div class=${`figure ${role}`} part=${`figure figure-${role}`}>
              <dt>${label}</dt>
              <dd class="value" part="value">${value}</dd>
              <dd class="standing" part="standing">${standing}</dd>
            </div>
          `,
        )}
      </dl>
      ${sentences.map((sentence) => html`<p part="sentence">${sentence}</p>`)}
      ${table ? tableView(table.title, table.head, table.rows) : nothing}
    </div>
  `;
}

export function chartView(
  columns: Columns | undefined,
  noiseMultiplier: number,
  width: number,
): TemplateResult {
  const label =
    "ε against the noise multiplier: what Poisson accounting claims, and the lower and upper bounds of shuffled batches";
  const key = ([name, words]: (typeof CURVES)[number]) => html`
    <li><svg viewBox="0 0 26 8" aria-hidden="true"><path class=${name} d="M0 4H26"></path></svg>${words}</li>
  `;
  return html`
    <div class="chart" part="chart">
      <ul class="legend" part="legend">${CURVES.map(key)}</ul>
      <svg role="img" aria-label=${label} viewBox=${`0 0 ${width} ${HEIGHT}`}>
        ${columns ? chart(columns, noiseMultiplier, width) : nothing}
      </svg>
      ${columns ? tableView("Data of the chart", ["σ", ...CURVES.map(([, words]) => words)], rowsOf(columns)) : nothing}
    </div>
  `;
}

function rowsOf({ noiseMultipliers, ...columns }: Columns): string[][] {
  const sides = { upper: "upper", lower: "lower", claimed: "upper" } as const;
  return Array.from(noiseMultipliers, (noise, index) => [
    numberText(noise),
    ...CURVES.map(([key]) => {
      const value = columns[key][index] ?? Number.NaN;
      return Number.isNaN(value) ? "–" : rounded(value, sides[key]);
    }),
  ]);
}

function tableView(
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): TemplateResult {
  return html`
    <details>
      <summary>${title}</summary>
      <div class="wide" tabindex="0" role="group" aria-label=${title}>
        <table part="table">
          <thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
          <tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody>
        </table>
      </div>
    </details>
  `;
}

/** How the numbers were computed, and the command that reproduces them. */
export function footView(
  answer: Answer<unknown> | undefined,
  version: string,
  command: string,
  copied: string,
  copy: () => void,
): TemplateResult {
  const methods = (answer?.figures ?? []).filter(({ method }) => method !== undefined);
  const line = ({ label, standing, method }: (typeof methods)[number]): Shown =>
    html`<div><dt>${label}</dt><dd>${standing}; ${method}</dd></div>`;
  return html`
    <div class="foot" part="foot">
      <details class="how" part="how">
        <summary>Method · dpscope ${version}</summary>
        <dl>${methods.map(line)}</dl>
        <code part="command">${command}</code>
      </details>
      <div class="copy">
        <span role="status">${copied}</span>
        <button type="button" part="button" @click=${copy}>Copy CLI command</button>
      </div>
    </div>
  `;
}
