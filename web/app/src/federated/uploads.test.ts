import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeWorker } from "../../../protocol/fake-worker";
import { initialState } from "../state/fields";
import { CosinesSession } from "./uploads";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const state = { ...initialState(), fed_parameters: 1000, fed_claim: 2 };
const cosines = () => new File(["0.1\n0.2\n"], "cosines.csv");

function sessionOf() {
  const workers: FakeWorker[] = [];
  const session = new CosinesSession(
    () => {
      workers.push(new FakeWorker());
      return workers.at(-1) as FakeWorker;
    },
    () => undefined,
  );
  session.show(state);
  return { session, workers };
}

test("files are audited with the settings, and anew when these change", async () => {
  const { session, workers } = sessionOf();
  expect(session.waitsFor).toContain("appear here");
  await session.add([cosines()]);
  expect(session.isBusy).toBe(true);
  const { name, args } = workers[0]?.requests[0] ?? {};
  expect(name).toBe("audit_federated");
  expect(args?.slice(0, 2)).toEqual([["cosines"], ["cosines.csv"]]);
  const { delta, significance } = state;
  const stated = { delta, significance, dimension: 1000, claim: 2 };
  expect(args?.[3]).toEqual({ ...stated, attacker: "final_model" });
  session.show({ ...state, steps: 7 });
  expect(workers).toHaveLength(1);
  session.show({ ...state, run_number: "poisson", run_mean: 30 });
  await vi.advanceTimersByTimeAsync(0);
  expect(workers[1]?.requests[0]?.args[3]).toEqual({
    ...stated,
    attacker: "final_model",
    mean: 30,
  });
});

test("a control client is stated with its cosine", async () => {
  const { session, workers } = sessionOf();
  await session.add([cosines()]);
  session.show({ ...state, fed_control: "included" });
  expect(session.isBusy).toBe(false);
  expect(session.waitsFor).toContain("cosine of the control client");
  session.show({ ...state, fed_control: "included", fed_control_cosine: 0.2 });
  await vi.advanceTimersByTimeAsync(0);
  expect(workers.at(-1)?.requests[0]?.args[3]).toMatchObject({
    control_included: true,
    control_cosine: 0.2,
  });
});

test("a cancelled audit ends its worker, and can be started again", async () => {
  const { session, workers } = sessionOf();
  await session.add([cosines()]);
  session.cancel();
  expect(workers[0]?.isTerminated).toBe(true);
  expect([session.isBusy, session.isCancelled]).toEqual([false, true]);
  session.audit();
  expect([session.isBusy, session.isCancelled]).toEqual([true, false]);
  expect(workers[1]?.requests).toHaveLength(1);
});
