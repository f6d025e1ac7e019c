import type { AuditPlan } from "@dpscope/wasm/audits";
import { expect, test, vi } from "vitest";
import { FakeWorker, NO_RESPONSE } from "../../../protocol/fake-worker";
import type { Request } from "../../../protocol/protocol";
import { AuditRun, type Options } from "./run";
import { simulations } from "./subject";

const PLAN: AuditPlan = {
  mechanism: { noise_multiplier: 1, steps: 100, epochs: 1, sampler: "shuffle" },
  observations: 200_000,
  delta: 1e-5,
  significance: 0.05,
};
const EACH = PLAN.observations / 2;

/** A coordinator that assigns ranges as the bundle does: each observation once. */
function coordinator() {
  let assigned = 0;
  const back: [number, number][] = [];
  const counted = new Uint8Array(EACH);
  const calls: Record<string, (...args: number[]) => unknown> = {
    open: () => ({ layout: new Uint8Array(1), done: 0, total: PLAN.observations }),
    next: (size = 0) => {
      const given = back.pop();
      if (given !== undefined) return { first: given[0], end: given[1] };
      if (assigned === EACH) return undefined;
      const first = assigned;
      assigned = Math.min(EACH, assigned + size);
      return { first, end: assigned };
    },
    release: (first = 0, end = 0) => void back.push([first, end]),
    evaluate: () => ({ result: { observations: 2 * done(), epsilon: 1 }, curve: {} }),
  };
  const done = () => counted.reduce((sum, times) => sum + times, 0);
  const answer = ({ name, args }: Request) => {
    if (name !== "add") return calls[name]?.(...(args as number[]));
    const [first = 0, end = 0] = new Float64Array((args[0] as Uint8Array).buffer);
    for (let index = first; index < end; index += 1) counted[index] = (counted[index] ?? 0) + 1;
    return { done: 2 * done(), total: PLAN.observations };
  };
  return { answer, counted };
}

/** The response of a counter: its range. */
function counts({ name, args }: Request): unknown {
  if (name === "open_gpu") throw { kind: "device", message: "no adapter" };
  if (name !== "count") return undefined;
  return new Uint8Array(Float64Array.from(args as number[]).buffer);
}

function runOf(
  counter: (index: number) => (request: Request) => unknown,
  options?: Partial<Options>,
  evaluated?: (counted: Uint8Array) => Promise<void>,
) {
  const dealer = coordinator();
  const counters: FakeWorker[] = [];
  const crew = {
    coordinator: () => new FakeWorker(dealer.answer),
    counter: () => {
      counters.push(new FakeWorker(counter(counters.length)));
      return counters.at(-1) as FakeWorker;
    },
    workers: 2,
  };
  const all: Options = { device: "cpu", float_mode: "exact", ...options };
  const subject = { ...simulations(PLAN), evaluated: () => evaluated?.(dealer.counted) };
  const run = new AuditRun(subject, all, crew, () => undefined);
  return { run, counters, counted: dealer.counted };
}

const over = (run: AuditRun) => vi.waitFor(() => expect(run.isOver).toBe(true), 4000);
const everyOnce = (counted: Uint8Array) => counted.every((times) => times === 1);

test("every observation is counted once", async () => {
  const { run, counted, counters } = runOf(() => counts);
  await run.start();
  await over(run);
  expect(run.phase).toBe("done");
  expect(everyOnce(counted)).toBe(true);
  expect(counters.every((counter) => counter.isTerminated)).toBe(true);
});

test("what is found last is that of all observations", async () => {
  const evaluations = { begun: 0, ended: 0 };
  const { run } = runOf(
    () => counts,
    {},
    async (counted) => {
      evaluations.begun += 1;
      if (evaluations.begun === 1) {
        await vi.waitFor(() => expect(everyOnce(counted)).toBe(true), 4000);
        for (let turn = 0; turn < 50; turn += 1) await new Promise((next) => setTimeout(next));
      }
      evaluations.ended += 1;
    },
  );
  await run.start();
  await over(run);
  await vi.waitFor(() => expect(evaluations.ended).toBe(2));
  await new Promise((next) => setTimeout(next));
  expect(run.found?.result.observations).toBe(PLAN.observations);
});

test("the check above detects an observation that is counted twice", () => {
  const counted = new Uint8Array(EACH).fill(1);
  counted[7] = 2;
  expect(everyOnce(counted)).toBe(false);
});

