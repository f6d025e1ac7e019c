import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { SimulationResult } from "@dpscope/wasm/audits";
import { audit_conclusion, initSync } from "@dpscope/wasm/studies";
import { expect, test, vi } from "vitest";
import { FakeWorker } from "../../../protocol/fake-worker";
import { initialState, type State } from "../state/fields";
import { ComparisonSession } from "./comparison";

const file = new URL("../../../wasm/studies/dpscope_studies_bg.wasm", import.meta.url);
initSync({ module: readFileSync(fileURLToPath(file)) });

const BOUND = { kind: "bound", epsilon: 4, delta: 1e-5, gain_at_10x: 0.2, ceiling: 5 };

async function concluded(worker: FakeWorker, state: State, claim?: number, bound = BOUND) {
  const session = new ComparisonSession(() => worker, vi.fn());
  await session.conclude(state, bound as SimulationResult, claim);
  const { conclusion, failure } = session;
  return { verdict: conclusion?.verdict.outcome, failure };
}

const bundle = () =>
  new FakeWorker(({ args }) => audit_conclusion(...(args as Parameters<typeof audit_conclusion>)));

const failing = (kind: string) =>
  new FakeWorker(() => {
    throw { kind, message: "no luck" };
  });

test("an audit is compared with Poisson accounting, or with the claim", async () => {
  const verdicts = [undefined, 4.5].map((claim) => concluded(bundle(), initialState(), claim));
  expect(await Promise.all(verdicts)).toEqual([
    { verdict: "refuted", failure: undefined },
    { verdict: "not-refuted", failure: undefined },
  ]);
});

test("Poisson accounting without a value is no failure", async () => {
  const nothing = { verdict: undefined, failure: undefined };
  const tooLittleNoise = { ...initialState(), noise_multiplier: 1e-3 };
  expect(await concluded(bundle(), tooLittleNoise)).toEqual(nothing);
  // too large a grid
  expect(await concluded(failing("limit"), initialState())).toEqual(nothing);
});

test("rare batches have a value of Poisson accounting", async () => {
  const rare: State = {
    ...initialState(),
    noise_multiplier: 0.5,
    sampler: "truncated-poisson",
    batch_size: 1,
    dataset_size: 1e9,
  };
  const bound = { ...BOUND, delta: 1e-12 };
  // it claims about 10, which an audit with a ceiling of 5 cannot refute
  expect(await concluded(bundle(), rare, undefined, bound)).toMatchObject({
    verdict: "inconclusive",
    failure: undefined,
  });
});

test("any other failure is shown", async () => {
  const state = initialState();
  for (const kind of ["internal", "file", "stopped"]) {
    expect(await concluded(failing(kind), state)).toMatchObject({ failure: "no luck" });
  }
  for (const kind of ["input", "limit"]) {
    expect(await concluded(failing(kind), state, 4.5)).toMatchObject({ failure: "no luck" });
  }
});

test("a worker that crashes or does not respond is a failure", async () => {
  vi.useFakeTimers();
  const [crashed, silent] = [new FakeWorker(), new FakeWorker()];
  const failures = [crashed, silent].map((worker) => concluded(worker, initialState()));
  crashed.crash("out of memory");
  vi.advanceTimersByTime(20_000);
  expect(await Promise.all(failures)).toMatchObject([
    { failure: "out of memory" },
    { failure: expect.stringContaining("No result within 20 seconds") },
  ]);
  vi.useRealTimers();
});

test("a worker that is ended for another audit is no failure", async () => {
  vi.useFakeTimers();
  const session = new ComparisonSession(() => new FakeWorker(), vi.fn());
  void session.conclude(initialState(), BOUND as SimulationResult, undefined);
  session.show(initialState());
  session.show({ ...initialState(), steps: 50 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(session.failure).toBeUndefined();
  vi.useRealTimers();
});

test("the failure of an earlier audit is not shown for the next", async () => {
  const worker = new FakeWorker(({ id }) => {
    if (id === 1) throw { kind: "internal", message: "no luck" };
    return { sentence: "done" };
  });
  const session = new ComparisonSession(() => worker, vi.fn());
  await session.conclude(initialState(), { ...BOUND } as SimulationResult, undefined);
  expect(session.failure).toBe("no luck");
  await session.conclude(initialState(), { ...BOUND } as SimulationResult, undefined);
  expect(session).toMatchObject({ failure: undefined, conclusion: { sentence: "done" } });
});
