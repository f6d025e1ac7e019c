import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeWorker } from "../../../protocol/fake-worker";
import { Lane } from "./lane";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Echo = { echo: (text: string) => number };

function laneOf(patience: number) {
  const workers: FakeWorker[] = [];
  const spawn = () => {
    workers.push(new FakeWorker());
    return workers.at(-1) as FakeWorker;
  };
  const lane = new Lane<Echo>(spawn, patience, 3000);
  const outcomes: string[] = [];
  const run = (name: string, requests = 1) =>
    lane.run(async (ask) => {
      for (let index = 0; index < requests; index += 1) {
        const outcome = await ask("echo", name);
        outcomes.push(`${name}${index}${"failure" in outcome ? "!" : ""}`);
        if ("failure" in outcome) outcomes.push(outcome.failure.message);
      }
    });
  const respond = async (worker: FakeWorker | undefined) => {
    worker?.respond({ id: worker.requests.at(-1)?.id ?? 0, value: 1 });
    await vi.advanceTimersByTimeAsync(0);
  };
  return { lane, workers, outcomes, run, respond };
}

test("the requests of a job are made one after the other", async () => {
  const { lane, workers, outcomes, run, respond } = laneOf(50);
  run("a", 2);
  expect(workers[0]?.requests).toHaveLength(1);
  await respond(workers[0]);
  await respond(workers[0]);
  expect(outcomes).toEqual(["a0", "a1"]);
  expect(lane.isBusy).toBe(false);
});

test("of the jobs that wait only the newest is run", async () => {
  const { workers, outcomes, run, respond } = laneOf(50);
  run("a");
  run("b");
  run("c");
  await respond(workers[0]);
  await respond(workers[0]);
  expect(outcomes).toEqual(["a0", "c0"]);
  expect(workers).toHaveLength(1);
});

test("a slow job is ended for the next one, and its late response is ignored", async () => {
  const { workers, outcomes, run, respond } = laneOf(50);
  run("slow");
  run("next");
  vi.advanceTimersByTime(49);
  expect(workers[0]?.isTerminated).toBe(false);
  vi.advanceTimersByTime(1);
  expect(workers[0]?.isTerminated).toBe(true);
  workers[0]?.onmessage?.({ data: { id: 1, value: 1 } } as MessageEvent);
  await respond(workers[1]);
  expect(outcomes).toEqual(["next0"]);
});

test("a job that has run for its time is ended at once", async () => {
  const { workers, outcomes, run, respond } = laneOf(50);
  run("slow");
  vi.advanceTimersByTime(40);
  run("next");
  vi.advanceTimersByTime(9);
  expect(workers[0]?.isTerminated).toBe(false);
  vi.advanceTimersByTime(1);
  expect(workers[0]?.isTerminated).toBe(true);
  vi.advanceTimersByTime(1000);
  run("last");
  vi.advanceTimersByTime(0);
  expect(workers[1]?.isTerminated).toBe(true);
  await respond(workers[2]);
  expect(outcomes).toEqual(["last0"]);
});

test("the first job uses the worker that was loaded before it", async () => {
  const { lane, workers, outcomes, run, respond } = laneOf(50);
  lane.warm();
  lane.warm();
  run("a");
  await respond(workers[0]);
  expect(outcomes).toEqual(["a0"]);
  expect(workers).toHaveLength(1);
});

test("a worker that crashes fails its whole job, and the next job has a new worker", async () => {
  const { workers, outcomes, run, respond } = laneOf(50);
  run("a", 2);
  workers[0]?.crash("out of memory");
  await vi.advanceTimersByTimeAsync(0);
  expect(outcomes).toEqual(["a0!", "out of memory", "a1!", "out of memory"]);
  expect(workers).toHaveLength(1);
  run("b");
  await respond(workers[1]);
  expect(outcomes.at(-1)).toBe("b0");
});

test("a browser without workers fails the job with a message", async () => {
  const lane = new Lane<Echo>(() => {
    throw new Error("forbidden");
  }, 50);
  const outcomes: unknown[] = [];
  lane.run(async (ask) => void outcomes.push(await ask("echo", "a")));
  await vi.advanceTimersByTimeAsync(0);
  expect(outcomes).toMatchObject([
    { failure: { kind: "internal", message: expect.stringContaining("forbidden") } },
  ]);
});

test("a request that takes too long fails, and the message says what to do", async () => {
  const { workers, outcomes, run, respond } = laneOf(50);
  run("a", 2);
  vi.advanceTimersByTime(2999);
  await respond(workers[0]);
  vi.advanceTimersByTime(2999); // each request has its own time
  expect(outcomes).toEqual(["a0"]);
  await vi.advanceTimersByTimeAsync(1);
  expect(outcomes[1]).toBe("a1!");
  expect(outcomes[2]).toContain("within 3 seconds");
  expect(outcomes[2]).toContain("command line");
  expect(workers[0]?.isTerminated).toBe(true);
  run("b");
  await respond(workers[1]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(outcomes.slice(3)).toEqual(["b0"]);
});

test("stopping ends the job that runs and drops the one that waits", async () => {
  const { lane, workers, outcomes, run } = laneOf(50);
  run("a");
  run("b");
  lane.stop();
  await vi.advanceTimersByTimeAsync(1000);
  expect(workers[0]?.isTerminated).toBe(true);
  expect(workers).toHaveLength(1);
  expect(outcomes).toEqual([]);
});
