import type { BoundSetting } from "@dpscope/wasm/calculators";
import { expect, test, vi } from "vitest";
import { FakeWorker } from "../../../protocol/fake-worker";
import type { Request } from "../../../protocol/protocol";
import { storedSweep } from "../numbers/stored";
import { initialState, type State } from "../state/fields";
import { type Sweep, SweepSession, seriesOf, spreadOut } from "./sweep";

/** As the bundle answers: a value for each place. */
function ones({ args }: Request): Float64Array {
  return new Float64Array((args[4] as Float64Array).length).fill(1);
}

function sessionOf(answer: (request: Request) => unknown) {
  const seen: Sweep[] = [];
  const session = new SweepSession(
    { theory: () => new FakeWorker(answer), accounting: () => new FakeWorker(answer) },
    () => {
      if (session.sweep !== undefined) seen.push(session.sweep);
    },
    storedSweep(),
  );
  return { session, seen };
}

const STATE: State = { ...initialState(), steps: 50 };

test("the stored curves need no computation", () => {
  const { session, seen } = sessionOf(ones);
  session.show(initialState());
  session.showSlow(initialState());
  expect(session.isStale).toBe(false);
  expect(seen).toEqual([]);
});

test("fast curves are shown together, and balls-in-bins point by point after them", async () => {
  const { session, seen } = sessionOf(ones);
  session.show(STATE);
  expect(session.isStale).toBe(true);
  session.showSlow(STATE); // too early: nothing happens
  await vi.waitFor(() => expect(session.isStale).toBe(false));
  expect(seen.map(({ epsilons }) => Object.keys(epsilons).length)).toEqual([3]);
  session.showSlow(STATE);
  await vi.waitFor(() => expect(session.sweep?.slow).toBeUndefined());
  const points = seen.slice(1).map(({ epsilons }) => {
    const found = Array.from(epsilons["balls-in-bins"] ?? []);
    return found.filter((value) => value === 1).length;
  });
  expect(points).toEqual(Array.from({ length: 42 }, (_, index) => index));
  const one = seen[1]?.epsilons["balls-in-bins"];
  expect(one).not.toBe(session.sweep?.epsilons["balls-in-bins"]);
});

test("a curve that takes too long stays partial and says so", async () => {
  const now = vi.spyOn(performance, "now");
  const { session } = sessionOf((request) => {
    if (request.args[0] === "balls-in-bins") now.mockReturnValue(1e9);
    return ones(request);
  });
  now.mockReturnValue(0);
  session.show(STATE);
  await vi.waitFor(() => expect(session.isStale).toBe(false));
  session.showSlow(STATE);
  await vi.waitFor(() => expect(session.sweep?.slow).toBe("cut"));
  const found = Array.from(session.sweep?.epsilons["balls-in-bins"] ?? []);
  expect(found.filter((value) => value === 1)).toHaveLength(1);
  now.mockRestore();
});

test("a new setting ends the slow curve of the one before", async () => {
  let asked = 0;
  const { session } = sessionOf((request) => {
    if (request.args[0] === "balls-in-bins" && ++asked === 3) {
      session.show({ ...STATE, steps: 60 });
    }
    return ones(request);
  });
  session.show(STATE);
  await vi.waitFor(() => expect(session.isStale).toBe(false));
  session.showSlow(STATE);
  await vi.waitFor(() => expect(asked).toBe(3));
  await vi.waitFor(() => expect(session.sweep?.slow).toBe("waiting"));
  expect(session.sweep?.epsilons["balls-in-bins"]).toBeUndefined();
  expect(asked).toBe(3);
});

test("only curves that apply to the sampler are drawn", () => {
  const rows = (sampler: State["sampler"]) => seriesOf({ ...STATE, sampler }).map(([row]) => row);
  expect(rows("shuffle")).toEqual(["deterministic", "poisson", "shuffle-best"]);
  expect(rows("persistent-shuffle")).toEqual(["deterministic", "poisson", "persistent-shuffle"]);
  expect(rows("partial-shuffle")).toEqual(["deterministic", "poisson"]);
  expect(rows("poisson")).toEqual(["poisson"]);
});

test("curves of uniform subsets come from their own bundle, at the rate of the state", async () => {
  const asked: Request[] = [];
  const { session } = sessionOf((request) => {
    asked.push(request);
    return ones(request);
  });
  const state: State = { ...STATE, sampler: "random-allocation", uses_per_epoch: 3 };
  session.show(state);
  await vi.waitFor(() => expect(session.isStale).toBe(false));
  session.showSlow(state);
  await vi.waitFor(() => expect(session.sweep?.slow).toBeUndefined());
  const names = ["poisson", "random-allocation-lower", "random-allocation"];
  expect(Object.keys(session.sweep?.epsilons ?? {})).toEqual(names);
  expect(new Set(asked.map(({ name }) => name))).toEqual(
    new Set(["bound_columns", "subset_columns"]),
  );
  const rates = asked.map(({ args }) => (args[1] as BoundSetting).sampling_rate);
  expect(rates.every((rate) => rate === 3 / state.steps)).toBe(true);
});

test("every place comes once, the ends early", () => {
  for (const count of [1, 2, 9, 33, 41]) {
    const order = spreadOut(count);
    expect([...order].sort((one, other) => one - other)).toEqual([...Array(count).keys()]);
    expect(order.slice(0, Math.ceil(count / 8) + 1)).toContain(count - 1);
  }
});
