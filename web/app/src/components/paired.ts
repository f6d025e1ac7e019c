import { html, nothing, type TemplateResult } from "lit/html.js";
import type { App } from "../app";
import { type NumberCodec, short } from "../state/codec";
import { FIELDS, type Field, type State } from "../state/fields";

/** Fields that are numbers with ends. */
export type NumberField = {
  [F in Field]: (typeof FIELDS)[F] extends NumberCodec ? F : never;
}[Field];

interface Options {
  label: string;
  symbol?: string;
  hint?: string;
  /** Ends of the slider where they are not the field's. */
  least?: number;
  most?: number;
  isLinear?: boolean;
}

const STEPS = 400;

/** A slider and a number, two ways to give one value. */
export function paired(app: App, field: NumberField, options: Options): TemplateResult {
  const value = app.state[field];
  const refused = app.refused.get(field);
  const { label, symbol, hint } = options;
  const scale = slider(field, options);
  const told = `${field}-told`;
  return html`<div class="paired">
    <label for=${field}>${label}${symbol === undefined ? nothing : html` <i>${symbol}</i>`}</label>
    ${numberInput(app, field, refused === undefined && hint === undefined ? "" : told)}
    <input
      class="slider"
      type="range"
      min="0"
      max=${String(STEPS)}
      step="1"
      aria-label=${`${label}, slider`}
      aria-valuetext=${short(value)}
      .value=${String(scale.position(value))}
      @input=${(event: Event) => {
        const position = Number((event.target as HTMLInputElement).value);
        app.change({ [field]: scale.value(position, value) } as Partial<State>);
      }}
    />
    ${told === "" ? nothing : note(told, refused, hint)}
  </div>`;
}

/** A number without a slider. */
export function numberInput(app: App, field: Field, described: string): TemplateResult {
  const value = app.state[field];
  const refused = app.refused.has(field);
  return html`<input
    id=${field}
    class="number"
    type="text"
    inputmode="decimal"
    autocomplete="off"
    spellcheck="false"
    aria-invalid=${refused ? "true" : "false"}
    aria-describedby=${described === "" ? nothing : described}
    .value=${value === undefined ? "" : typeof value === "number" ? short(value) : value}
    @change=${(event: Event) => take(app, field, (event.target as HTMLInputElement).value)}
  />`;
}

export function note(id: string, refused: string | undefined, hint?: string): unknown {
  if (refused !== undefined) return html`<p class="refused" id=${id}>${refused}</p>`;
  return hint === undefined ? nothing : html`<p class="hint" id=${id}>${hint}</p>`;
}

/** Takes what was typed, or says what is allowed. */
export function take(app: App, field: Field, typed: string): void {
  const codec = FIELDS[field];
  const text = plainNumber(typed.trim());
  const value = text === "" && codec.initial === undefined ? undefined : codec.parse(text);
  if (value === undefined && !(text === "" && codec.initial === undefined)) {
    app.refused.set(field, `Give ${codec.allowed}.`);
    app.redraw();
    return;
  }
  app.refused.delete(field);
  app.change({ [field]: value });
}

/** Without commas between thousands; any other comma is refused with the text: 0,5 is not 05. */
export function plainNumber(text: string): string {
  return /^[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?$/.test(text) && !text.startsWith("0")
    ? text.replaceAll(",", "")
    : text;
}

interface Scale {
  position(value: number): number;
  value(position: number, before: number): number;
}

/** Positions of the slider, logarithmic unless told. */
export function slider(field: NumberField, options: Partial<Options>): Scale {
  const codec: NumberCodec = FIELDS[field];
  const least = options.least ?? codec.least;
  const most = options.most ?? codec.most;
  const isLinear = options.isLinear === true;
  const share = (value: number) =>
    isLinear ? (value - least) / (most - least) : Math.log(value / least) / Math.log(most / least);
  const at = (place: number) =>
    isLinear ? least + place * (most - least) : least * (most / least) ** place;
  const tidy = (value: number) => {
    const tidied = codec.whole
      ? Number(Math.round(value).toPrecision(value >= 1000 ? 2 : 3))
      : Number(value.toPrecision(isLinear ? 3 : 2));
    return Math.min(codec.most, Math.max(codec.least, tidied));
  };
  const position = (value: number) => Math.round(STEPS * Math.min(1, Math.max(0, share(value))));
  return {
    position,
    value: (place, before) => {
      const value = tidy(at(place / STEPS));
      const step = Math.sign(place - position(before));
      if (value !== before || step === 0) return value;
      return nextTidy(value, step, tidy);
    },
  };
}

/** The next tidy value where a step of the slider is smaller than the digits shown. */
function nextTidy(value: number, step: number, tidy: (value: number) => number): number {
  for (let reach = 1; reach <= 64; reach *= 2) {
    const next = tidy(
      value * (1 + step * reach * 0.004) + (Number.isInteger(value) ? step * 0.5 : 0),
    );
    if (next !== value) return next;
  }
  return value;
}
