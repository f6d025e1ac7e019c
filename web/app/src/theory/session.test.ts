import { expect, test, vi } from "vitest";
import { type Lines, linesOf } from "../numbers/lines";
import { storedLines } from "../numbers/stored";
import { initialState, type State } from "../state/fields";
import type { Question } from "../workers/calls";
import { FakeWorker, NO_ANSWER } from "../workers/fake-worker";
import { pairSteps } from "./draws";
import { TheorySession } from "./session";

/** The limit of a pair names the seed and the significance that were asked for. */
function pairs({ call }: Question): unknown {
  const [, , observations, seed, significance] = call.args;
  const value = { epsilon: 1, kind: "lower", significance };
  return { lower: value, estimate: value, observations: observations || 500, seed };
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
  const draws = (steps: number, epochs: number) =>
    pairSteps(steps, epochs).map((step) => `${step.name} ${step.draws}`);
  expect(draws(100, 1)).toEqual(["pair 1000", "pair 3094", "pair 12376", "pair 49504", "pair 0"]);
  expect(draws(100_000, 1)).toEqual(["pair 0"]);
  const many = ["pair_estimate 1000", "pair_estimate 6188", "pair_estimate 24752"];
  expect(draws(100, 2)).toEqual([...many, "pair 0"]);
  expect(draws(5000, 20)).toEqual(["pair_estimate 1000", "pair 0"]);
  expect(draws(99_999, 2)).toEqual(["pair 0"]);
});

test("an estimate of many epochs is refined, and its bound comes last", async () => {
  const seen: Lines[] = [];
  const theory = () => new FakeWorker(() => ({ epsilon: 1, kind: "upper" }));
  const worker = new FakeWorker();
  const session = new TheorySession(
    { theory, studies: () => worker },
    () => seen.push(session.lines),
    storedLines(),
  );
  session.show({ ...initialState(), epochs: 2 });
  expect(worker.asked).toHaveLength(1); // without waiting for the fast lines
  await vi.waitFor(() => expect(session.hasNumbers).toBe(true));
  for (let done = 0; done < worker.asked.length; done += 1) {
    const question = worker.asked[done] as Question;
    worker.tell({ id: question.id, value: pairs(question) });
  }
  expect(seen.at(-1)?.["pair-lower"]).toBeDefined();
  const drawn = seen.flatMap((lines) => {
    const found = lines["pair-estimate"];
    return found !== undefined && "value" in found ? [found.observations] : [];
  });
  expect(drawn).toEqual([1000, 6188, 24_752, 99_009]);
  expect(seen.slice(0, -1).every((lines) => lines["pair-lower"] === undefined)).toBe(true);
});

test("an estimate stands when more draws fail", async () => {
  const studies = () =>
    new FakeWorker((question) => {
      if (question.call.name === "pair") throw { kind: "internal", message: "pulled out" };
      return pairs(question);
    });
  const theory = () => new FakeWorker(() => ({ epsilon: 1, kind: "upper" }));
  const session = new TheorySession({ theory, studies }, () => undefined, storedLines());
  session.show({ ...initialState(), epochs: 2 });
  await vi.waitFor(() => expect(session.lines["pair-lower"]).toEqual({ reason: "pulled out" }));
  expect(session.lines["pair-estimate"]).toMatchObject({ observations: 24_752 });
  expect(session.isRefining).toBe(false);
});

test("what is being drawn is not asked again when something else changes", async () => {
  const asked: Question[] = [];
  const theory = () => new FakeWorker(() => ({ epsilon: 1, kind: "upper" }));
  const studies = () =>
    new FakeWorker((question) => {
      asked.push(question);
      return asked.length < 3 ? pairs(question) : NO_ANSWER;
    });
  const session = new TheorySession({ theory, studies }, () => undefined, storedLines());
  const state = { ...initialState(), epochs: 2 };
  session.show(state);
  await vi.waitFor(() => expect(asked).toHaveLength(3));
  session.show({ ...state, axis: "delta" });
  session.show({ ...state, observations: 5000 });
  await new Promise((resolve) => setTimeout(resolve));
  expect(asked).toHaveLength(3);
  session.show({ ...state, sampler: "deterministic" });
  expect(session.isRefining).toBe(false);
  session.show(state);
  await vi.waitFor(() => expect(asked).toHaveLength(4));
});

test("a setting that was left and taken again keeps its lines", async () => {
  const workers: FakeWorker[] = [];
  const theory = () => {
    workers.push(new FakeWorker());
    return workers.at(-1) as FakeWorker;
  };
  const studies = () => new FakeWorker(pairs);
  const session = new TheorySession({ theory, studies }, () => undefined, storedLines());
  const fast = () => workers[0]?.asked.at(-1);
  session.show({ ...initialState(), steps: 50 });
  session.show(initialState());
  for (let id = 0; fast()?.id !== id; ) {
    id = fast()?.id ?? 0;
    workers[0]?.tell({ id, value: { epsilon: 9, kind: "upper" } });
  }
  expect(session.isStale).toBe(false);
  expect(session.lines.poisson).toEqual(storedLines().poisson);
});
