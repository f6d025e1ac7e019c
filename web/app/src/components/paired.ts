import { html, nothing, type TemplateResult } from "lit/html.js";
import {
  domainOf,
  hasEffect,
  keypadOf,
  type NumberField,
  numberText,
  parse,
  typedText,
} from "../../../fields/field";
import type { Explored } from "../app";
import { FIELDS, type Field, fieldOf, type State } from "../state/fields";

/** Names of the fields that are numbers. */
export type NumberName = {
  [F in Field]: (typeof FIELDS)[F] extends NumberField ? F : never;
}[Field];

interface Options {
  hint?: string | undefined;
  /** Why the value cannot be used. */
  problem?: string | undefined;
  /** End of the slider where it depends on the page. */
  most?: number;
}

const STEPS = 400;
const ARROWS: Readonly<Record<string, 1 | -1>> = {
  ArrowRight: 1,
  ArrowUp: 1,
  ArrowLeft: -1,
  ArrowDown: -1,
};

/** A slider and a number, two ways to enter one value; nothing where it has no effect. */
export function paired(
  app: Explored,
  name: NumberName,
  { hint = fieldOf(name).hint, problem, most }: Options = {},
): TemplateResult | typeof nothing {
  const field: NumberField = FIELDS[name];
  if (!hasEffect(field, app.state)) return nothing;
  const value = app.state[name] ?? field.least;
  const refused = app.refused.get(name) ?? problem;
  const scale = slider(
    most === undefined ? field : { ...field, slider: { ...field.slider, most } },
  );
  const set = (value: number) => app.change({ [name]: value } as Partial<State>);
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
      @input=${(event: Event) => set(scale.value(Number((event.target as HTMLInputElement).value)))}
      @keydown=${(event: KeyboardEvent) => {
        const step = ARROWS[event.key];
        if (step === undefined) return;
        event.preventDefault();
        set(scale.next(value, step));
      }}
    />
    ${described === "" ? nothing : note(described, refused, hint)}
  </div>`;
}

/** A number without a slider, on its own line; `problem` is why its value cannot be used. Nothing where it
 * has no effect. */
export function plain(
  app: Explored,
  name: Field,
  hint = fieldOf(name).hint,
  problem?: string,
): TemplateResult | typeof nothing {
  if (!hasEffect(fieldOf(name), app.state)) return nothing;
  const refused = app.refused.get(name) ?? problem;
  const described = `${name}-hint`;
  return html`<div class="field">
    ${labelOf(name)} ${numberInput(app, name, (refused ?? hint) === undefined ? "" : described)}
    ${note(described, refused, hint)}
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
export function numberInput(app: Explored, name: Field, described: string): TemplateResult {
  return html`<input
    id=${name}
    class=${fieldOf(name).kind === "text" ? "number words" : "number"}
    type="text"
    inputmode=${keypadOf(fieldOf(name))}
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
export function take(app: Explored, name: Field, typed: string): void {
  const field = fieldOf(name);
  const text = typedText(field, typed);
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

interface Scale {
  position(value: number): number;
  /** The value at a position, the same whatever was there before. */
  value(position: number): number;
  /** The neighbour that an arrow key selects. */
  next(value: number, step: 1 | -1): number;
}

/** Positions of the slider, and the round values that they stand for. */
export function slider(field: NumberField): Scale {
  const { least = field.least, most = field.most, isLinear = false } = field.slider ?? {};
  const share = (value: number) =>
    isLinear ? (value - least) / (most - least) : Math.log(value / least) / Math.log(most / least);
  const at = (place: number) =>
    isLinear ? least + place * (most - least) : least * (most / least) ** place;
  /** The distance of round values at a value: a hundredth of a linear scale, else two digits, three of
   * whole numbers below 1000. */
  const unit = (value: number) => {
    const digits = field.whole === true && value < 1000 ? 2 : 1;
    const size = isLinear ? (most - least) / 100 : 10 ** (Math.floor(Math.log10(value)) - digits);
    return field.whole === true ? Math.max(1, Math.round(size)) : size;
  };
  const round = (value: number, size: number) =>
    Math.min(
      field.most,
      Math.max(field.least, Number((Math.round(value / size) * size).toPrecision(6))),
    );
  return {
    position: (value) => Math.round(STEPS * Math.min(1, Math.max(0, share(value)))),
    value: (position) => {
      const value = at(position / STEPS);
      return round(value, unit(value));
    },
    next: (value, step) => {
      const size = unit(step < 0 ? value * (1 - 1e-9) : value * (1 + 1e-9));
      const place = value / size;
      const whole = step > 0 ? Math.floor(place + 1e-6) : Math.ceil(place - 1e-6);
      return round((whole + step) * size, size);
    },
  };
}
