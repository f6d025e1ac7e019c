import { expect, test, vi } from "vitest";
import { FakeWorker, NO_RESPONSE } from "../../../protocol/fake-worker";
import type { Request } from "../../../protocol/protocol";
import type { SentCommand } from "../workers/sent-files";
import { storageOf } from "./fake-storage";
import { CanaryOptimisation } from "./optimisation";
import type { CanaryOptimizationQuestion } from "./question";

const ASKED = { metasteps: 3 } as CanaryOptimizationQuestion;
const REFUSED = { metasteps: 0 } as CanaryOptimizationQuestion;
const FILES = { data: { name: "mine.csv", bytes: new Uint8Array([1, 2]) } };
const SENT = { names: ["mine.csv"], contents: [FILES.data.bytes] };
const isRefused = ({ words }: SentCommand) => words[words.indexOf("--metasteps") + 1] === "0";

/** Optimisations of one browser, whose workers respond to this many steps. */
function browser() {
  const { storage } = storageOf();
  const workers: FakeWorker[] = [];
  const visit = { responds: 1 };
  const spawn = () => {
    let metasteps = 0;
    const worker = new FakeWorker(({ name, args }: Request) => {
      if (name === "open" && isRefused(args[0] as SentCommand))
        throw { kind: "input", message: "refused" };
      if (name === "open") return { features: 1, range: [0, 1], shown: new Float32Array(1) };
      if (name === "to_bytes") return new Uint8Array([metasteps]);
      if (name === "file") return new Uint8Array(1);
      if (metasteps === visit.responds) return NO_RESPONSE;
      metasteps += 1;
      const step = { metasteps, auc: null, objective: 0, is_finished: metasteps === 3 };
      return { step, shown: new Float32Array(1) };
    });
    workers.push(worker);
    return worker;
  };
  const open = () =>
    new CanaryOptimisation({ storage, spawn, version: "1", changed: () => undefined });
  return { open, workers, visit };
}

/** Cancelled after its first step. */
async function interrupted({
  open,
  workers,
}: ReturnType<typeof browser>): Promise<CanaryOptimisation> {
  const optimisation = open();
  void optimisation.start(ASKED, FILES);
  const steps = () => workers[0]?.requests.filter(({ name }) => name === "step");
  await vi.waitFor(() => expect(steps()).toHaveLength(2));
  optimisation.cancel();
  expect(optimisation.continuesAfter).toBe(1);
  return optimisation;
}

test("settings that are refused leave the interrupted optimisation, with its files", async () => {
  const here = browser();
  const optimisation = await interrupted(here);
  await optimisation.start(REFUSED, undefined);
  expect(optimisation).toMatchObject({ phase: "failed", failure: "refused", continuesAfter: 1 });
  void optimisation.resume();
  await vi.waitFor(() => expect(here.workers).toHaveLength(3));
  const [command, state] = here.workers[2]?.requests[0]?.args ?? [];
  expect(command).toMatchObject(SENT);
  expect(state).toEqual(new Uint8Array([1]));
  optimisation.cancel();
});

test("an interrupted optimisation is found in the next visit with its files", async () => {
  const here = browser();
  await interrupted(here);
  const next = here.open();
  await vi.waitFor(() => expect(next.phase).toBe("interrupted"));
  void next.resume();
  await vi.waitFor(() => expect(here.workers).toHaveLength(2));
  expect(here.workers[1]?.requests[0]?.args[0]).toMatchObject(SENT);
  next.cancel();
});

test("one that is completed replaces the interrupted one", async () => {
  const here = browser();
  const optimisation = await interrupted(here);
  here.visit.responds = 3;
  await optimisation.start(ASKED, undefined);
  expect(optimisation).toMatchObject({ phase: "done", continuesAfter: undefined });
  const next = here.open();
  await vi.waitFor(() => expect(next.phase).toBe("done"));
  expect(next.continuesAfter).toBeUndefined();
});
