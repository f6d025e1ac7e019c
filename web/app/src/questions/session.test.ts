import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeWorker } from "../../../protocol/fake-worker";
import type { Response } from "../../../protocol/protocol";
import { initialState } from "../state/fields";
import type { Command, Given } from "../state/given";
import type { SentCommand } from "../workers/sent-files";
import { UNKNOWN, UNUSED } from "./roles";
import { QuestionSession } from "./session";
import { questionOf } from "./table";

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
  return {
    session,
    workers,
    asked: () => workers.at(-1)?.requests.at(-1)?.args[0] as SentCommand | undefined,
  };
}

test("the program is asked with the words of the command, and anew when they change", async () => {
  const { session, workers, asked } = sessionOf("federated");
  await session.add([file("cosines.csv")]);
  const words = ["audit", "federated", "--cosines", "cosines.csv"];
  expect(asked()).toMatchObject({ words, names: ["cosines.csv"] });
  session.show(giving({ "scores.claim": "2" }));
  expect(workers).toHaveLength(1);
  session.show(giving({ "federated.dimension": "1e5" }));
  await vi.advanceTimersByTimeAsync(0);
  expect(workers).toHaveLength(2);
  expect(asked()?.words).toEqual([...words, "--dimension", "1e5"]);
});

test("a file that is not recognised waits until its reader says what it contains", async () => {
  const { session, workers, asked } = sessionOf("scores");
  await session.add([file("in.csv"), file("zero-out.csv")]);
  expect(session.waitsFor).toBe("Now select what in.csv contains");
  expect(workers).toHaveLength(0);
  const [unknown] = session.files.list;
  if (unknown !== undefined) session.assign(unknown, "target");
  expect(session.waitsFor).toBeUndefined();
  expect(asked()?.names).toEqual(["in.csv", "zero-out.csv"]);
  await session.add([file("in.csv")]);
  expect(session.waitsFor).toBeUndefined();
});

test("one file is sent once for all that it contains", async () => {
  const { session, asked } = sessionOf("scores");
  await session.add([file("target.csv")]);
  await session.take(file("both.npz"), "target+zero_out");
  expect([asked()?.words, asked()?.names]).toEqual([
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

test("a refused form is not complete until there was an answer, a refused file is a failure", async () => {
  const { session, workers } = sessionOf("one-run");
  const respond = async (response: object) => {
    session.audit();
    const id = workers.at(-1)?.requests.at(-1)?.id ?? 0;
    workers.at(-1)?.respond({ id, ...response } as Response);
    await vi.advanceTimersByTimeAsync(0);
    return session.isIncomplete;
  };
  await session.add([file("scores.csv")]);
  expect(await respond({ failure: { kind: "file", message: "scores.csv: row 2" } })).toBe(false);
  expect(await respond({ failure: { kind: "input", message: "--coins" } })).toBe(true);
  expect(await respond({ value: {} })).toBe(false);
  expect(await respond({ failure: { kind: "input", message: "--coins" } })).toBe(false);
});

test("a plan that was audited is known, until another plan is added", async () => {
  const { session, workers, asked } = sessionOf("one-run");
  const recordSent = () => {
    const { names, contents } = asked() as SentCommand;
    const at = names.indexOf("plan/audited.txt");
    return at < 0 ? undefined : new TextDecoder().decode(contents[at]);
  };
  const respond = async (audited?: string) => {
    const id = workers.at(-1)?.requests.at(-1)?.id ?? 0;
    workers.at(-1)?.respond({ id, value: audited === undefined ? {} : { audited } });
    await vi.advanceTimersByTimeAsync(0);
  };
  await session.add([file("plan.json"), file("seed.secret"), file("scores.npy")]);
  expect(recordSent()).toBeUndefined();
  await respond("digest of the first scores");
  expect(session.recorded).toBe("digest of the first scores");

  await session.add([new File(["0.3\n"], "scores.npy")]);
  expect(recordSent()).toBe("digest of the first scores");
  await respond();
  expect(session.recorded).toBe("digest of the first scores");

  await session.add([new File(["saved"], "audited.txt")]);
  expect(recordSent()).toBe("saved");
  expect(session.recorded).toBeUndefined();
  await respond("saved\nand a further run");
  expect(session.recorded).toBe("saved\nand a further run");
  session.audit();
  expect(recordSent()).toBe("saved\nand a further run");
  await respond();
  const own = session.files.list.find(({ name }) => name === "audited.txt");
  if (own !== undefined) session.remove(own);
  expect(recordSent()).toBe("saved\nand a further run");
  await respond();

  await session.add([new File(["another plan"], "plan.json")]);
  expect(recordSent()).toBeUndefined();
});

test("an option of one file has the file that its reader selected last", async () => {
  const { session } = sessionOf("scores");
  await session.add([file("target.csv"), file("in.csv"), file("zero-out.csv"), file("notes.md")]);
  const [first, second] = session.files.list;
  if (second !== undefined) session.assign(second, "target");
  expect([first?.role, second?.role]).toEqual([UNKNOWN, "target"]);
  expect(session.waitsFor).toBe("Now select what target.csv contains");
});

test("files that are not used are not sent, and wait for nobody", async () => {
  const { session, asked } = sessionOf("one-run");
  const huge = file("notes.md");
  Object.defineProperty(huge, "size", { value: 2 ** 30 });
  await session.add([file("canaries.csv"), huge, file("scores.npy")]);
  await session.add([file("plan.json")]);
  expect(session.files.list.map(({ role }) => role)).toEqual([UNUSED, UNUSED, "scores", "plan"]);
  expect(asked()?.names).toEqual(["plan/plan.json", "scores.npy"]);
  const [canaries] = session.files.list;
  if (canaries !== undefined) session.assign(canaries, "canaries");
  await session.add([file("seed.secret")]);
  expect(session.files.list[0]?.role).toBe("canaries");
});

test("less usual options are shown when a link gives one of them", () => {
  const { session } = sessionOf("scores");
  const [one, other] = questionOf("scores").options;
  if (one === undefined || other === undefined) throw new Error("no options");
  session.open([]);
  expect(session.isOpen).toBe(false);
  session.open([one]);
  expect(session.isOpen).toBe(true);
  session.isOpen = false;
  session.open([one]);
  expect(session.isOpen).toBe(false);
  session.open([one, other]);
  expect(session.isOpen).toBe(true);
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
