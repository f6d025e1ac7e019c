import { expect, test, vi } from "vitest";
import { FakeWorker, NO_RESPONSE } from "../../../protocol/fake-worker";
import type { Request } from "../../../protocol/protocol";
import { type Lines, linesOf } from "../numbers/lines";
import { storedConclusion, storedLines } from "../numbers/stored";
import { initialState, type State } from "../state/fields";
import { pairSteps } from "./draws";
import { TheorySession } from "./session";
import { keyOf } from "./setting";

const settled = () => new Promise((resolve) => setTimeout(resolve));

/** The bound of a pair has the requested seed and significance. */
function pairs({ args }: Request): unknown {
  const [, , observations, seed, significance] = args;
  const value = { epsilon: 1, kind: "lower", significance };
  return { lower: value, estimate: value, observations: observations || 500, seed };
}

const STORED = { lines: storedLines(), conclusion: storedConclusion() };

function sessionOf() {
  const theory = () => new FakeWorker(() => ({ epsilon: 1, kind: "upper" }));
  const studies = () => new FakeWorker(pairs);
  return new TheorySession({ theory, studies, accounting: theory }, () => undefined, STORED);
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

test("without workers every line has a reason, and none waits", async () => {
  const none = () => {
    throw new Error("no workers");
  };
  const session = new TheorySession(
    { theory: none, studies: none, accounting: none },
    () => undefined,
    STORED,
  );
  const state: State = { ...initialState(), steps: 50 };
  session.show(state);
  await vi.waitFor(() => {
    const lines = linesOf(state.sampler).map((name) => session.lines[name]);
    expect(lines.every((line) => line !== undefined && "reason" in line)).toBe(true);
  });
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
    { theory, studies: () => worker, accounting: theory },
    () => seen.push(session.lines),
    STORED,
  );
  session.show({ ...initialState(), epochs: 2 });
  expect(worker.requests).toHaveLength(1); // without waiting for the fast lines
  await vi.waitFor(() => expect(session.hasNumbers).toBe(true));
  for (let done = 0; done < worker.requests.length; done += 1) {
    const request = worker.requests[done] as Request;
    worker.respond({ id: request.id, value: pairs(request) });
    await settled();
  }
  expect(seen.at(-1)?.["pair-lower"]).toBeDefined();
  const drawn = seen.flatMap((lines) => {
    const found = lines["pair-estimate"];
    return found !== undefined && "value" in found ? [found.observations] : [];
  });
  expect(drawn).toEqual([1000, 6188, 24_752, 99_009]);
  expect(seen.slice(0, -1).every((lines) => lines["pair-lower"] === undefined)).toBe(true);
});

test("an estimate stays when more draws fail", async () => {
  const studies = () =>
    new FakeWorker((request) => {
      if (request.name === "pair") throw { kind: "internal", message: "out of memory" };
      return pairs(request);
    });
  const theory = () => new FakeWorker(() => ({ epsilon: 1, kind: "upper" }));
  const session = new TheorySession(
    { theory, studies, accounting: theory },
    () => undefined,
    STORED,
  );
  session.show({ ...initialState(), epochs: 2 });
  await vi.waitFor(() => expect(session.lines["pair-lower"]).toEqual({ reason: "out of memory" }));
  expect(session.lines["pair-estimate"]).toMatchObject({ observations: 24_752 });
  expect(session.isRefining).toBe(false);
});

test("a simulation in progress is not restarted when something else changes", async () => {
  const asked: Request[] = [];
  const theory = () => new FakeWorker(() => ({ epsilon: 1, kind: "upper" }));
  const studies = () =>
    new FakeWorker((request) => {
      asked.push(request);
      return asked.length < 3 ? pairs(request) : NO_RESPONSE;
    });
  const session = new TheorySession(
    { theory, studies, accounting: theory },
    () => undefined,
    STORED,
  );
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

test("a setting that is left and restored keeps its lines", async () => {
  const workers: FakeWorker[] = [];
  const theory = () => {
    workers.push(new FakeWorker());
    return workers.at(-1) as FakeWorker;
  };
  const studies = () => new FakeWorker(pairs);
  const session = new TheorySession(
    { theory, studies, accounting: theory },
    () => undefined,
    STORED,
  );
  const fast = () => workers[0]?.requests.at(-1);
  session.show({ ...initialState(), steps: 50 });
  session.show(initialState());
  for (let id = 0; fast()?.id !== id; ) {
    id = fast()?.id ?? 0;
    workers[0]?.respond({ id, value: { epsilon: 9, kind: "upper" } });
    await settled();
  }
  expect(session.isStale).toBe(false);
  expect(session.lines.poisson).toEqual(storedLines().poisson);
});

test("bounds of uniform subsets are concluded from together, and not from those of a shuffle", async () => {
  const asked: Request[] = [];
  const theory = () =>
    new FakeWorker((request) => {
      asked.push(request);
      return request.name === "conclusion" ? { sentence: "done" } : { epsilon: 1, kind: "upper" };
    });
  const accounting = new FakeWorker();
  const session = new TheorySession(
    { theory, studies: theory, accounting: () => accounting },
    () => undefined,
    STORED,
  );
  const state: State = { ...initialState(), sampler: "random-allocation", uses_per_epoch: 4 };
  session.show(state);
  await settled();
  expect(session.conclusion).toBeUndefined();
  expect(session.isStale).toBe(true);
  expect(asked.map(({ name }) => name)).not.toContain("conclusion");
  for (const bound of ["random-allocation-lower", "random-allocation"]) {
    await vi.waitFor(() => expect(accounting.requests.at(-1)?.args[0]).toBe(bound));
    const request = accounting.requests.at(-1) as Request;
    expect(request.args[1]).toMatchObject({ sampling_rate: 0.04 });
    accounting.respond({ id: request.id, value: { epsilon: 2, kind: "upper" } });
    await settled();
  }
  await vi.waitFor(() => expect(session.isStale).toBe(false));
  expect(session.conclusion).toEqual({ sentence: "done" });
  expect(Object.keys(session.lines).sort()).toEqual([...linesOf(state.sampler)].sort());
  session.show({ ...state, uses_per_epoch: 5 });
  expect(session.isStale).toBe(true);
});

test("truncated batches are bounded with their sizes, at the rate of their mean", async () => {
  const theory = () => new FakeWorker(() => ({ epsilon: 1, kind: "upper" }));
  const accounting = new FakeWorker();
  const session = new TheorySession(
    { theory, studies: theory, accounting: () => accounting },
    () => undefined,
    STORED,
  );
  const state: State = { ...initialState(), sampler: "truncated-poisson", max_batch_size: 70 };
  session.show(state);
  await vi.waitFor(() => expect(accounting.requests).toHaveLength(1));
  expect(accounting.requests[0]?.args).toEqual([
    "truncated-poisson-lower",
    {
      noise_multiplier: 1,
      steps: 100,
      epochs: 1,
      sampling_rate: 0.01,
      adjacency: "zero-out",
      truncation: { dataset_size: 6400, max_batch_size: 70 },
    },
    { delta: 1e-5 },
  ]);
  for (const part of [{ max_batch_size: 71 }, { dataset_size: 6399 }, { adjacency: "replace" }]) {
    expect(keyOf({ ...state, ...part } as State)).not.toBe(keyOf(state));
  }
  expect(keyOf({ ...state, uses_per_epoch: 3 })).toBe(keyOf(state));
});
