import { expect, test } from "vitest";
import { initialState } from "../state/fields";
import { planOf } from "./plan";
import { duration, Rates } from "./rates";

function memory(content: string | null = null) {
  let stored = content;
  const storage = { getItem: () => stored, setItem: (_: string, text: string) => (stored = text) };
  return () => storage as never;
}

const state = initialState();
const run = {
  phase: "done",
  backend: "cpu",
  options: { device: "cpu", float_mode: "exact" },
  workers: 3,
  elapsed_ms: 500,
  total: 1e6,
  plan: planOf(state),
} as const;

test("a rate is that of the last complete run, also at the next visit", () => {
  const storage = memory();
  const rates = new Rates(storage, 4);
  expect(rates.of("cpu", state)).toBeUndefined();
  rates.learn(run);
  expect(rates.of("cpu", state)).toBe(2e8);
  expect(new Rates(storage, 4).of("cpu", state)).toBe(2e8);
  expect(new Rates(storage, 8).of("cpu", state)).toBeUndefined();
  expect(rates.of("cpu", { ...state, workers: 4 })).toBeUndefined();
  expect(new Rates(storage, 8).of("cpu", { ...state, workers: 3 })).toBe(2e8);
  expect(rates.of("gpu", state)).toBeUndefined();
  for (const partial of [{ phase: "cancelled" }, { elapsed_ms: 5 }, { backend: undefined }]) {
    const fresh = new Rates(memory(), 4);
    fresh.learn({ ...run, ...partial } as typeof run);
    expect(fresh.of("cpu", state)).toBeUndefined();
  }
});

test("without storage, or with another content, nothing is known", () => {
  for (const content of [
    "null",
    "[1]",
    "{",
    '{"cpu 3": -1}',
    '{"cpu 3": "1e8"}',
    '{"cpu 3": 1e99}',
  ]) {
    expect(new Rates(memory(content), 4).of("cpu", state)).toBeUndefined();
  }
  const none = () => {
    throw new Error("denied");
  };
  const rates = new Rates(none, 4);
  rates.learn(run);
  expect(rates.of("cpu", state)).toBe(2e8);
});

test("durations are rounded up", () => {
  expect([0.01, 3.2, 90, 91, 5400, 5401].map(duration)).toEqual([
    "1 s",
    "4 s",
    "90 s",
    "2 min",
    "90 min",
    "2 h",
  ]);
});
