import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeWorker } from "../../../protocol/fake-worker";
import { initialState } from "../state/fields";
import type { Command, Given } from "../state/given";
import { QuestionSession } from "./session";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const file = (name: string) => new File(["0.1\n0.2\n"], name);
const giving = (given: Given) => ({ ...initialState(), given });

function sessionOf(command: Command) {
  const workers: FakeWorker[] = [];
  const spawn = () => {
    workers.push(new FakeWorker());
    return workers.at(-1) as FakeWorker;
  };
  const session = new QuestionSession(command, spawn, () => undefined);
  session.show(initialState());
  return { session, workers, asked: () => workers.at(-1)?.requests.at(-1)?.args };
}

test("the program is asked with the words of the command, and anew when they change", async () => {
  const { session, workers, asked } = sessionOf("federated");
  await session.add([file("cosines.csv")]);
  const words = ["audit", "federated", "--cosines", "cosines.csv"];
  expect(asked()?.slice(0, 2)).toEqual([words, ["cosines.csv"]]);
  session.show(giving({ "scores.claim": "2" }));
  expect(workers).toHaveLength(1);
  session.show(giving({ "federated.dimension": "1e5" }));
  await vi.advanceTimersByTimeAsync(0);
  expect(workers).toHaveLength(2);
  expect(asked()?.[0]).toEqual([...words, "--dimension", "1e5"]);
});

test("a file that is not recognised waits until its reader says what it contains", async () => {
  const { session, workers, asked } = sessionOf("scores");
  await session.add([file("in.csv"), file("zero-out.csv")]);
  expect(session.waitsFor).toBe("Now select what in.csv contains");
  expect(workers).toHaveLength(0);
  const [unknown] = session.files.list;
  if (unknown !== undefined) session.assign(unknown, "target");
  expect(session.waitsFor).toBeUndefined();
  expect(asked()?.[1]).toEqual(["in.csv", "zero-out.csv"]);
  await session.add([file("in.csv")]);
  expect(session.waitsFor).toBeUndefined();
});

test("one file is sent once for all that it contains", async () => {
  const { session, asked } = sessionOf("scores");
  await session.add([file("target.csv")]);
  await session.take(file("both.npz"), "target+zero_out");
  expect(asked()?.slice(0, 2)).toEqual([
    ["audit", "scores", "--target", "both.npz", "--zero-out", "both.npz"],
    ["both.npz"],
  ]);
});

test("a file that is too large is left to the program, whose command names it", async () => {
  const { session, workers } = sessionOf("federated");
  const huge = file("cosines.csv");
  Object.defineProperty(huge, "size", { value: 2 ** 30 });
  await session.add([huge]);
  expect(session.files.list[0]?.refused).toContain("64 MiB");
  expect(workers).toHaveLength(0);
  expect(session.asking.words).toContain("cosines.csv");
});

test("a failure names the fields of the form", async () => {
  const { session, workers } = sessionOf("one-run");
  await session.add([file("scores.csv")]);
  const failure = { kind: "input", message: "--set-size is 1" } as const;
  workers[0]?.respond({ id: 1, failure });
  await vi.advanceTimersByTimeAsync(0);
  expect([session.isBusy, session.failure]).toEqual([false, "Set size is 1"]);
});

test("a cancelled audit ends its worker, and can be started again", async () => {
  const { session, workers } = sessionOf("one-run");
  await session.add([file("scores.csv")]);
  session.cancel();
  expect(workers[0]?.isTerminated).toBe(true);
  expect([session.isBusy, session.isCancelled]).toEqual([false, true]);
  session.audit();
  expect([session.isBusy, session.isCancelled]).toEqual([true, false]);
  expect(workers[1]?.requests).toHaveLength(1);
});
