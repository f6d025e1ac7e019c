/** Settings travel from the model to the page, values with their settings back. */

import { expect, test, vi } from "vitest";
import { initialState, type State } from "../state/fields";
import { description, SETTINGS, settingsOf } from "./fields";

vi.mock("./bundles", () => ({ spawn: {} }));
vi.mock("./style", () => ({ style: "" }));
const { follow, save } = await import("./explore");

function modelOf(state: Record<string, unknown>) {
  const handlers = new Map<string, () => void>();
  return {
    state,
    saves: 0,
    get: (name: string) => state[name],
    set(name: string, value: unknown) {
      state[name] = value;
    },
    save_changes() {
      this.saves += 1;
    },
    on: (event: string, act: () => void) => void handlers.set(event, act),
    off: (event: string) => void handlers.delete(event),
    fire: (event: string) => handlers.get(event)?.(),
    handlers,
  };
}

/** As Python has them: None where a field is empty. */
function traits(state: State): Record<string, unknown> {
  return Object.fromEntries(SETTINGS.map((name) => [name, state[name] ?? null]));
}

function followed() {
  const model = modelOf(traits(initialState()));
  const page = {
    state: initialState(),
    changes: [] as Partial<State>[],
    change(part: Partial<State>) {
      this.changes.push(part);
      this.state = { ...this.state, ...part };
    },
  };
  return { model, page, end: follow(model, page) };
}

test("what changes in Python reaches the page once, all of it together", () => {
  const { model, page, end } = followed();
  model.fire("change:steps");
  expect(page.changes).toEqual([]);
  Object.assign(model.state, { steps: 50, claim: 2 });
  model.fire("change:steps");
  model.fire("change:claim");
  expect(page.changes).toEqual([{ steps: 50, claim: 2 }]);
  model.state.claim = null;
  model.fire("change:claim");
  expect(page.changes.at(-1)).toEqual({ claim: undefined });
  end();
  expect(model.handlers.size).toBe(0);
});

test("values are saved with the settings that they are of, and change nothing in the page", () => {
  const { model, page } = followed();
  const settings = settingsOf({ ...page.state, steps: 50 });
  page.change({ steps: 50 });
  const numbers = { claimed: 1, lower: null, upper: 3 };
  save(model, { settings, values: { poisson: { epsilon: 1 } }, ...numbers });
  const sent = traits(page.state);
  expect(model.state).toMatchObject({ ...sent, ...numbers, _answered: sent });
  expect(model.saves).toBe(1);
  for (const name of SETTINGS) model.fire(`change:${name}`);
  expect(page.changes).toEqual([{ steps: 50 }]);
});

test("Python knows the domain of every setting", () => {
  const { settings } = description() as { settings: Record<string, Record<string, unknown>> };
  expect(Object.keys(settings)).toEqual([...SETTINGS]);
  expect(settings.steps).toMatchObject({ least: 1, whole: true, initial: 100 });
  expect(settings.claim).toMatchObject({ kind: "number", initial: null, whole: false });
  expect(settings.sampler?.values).toContain("poisson");
  expect(settings.seed).toMatchObject({ kind: "seed", initial: "1" });
});