test("the range of a broken worker is counted by another", async () => {
  let crashes = 0;
  const { run, counters, counted } = runOf((index) => (request) => {
    if (request.name === "count" && index === 1 && crashes === 0) {
      crashes += 1;
      counters[1]?.crash("pulled out");
      return NO_RESPONSE;
    }
    return counts(request);
  });
  await run.start();
  await over(run);
  expect(run.phase).toBe("done");
  expect(everyOnce(counted)).toBe(true);
  expect(counters).toHaveLength(3);
  expect(run.notes).toHaveLength(1);
});

test("repeatedly broken workers end the audit with a message", async () => {
  const { run } = runOf(() => (request) => {
    if (request.name === "count") throw { kind: "internal", message: "bad luck" };
    return counts(request);
  });
  await run.start();
  await over(run);
  expect(run.phase).toBe("failed");
  expect(run.failure).toBe("bad luck");
});

test("a GPU that fails half-way leaves the rest to the CPU", async () => {
  let ranges = 0;
  const { run, counted, counters } = runOf(
    (index) => (request) => {
      if (index !== 0) return counts(request);
      if (request.name === "open_gpu") return "a GPU";
      if (request.name !== "count") return undefined;
      ranges += 1;
      if (ranges > 1) throw { kind: "device", message: "lost" };
      return counts(request);
    },
    { device: "auto" },
  );
  await run.start();
  await over(run);
  expect(run.phase).toBe("done");
  expect(everyOnce(counted)).toBe(true);
  expect(counters.length).toBe(3);
  expect(run.notes.join(" ")).toContain("The GPU failed (lost)");
  expect(run.device).toBe("CPU: 2 workers");
});

test("no adapter is no error", async () => {
  const { run } = runOf(() => counts, { device: "auto" });
  await run.start();
  await over(run);
  expect(run.phase).toBe("done");
  expect(run.device).toBe("CPU: 2 workers");
});

test("cancelling ends every worker at once", async () => {
  const { run, counters } = runOf(
    () => (request) => (request.name === "count" ? NO_RESPONSE : counts(request)),
  );
  await run.start();
  expect(run.phase).toBe("running");
  run.cancel();
  expect(run.phase).toBe("cancelled");
  expect(counters.every((counter) => counter.isTerminated)).toBe(true);
});

test("a pause assigns no more ranges, and those assigned before are not lost", async () => {
  const held: Request[] = [];
  const { run, counters, counted } = runOf(() => (request) => {
    if (request.name !== "count" || held.length >= 4) return counts(request);
    held.push(request);
    return NO_RESPONSE;
  });
  await run.start();
  await vi.waitFor(() => expect(held).toHaveLength(4));
  run.pause();
  for (const request of held) {
    const owner = counters.find((counter) => counter.requests.includes(request));
    owner?.respond({ id: request.id, value: counts(request) });
  }
  await vi.waitFor(() => expect(run.done).toBe(8 * 1024));
  run.resume();
  await over(run);
  expect(run.phase).toBe("done");
  expect(everyOnce(counted)).toBe(true);
});

test("a worker that breaks during a pause is replaced", async () => {
  const held: Request[] = [];
  const { run, counters, counted } = runOf(() => (request) => {
    if (request.name !== "count" || held.length >= 4) return counts(request);
    held.push(request);
    return NO_RESPONSE;
  });
  await run.start();
  await vi.waitFor(() => expect(held).toHaveLength(4));
  run.pause();
  for (const counter of counters) counter.crash("pulled out");
  await vi.waitFor(() => expect(counters[3]?.requests).toHaveLength(1));
  for (const counter of counters.slice(2)) counter.crash("pulled out again");
  run.resume();
  await over(run);
  expect(run.phase).toBe("done");
  expect(everyOnce(counted)).toBe(true);
  expect(run.notes).toHaveLength(4);
});

test("an audit that is cancelled while its GPU opens starts no worker", async () => {
  const { run, counters } = runOf(
    () => (request) => (request.name === "open_gpu" ? NO_RESPONSE : counts(request)),
    { device: "auto" },
  );
  const started = run.start();
  const isOpening = () => counters[0]?.requests.some(({ name }) => name === "open_gpu");
  await vi.waitFor(() => expect(isOpening()).toBe(true));
  run.cancel();
  await started;
  expect(run.phase).toBe("cancelled");
  expect(counters.map((counter) => counter.isTerminated)).toEqual([true]);
});
