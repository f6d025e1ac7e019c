import { html, nothing, type TemplateResult } from "lit/html.js";
import type { App } from "../app";
import type { Field, State } from "../state/fields";

interface Option {
  value: string;
  name: string;
  isOff?: boolean;
}

/** A list to choose one from. */
export function choose(
  app: App,
  field: Field,
  label: string,
  options: readonly Option[],
  hint?: string,
): TemplateResult {
  const value = app.state[field] ?? "";
  const told = `${field}-told`;
  return html`<div class="choose">
    <label for=${field}>${label}</label>
    <select
      id=${field}
      aria-describedby=${hint === undefined ? nothing : told}
      @change=${(event: Event) => {
        const chosen = (event.target as HTMLSelectElement).value;
        app.change({ [field]: chosen === "" ? undefined : chosen } as Partial<State>);
      }}
    >
      ${options.map(
        (option) =>
          html`<option
            value=${option.value}
            ?selected=${option.value === value}
            .selected=${option.value === value}
            ?disabled=${option.isOff === true}
          >
            ${option.name}
          </option>`,
      )}
    </select>
    ${hint === undefined ? nothing : html`<p class="hint" id=${told}>${hint}</p>`}
  </div>`;
}

type Options<T> = readonly { value: T; name: string }[];

/** A few buttons below what they choose, one of them pressed. */
export function labelled<T extends string>(
  label: string,
  value: T,
  options: Options<T>,
  chosen: (value: T) => void,
): TemplateResult {
  return html`<div class="choose">
    <span class="label" aria-hidden="true">${label}</span>
    ${segments(label, value, options, chosen)}
  </div>`;
}

/** A few buttons, one of them pressed. */
export function segments<T extends string>(
  label: string,
  value: T,
  options: Options<T>,
  chosen: (value: T) => void,
): TemplateResult {
  return html`<div class="segments" role="group" aria-label=${label}>
    ${options.map(
      (option) =>
        html`<button
          type="button"
          aria-pressed=${option.value === value ? "true" : "false"}
          @click=${() => chosen(option.value)}
        >
          ${option.name}
        </button>`,
    )}
  </div>`;
}
