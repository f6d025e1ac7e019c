import { expect, test, vi } from "vitest";
import type { FakeWorker } from "../../../protocol/fake-worker";
import { initialState, type State } from "../state/fields";
import { AuditSession } from "./session";

const coordinators = vi.hoisted(() => [] as FakeWorker[]);

vi.mock("../workers/spawn", async () => {
  const { FakeWorker } = await import("../../../protocol/fake-worker");
  const auditWorker = () => {
    const worker = new FakeWorker();
    coordinators.push(worker);
    return worker;
  };
  return { auditWorker, countWorker: () => new FakeWorker() };
});

function opened() {
  coordinators.length = 0;
  vi.stubGlobal("navigator", { hardwareConcurrency: 16 });
  const session = new AuditSession(() => undefined);
  const calibrate = (part: Partial<State>) => session.calibrate({ ...initialState(), ...part });
  const running = () => coordinators.map(({ isTerminated }) => !isTerminated);
  return { calibrate, running };
}

test("one calibration runs at a time, and one that was cancelled is repeated", () => {
  const { calibrate, running } = opened();
  calibrate({ device: "cpu", workers: 1 });
  calibrate({ device: "cpu", workers: 12 });
  expect(running()).toEqual([false, true]);
  calibrate({ device: "cpu", workers: 12 });
  expect(running()).toEqual([false, true]);
  calibrate({ device: "cpu", workers: 1 });
  expect(running()).toEqual([false, false, true]);
});

test("the number of CPU workers does not matter on a GPU", () => {
  const { calibrate, running } = opened();
  calibrate({ device: "gpu", workers: 1 });
  calibrate({ device: "gpu", workers: 12 });
  expect(running()).toEqual([true]);
});
