/** The calculators as one anywidget, for notebooks: settings, result and answers are traits of the model. */

import { answers } from "./answers";
import { calculators } from "./calculators";
import { callsOf } from "./calls";
import { defineElements } from "./define";
import { propertyOf } from "./fields";
import { packed } from "./packed";
import type { DpscopeErrorEvent, DpscopeResultEvent } from "./types";

/** The part of the model of Jupyter's widgets that is used here. */
export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, act: () => void): void;
  off(event: string, act: () => void): void;
}

/** Connects an element to a model; returns what disconnects them. */
export function connect(model: Model, element: HTMLElement): () => void {
  const name = String(model.get("calculator"));
  const calculator = calculators.find((calculator) => calculator.name === name);
  const settings = Object.keys(calculator?.fields ?? {});
  const numbers = Object.entries(answers[name] ?? {});
  const properties = element as unknown as Record<string, unknown>;
  const handlers = settings.map((setting) => {
    const set = () => {
      properties[propertyOf(setting)] = model.get(setting);
    };
    set();
    model.on(`change:${setting}`, set);
    return () => model.off(`change:${setting}`, set);
  });
  const save = (state: Record<string, unknown>, settings: object) => {
    // Python takes answers for those of these settings.
    for (const [trait, value] of Object.entries({ ...settings, ...state, _answered: settings }))
      model.set(trait, value);
    model.save_changes();
  };
  const onResult = ({ detail }: DpscopeResultEvent) => {
    const { settings, result, command } = detail;
    const found = numbers.map(([answer, of]) => [answer, of(result as never) ?? null]);
    save({ result, command, failure: "", ...Object.fromEntries(found) }, settings);
  };
  const onError = ({ detail }: DpscopeErrorEvent) => {
    const none = Object.fromEntries(numbers.map(([answer]) => [answer, null]));
    save({ result: null, command: "", failure: detail.failure.message, ...none }, detail.settings);
  };
  element.addEventListener("dpscope-result", onResult);
  element.addEventListener("dpscope-error", onError);
  return () => {
    for (const stop of handlers) stop();
    element.removeEventListener("dpscope-result", onResult);
    element.removeEventListener("dpscope-error", onError);
  };
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  defineElements(callsOf(packed));
  const element = document.createElement(`dpscope-${model.get("calculator")}`);
  const disconnect = connect(model, element);
  el.append(element);
  return disconnect;
}

export default { render };
