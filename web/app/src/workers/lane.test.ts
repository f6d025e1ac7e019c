import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeWorker } from "./fake-worker";
import { Lane } from "./lane";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function laneOf(patience: number) {
  const workers: FakeWorker[] = [];
  const spawn = () => {
    workers.push(new FakeWorker());
    return workers.at(-1) as FakeWorker;
  };
  const lane = new Lane(spawn, patience, 3000);
  const told: string[] = [];
  const job = (name: string, calls = 1) => ({
    calls: Array.from({ length: calls }, () => ({ name, args: [] })),
    answered: (index: number, answer: object) => {
      told.push(`${name}${index}${"failure" in answer ? "!" : ""}`);
      return true;
    },
  });
  const answer = (worker: FakeWorker | undefined) =>
    worker?.tell({ id: worker.asked.at(-1)?.id ?? 0, value: 1 });
  return { lane, workers, told, job, answer };
}

test("calls of a job are made one after the other", () => {
  const { lane, workers, told, job, answer } = laneOf(50);
  lane.run(job("a", 2));
  expect(workers[0]?.asked).toHaveLength(1);
  answer(workers[0]);
  answer(workers[0]);
  expect(told).toEqual(["a0", "a1"]);
  expect(lane.isBusy).toBe(false);
});

test("of the jobs that wait only the newest is done", () => {
  const { lane, workers, told, job, answer } = laneOf(50);
  lane.run(job("a"));
  lane.run(job("b"));
  lane.run(job("c"));
  answer(workers[0]);
  answer(workers[0]);
  expect(told).toEqual(["a0", "c0"]);
  expect(workers).toHaveLength(1);
});

test("a job that takes too long is ended for the next, and its late answer is not heard", () => {
  const { lane, workers, told, job, answer } = laneOf(50);
  lane.run(job("slow"));
  lane.run(job("next"));
  vi.advanceTimersByTime(49);
  expect(workers[0]?.isEnded).toBe(false);
  vi.advanceTimersByTime(1);
  expect(workers[0]?.isEnded).toBe(true);
  workers[0]?.onmessage?.({ data: { id: 1, value: 1 } } as MessageEvent);
  answer(workers[1]);
  expect(told).toEqual(["next0"]);
});

test("a job that has had its time is ended at once", () => {
  const { lane, workers, told, job, answer } = laneOf(50);
  lane.run(job("slow"));
  vi.advanceTimersByTime(40);
  lane.run(job("next"));
  vi.advanceTimersByTime(9);
  expect(workers[0]?.isEnded).toBe(false);
  vi.advanceTimersByTime(1);
  expect(workers[0]?.isEnded).toBe(true);
  vi.advanceTimersByTime(1000);
  lane.run(job("last"));
  vi.advanceTimersByTime(0);
  expect(workers[1]?.isEnded).toBe(true);
  answer(workers[2]);
  expect(told).toEqual(["last0"]);
});

test("the first job takes the worker that was loaded before it", () => {
  const { lane, workers, told, job, answer } = laneOf(50);
  lane.warm();
  lane.warm();
  lane.run(job("a"));
  answer(workers[0]);
  expect(told).toEqual(["a0"]);
  expect(workers).toHaveLength(1);
});

test("a worker that breaks fails its job, and the next has a new worker", () => {
  const { lane, workers, told, job, answer } = laneOf(50);
  lane.run(job("a", 3));
  workers[0]?.crash("out of memory");
  expect(told).toEqual(["a0!"]);
  lane.run(job("b"));
  answer(workers[1]);
  expect(told).toEqual(["a0!", "b0"]);
});

test("a call that takes too long fails with its job, and says what to do", () => {
  const { lane, workers, told, job, answer } = laneOf(50);
  const messages: string[] = [];
  lane.run({
    calls: [
      { name: "quick", args: [] },
      { name: "slow", args: [] },
    ],
    answered: (index, answer) => {
      messages.push("failure" in answer ? answer.failure.message : `${index}`);
      return true;
    },
  });
  vi.advanceTimersByTime(2999);
  answer(workers[0]);
  vi.advanceTimersByTime(2999); // each call has its own time
  expect(messages).toEqual(["0"]);
  vi.advanceTimersByTime(1);
  expect(messages[1]).toContain("Not done within 3 seconds");
  expect(messages[1]).toContain("command line");
  expect(workers[0]?.isEnded).toBe(true);
  lane.run(job("b"));
  answer(workers[1]);
  expect(told).toEqual(["b0"]);
  vi.advanceTimersByTime(10_000);
  expect(told).toEqual(["b0"]);
});

test("stopping ends what runs and forgets what waits", () => {
  const { lane, workers, told, job } = laneOf(50);
  lane.run(job("a"));
  lane.run(job("b"));
  lane.stop();
  vi.advanceTimersByTime(1000);
  expect(workers[0]?.isEnded).toBe(true);
  expect(workers).toHaveLength(1);
  expect(told).toEqual([]);
});
