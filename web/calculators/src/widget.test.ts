/** Settings travel from the model to the element, answers with their settings back. */

import { expect, test, vi } from "vitest";
import { answers } from "./answers";
import { calculators } from "./calculators";

vi.mock("virtual:packed", () => ({ modules: {}, worker: "" }));
const { connect } = await import("./widget");

/** A model that records what is saved. */
function modelOf(state: Record<string, unknown>) {
  const handlers = new Map<string, () => void>();
  return {
    state,
    saved: [] as Record<string, unknown>[],
    get: (name: string) => state[name],
    set(name: string, value: unknown) {
      state[name] = value;
    },
    save_changes() {
      this.saved.push({ ...state });
    },
    on: (event: string, act: () => void) => void handlers.set(event, act),
    off: (event: string) => void handlers.delete(event),
    fire: (event: string) => handlers.get(event)?.(),
    handlers,
  };
}

const settings = {
  false_positives: 3,
  zero_out_trials: 1000,
  false_negatives: 480,
  target_trials: 1000,
  delta: 1e-5,
  significance: 0.05,
};

function connected() {
  const element = new EventTarget() as HTMLElement & Record<string, unknown>;
  const model = modelOf({ calculator: "counts", ...settings });
  return { element, model, disconnect: connect(model, element) };
}

const sent = (type: string, detail: object) => new CustomEvent(type, { detail });

test("the element has the settings of the model, and follows them", () => {
  const { element, model } = connected();
  expect(element).toMatchObject({ falsePositives: 3, significance: 0.05 });
  model.state.false_positives = 4;
  model.fire("change:false_positives");
  expect(element.falsePositives).toBe(4);
});

test("an answer is saved with the settings that it is of", () => {
  const { element, model } = connected();
  const moved = { ...settings, false_positives: 12 };
  const result = { epsilon: 3.5, ceiling: 7 };
  element.dispatchEvent(sent("dpscope-result", { settings: moved, result, command: "dpscope" }));
  expect(model.saved).toHaveLength(1);
  expect(model.saved[0]).toMatchObject({ ...moved, _answered: moved, result, epsilon: 3.5 });
});

test("a failure removes the answer", () => {
  const { element, model } = connected();
  const failure = { kind: "input", message: "too many" };
  model.state.epsilon = 3.5;
  element.dispatchEvent(sent("dpscope-error", { settings, failure }));
  expect(model.saved[0]).toMatchObject({ failure: "too many", epsilon: null, result: null });
});

test("a removed view listens no more", () => {
  const { element, model, disconnect } = connected();
  disconnect();
  expect(model.handlers.size).toBe(0);
  element.dispatchEvent(sent("dpscope-error", { settings, failure: { message: "" } }));
  expect(model.saved).toEqual([]);
});

test("every calculator has answers, and none has the name of a setting", () => {
  for (const { name, fields } of calculators) {
    const names = Object.keys(answers[name] ?? {});
    expect(names.length, name).toBeGreaterThan(0);
    expect(
      names.filter((answer) => answer in fields),
      name,
    ).toEqual([]);
  }
});
