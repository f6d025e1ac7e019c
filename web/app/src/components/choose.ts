import { html, nothing, type TemplateResult } from "lit/html.js";
import { type ChoiceField, hasEffect } from "../../../fields/field";
import type { Explored } from "../app";
import { FIELDS, type Field, type State } from "../state/fields";
import { labelOf } from "./paired";

/** Names of the fields that are choices. */
type ChoiceName = {
  [F in Field]: (typeof FIELDS)[F] extends ChoiceField ? F : never;
}[Field];

/** Options below those of a field; whether a value is one of them. */
export interface MoreOptions {
  options: TemplateResult;
  chosen(value: string): boolean;
}

/** A list to choose one from, with what the chosen value means; nothing where it has no effect. */
export function choose(
  app: Explored,
  name: ChoiceName,
  isAvailable: (value: string) => boolean = () => true,
  more?: MoreOptions,
): TemplateResult | typeof nothing {
  const field: ChoiceField = FIELDS[name];
  if (!hasEffect(field, app.state)) return nothing;
  const value = app.state[name] ?? "";
  const hint = field.hint ?? field.says?.[value];
  const described = `${name}-hint`;
  const unspecified = field.initial === undefined ? [["", "Unspecified"] as const] : [];
  return html`<div class="choose">
    ${labelOf(name)}
    <select
      id=${name}
      aria-describedby=${hint === undefined ? nothing : described}
      @change=${(event: Event) => {
        const select = event.target as HTMLSelectElement;
        const chosen = select.value;
        if (more?.chosen(chosen)) {
          select.value = app.state[name] ?? "";
          return;
        }
        app.change({ [name]: chosen === "" ? undefined : chosen } as Partial<State>);
      }}
    >
      ${optionList([...unspecified, ...field.options], value, isAvailable)} ${more?.options}
    </select>
    ${hint === undefined ? nothing : html`<p class="hint" id=${described}>${hint}</p>`}
  </div>`;
}

/** Options of a list, one of them selected. */
export function optionList(
  options: readonly (readonly [value: string, label: string])[],
  selected: string,
  isAvailable: (value: string) => boolean = () => true,
): TemplateResult[] {
  return options.map(
    ([value, label]) =>
      html`<option
        value=${value}
        ?selected=${value === selected}
        .selected=${value === selected}
        ?disabled=${!isAvailable(value)}
      >
        ${label}
      </option>`,
  );
}

/** A field as a few buttons below its label; nothing where it has no effect. */
export function labelled(app: Explored, name: ChoiceName): TemplateResult | typeof nothing {
  if (!hasEffect(FIELDS[name], app.state)) return nothing;
  return html`<div class="choose">
    <span class="label" aria-hidden="true">${FIELDS[name].label}</span>
    ${buttons(app, name)}
  </div>`;
}

/** A field as a few buttons. */
export function buttons(app: Explored, name: ChoiceName): TemplateResult {
  const { label, options }: ChoiceField = FIELDS[name];
  return segments(label, app.state[name] ?? "", options, (value) =>
    app.change({ [name]: value } as Partial<State>),
  );
}

/** A few buttons, one of them pressed. */
export function segments<T extends string>(
  label: string,
  value: T,
  options: readonly (readonly [T, string])[],
  chosen: (value: T) => void,
): TemplateResult {
  return html`<div class="segments" role="group" aria-label=${label}>
    ${options.map(
      ([option, words]) =>
        html`<button
          type="button"
          aria-pressed=${option === value ? "true" : "false"}
          @click=${() => chosen(option)}
        >
          ${words}
        </button>`,
    )}
  </div>`;
}
