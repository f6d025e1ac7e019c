import type { PateGanQuestion } from "@dpscope/wasm/synth";
import { expect, test, vi } from "vitest";
import { FakeWorker, NO_RESPONSE } from "../../../protocol/fake-worker";
import type { Request } from "../../../protocol/protocol";
import { PateGanRun } from "./run";

const RUNS = 203;
const ASKED: PateGanQuestion = {
  faults: "",
  teachers: 2,
  gamma: 1e-3,
  batch_size: 4,
  iterations: 10,
  runs: RUNS,
  delta: 1e-5,
  significance: 0.05,
  seed: "1",
};

/** A coordinator that assigns ranges as the bundle does: each run once. */
function coordinator() {
  const assigned = new Uint8Array(RUNS);
  const trained = new Uint8Array(RUNS);
  const progress = () => ({
    done: 2 * trained.reduce((sum, times) => sum + times, 0),
    total: 2 * RUNS,
  });
  /** Runs that each evaluation was of. */
  const evaluated: number[] = [];
  const calls: Record<string, (...args: never[]) => unknown> = {
    open: () => ({ layout: new Uint8Array(1), ...progress() }),
    next: (runs: number) => {
      const first = assigned.indexOf(0);
      if (first < 0) return undefined;
      let end = first;
      while (end < RUNS && end < first + runs && assigned[end] === 0) assigned[end++] = 1;
      return { first, end };
    },
    release: (first: number, end: number) => void assigned.fill(0, first, end),
    add: (evidence: Uint8Array) => {
      const [first = 0, end = 0] = new Float64Array(evidence.buffer);
      for (let run = first; run < end; run += 1) trained[run] = (trained[run] ?? 0) + 1;
      return progress();
    },
    evaluate: () => {
      evaluated.push(progress().done);
      return { runs: 40, epsilon: 0.5, cells: [] };
    },
    report: () => ({ report: {}, picture: {}, text: "" }),
  };
  const answer = ({ name, args }: Request) => calls[name]?.(...(args as never[]));
  return { answer, trained, evaluated };
}

/** The response of a worker: its range. */
function trains({ name, args }: Request): unknown {
  return name === "count" ? new Uint8Array(Float64Array.from(args as number[]).buffer) : undefined;
}

function runOf(worker: (index: number) => (request: Request) => unknown) {
  const { answer, trained, evaluated } = coordinator();
  const workers: FakeWorker[] = [];
  const crew = {
    coordinator: () => new FakeWorker(answer),
    counter: () => {
      workers.push(new FakeWorker(worker(workers.length)));
      return workers.at(-1) as FakeWorker;
    },
    cores: 2,
  };
  const run = new PateGanRun(ASKED, crew, () => undefined);
  return { run, workers, trained, evaluated };
}

const over = (run: PateGanRun) => vi.waitFor(() => expect(run.isOver).toBe(true));
const isEveryOnce = (trained: Uint8Array) => trained.every((times) => times === 1);

test("every run is trained once, and workers end", async () => {
  const { run, workers, trained } = runOf(() => trains);
  await run.start();
  await over(run);
  expect(run.phase).toBe("done");
  expect(run.answer).toBeDefined();
  expect(run.done).toBe(2 * RUNS);
  expect(isEveryOnce(trained)).toBe(true);
  expect(workers).toHaveLength(2);
  expect(workers.every((worker) => worker.isTerminated)).toBe(true);
});

test("the check above detects a run that is trained twice", () => {
  expect(isEveryOnce(new Uint8Array(RUNS).fill(1).fill(2, 7, 8))).toBe(false);
});

test("only the report evaluates all runs", async () => {
  const { run, evaluated } = runOf(() => trains);
  await run.start();
  await over(run);
  expect(evaluated.length).toBeGreaterThan(0);
  expect(Math.max(...evaluated)).toBeLessThan(2 * RUNS);
});

test("the runs of a broken worker are trained by another", async () => {
  const { run, workers, trained } = runOf((index) => (request) => {
    if (request.name === "count" && index === 1) {
      workers[1]?.crash("pulled out");
      return NO_RESPONSE;
    }
    return trains(request);
  });
  await run.start();
  await over(run);
  expect(run.phase).toBe("done");
  expect(isEveryOnce(trained)).toBe(true);
  expect(workers).toHaveLength(3);
  expect(run.notes[0]).toContain("pulled out");
  expect(run.notes[0]).toContain("its runs are trained again");
});

test("an audit whose workers always break fails", async () => {
  const { run, workers } = runOf(() => (request) => {
    if (request.name === "prepare") throw { kind: "file", message: "no module" };
    return trains(request);
  });
  await run.start();
  await over(run);
  expect(run.phase).toBe("failed");
  expect(run.failure).toBe("no module");
  expect(workers.length).toBeLessThan(12);
});

test("cancelling ends the workers in the middle of a range", async () => {
  const { run, workers } = runOf(
    () => (request) => (request.name === "count" ? NO_RESPONSE : trains(request)),
  );
  await run.start();
  await vi.waitFor(() => expect(workers[0]?.requests.length).toBeGreaterThan(1));
  run.cancel();
  expect(run.phase).toBe("cancelled");
  expect(run.answer).toBeUndefined();
  expect(workers.every((worker) => worker.isTerminated)).toBe(true);
});
