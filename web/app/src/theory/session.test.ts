import { expect, test, vi } from "vitest";
import { linesOf } from "../numbers/lines";
import { storedLines } from "../numbers/stored";
import { initialState, type State } from "../state/fields";
import type { Question } from "../workers/calls";
import { FakeWorker } from "../workers/fake-worker";
import { pairDraws } from "./draws";
import { TheorySession } from "./session";

/** The limit of a pair names the seed and the significance that were asked for. */
function pairs({ call }: Question): unknown {
  const [, , observations, seed, significance] = call.args;
  const value = { epsilon: 1, kind: "lower", significance };
  return { lower: value, estimate: value, observations, seed };
}

function sessionOf() {
  const theory = () => new FakeWorker(() => ({ epsilon: 1, kind: "upper" }));
  const studies = () => new FakeWorker(pairs);
  return new TheorySession({ theory, studies }, () => undefined, storedLines());
}

test("the stored pair is not shown for another seed or confidence", async () => {
  const session = sessionOf();
  const stored = session.lines["pair-lower"];
  expect(stored).toBeDefined();
  const state: State = { ...initialState(), seed: "7", significance: 0.01 };
  session.show(state);
  expect(session.lines["pair-lower"]).toBeUndefined();
  await vi.waitFor(() => expect(session.lines["pair-lower"]).toBeDefined());
  expect(session.lines["pair-lower"]).toMatchObject({ seed: "7", value: { significance: 0.01 } });
  expect(session.lines.poisson).toEqual(storedLines().poisson);
});

test("without workers every line says why, and none waits", () => {
  const none = () => {
    throw new Error("no workers");
  };
  const session = new TheorySession(
    { theory: none, studies: none },
    () => undefined,
    storedLines(),
  );
  const state: State = { ...initialState(), steps: 50 };
  session.show(state);
  const told = linesOf(state.sampler).map((name) => session.lines[name]);
  expect(told.every((line) => line !== undefined && "reason" in line)).toBe(true);
});

test("the last draws are as many as the command line makes", () => {
  expect(pairDraws(100, 1)).toEqual([3125, 12_500, 50_000, 0]);
  expect(pairDraws(100_000, 1)).toEqual([0]);
  expect(pairDraws(100, 2)).toEqual([0]);
});
