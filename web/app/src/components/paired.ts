import { html, nothing, type TemplateResult } from "lit/html.js";
import { domainOf, type NumberField, numberText, parse } from "../../../fields/field";
import type { App } from "../app";
import { FIELDS, type Field, fieldOf, type State } from "../state/fields";

/** Names of the fields that are numbers. */
export type NumberName = {
  [F in Field]: (typeof FIELDS)[F] extends NumberField ? F : never;
}[Field];

interface Options {
  hint?: string;
  /** End of the slider where it depends on the page. */
  most?: number;
}

const STEPS = 400;

/** A slider and a number, two ways to enter one value. */
export function paired(app: App, name: NumberName, { hint, most }: Options = {}): TemplateResult {
  const field: NumberField = FIELDS[name];
  const value = app.state[name] ?? field.least;
  const refused = app.refused.get(name);
  const scale = slider(
    most === undefined ? field : { ...field, slider: { ...field.slider, most } },
  );
  const described = refused === undefined && hint === undefined ? "" : `${name}-hint`;
  return html`<div class="paired">
    ${labelOf(name)} ${numberInput(app, name, described)}
    <input
      class="slider"
      type="range"
      min="0"
      max=${String(STEPS)}
      step="1"
      aria-label=${`${field.label}, slider`}
      aria-valuetext=${numberText(value)}
      .value=${String(scale.position(value))}
      @input=${(event: Event) => {
        const position = Number((event.target as HTMLInputElement).value);
        app.change({ [name]: scale.value(position, value) } as Partial<State>);
      }}
    />
    ${described === "" ? nothing : note(described, refused, hint)}
  </div>`;
}

/** The label of an input. */
export function labelOf(name: Field): TemplateResult {
  const { label, symbol, help } = fieldOf(name);
  return html`<label for=${name} title=${help ?? nothing}
    >${label}${symbol === undefined ? nothing : html` <i>${symbol}</i>`}</label
  >`;
}

/** A number without a slider. */
export function numberInput(app: App, name: Field, described: string): TemplateResult {
  return html`<input
    id=${name}
    class="number"
    type="text"
    inputmode="decimal"
    autocomplete="off"
    spellcheck="false"
    aria-invalid=${app.refused.has(name) ? "true" : "false"}
    aria-describedby=${described === "" ? nothing : described}
    .value=${numberText(app.state[name] ?? "")}
    @change=${(event: Event) => take(app, name, (event.target as HTMLInputElement).value)}
  />`;
}

export function note(id: string, refused: string | undefined, hint?: string): unknown {
  if (refused !== undefined) return html`<p class="refused" id=${id}>${refused}</p>`;
  return hint === undefined ? nothing : html`<p class="hint" id=${id}>${hint}</p>`;
}

/** Uses typed text, or says what is allowed. */
export function take(app: App, name: Field, typed: string): void {
  const field = fieldOf(name);
  const text = plainNumber(typed.trim());
  const isCleared = text === "" && field.initial === undefined;
  const value = parse(field, text);
  if (value === undefined && !isCleared) {
    app.refused.set(name, `Enter ${domainOf(field)}.`);
    app.redraw();
    return;
  }
  app.refused.delete(name);
  app.change({ [name]: value });
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

/** Positions of the slider. */
export function slider(field: NumberField): Scale {
  const { least = field.least, most = field.most, isLinear = false } = field.slider ?? {};
  const share = (value: number) =>
    isLinear ? (value - least) / (most - least) : Math.log(value / least) / Math.log(most / least);
  const at = (place: number) =>
    isLinear ? least + place * (most - least) : least * (most / least) ** place;
  const tidy = (value: number) => {
    const tidied = field.whole
      ? Number(Math.round(value).toPrecision(value >= 1000 ? 2 : 3))
      : Number(value.toPrecision(isLinear ? 3 : 2));
    return Math.min(field.most, Math.max(field.least, tidied));
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
