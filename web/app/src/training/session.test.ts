import { expect, test, vi } from "vitest";
import { FakeWorker } from "../../../protocol/fake-worker";
import { DroppedFiles } from "../files/dropped";
import { consistent, initialState, type State } from "../state/fields";
import { storageOf } from "./fake-storage";
import { dataRoleOf } from "./files";
import { TWO_WORLDS } from "./protocols";
import { TrainingSession } from "./session";

const stateOf = (part: Partial<State>): State => consistent({ ...initialState(), ...part });

/** A session whose settings are all accepted, and its workers. */
function opened() {
  const theory = new FakeWorker(() => ({ epsilon: 2, kind: "upper" }));
  const counters: FakeWorker[] = [];
  const counter = () => {
    const worker = new FakeWorker(({ name }) => (name === "overview" ? {} : undefined));
    counters.push(worker);
    return worker;
  };
  const protocol = { ...TWO_WORLDS, counter, coordinator: () => new FakeWorker() };
  const session = new TrainingSession(protocol, {
    theory: () => theory,
    cores: 8,
    storage: storageOf().storage,
    version: "1",
    files: new DroppedFiles(dataRoleOf, () => false),
    optimisation: { canaries: undefined },
    pauseAll: () => undefined,
    changed: () => undefined,
  });
  return { session, theory, counters };
}

test("the claim has the rate at which batches contain a record", async () => {
  const claimedRate = async (part: Partial<State>) => {
    const { session, theory } = opened();
    session.start(stateOf({ train_steps: 100, ...part }));
    await vi.waitFor(() => expect(session.claim).toBe(2));
    session.run?.cancel();
    const [bound, training] = theory.requests[0]?.args ?? [];
    expect(bound).toBe("poisson");
    expect(training).toMatchObject({ steps: 100, epochs: 1 });
    return (training as { sampling_rate?: number }).sampling_rate;
  };
  expect(await claimedRate({ train_sampler: "random-allocation", train_uses: 10 })).toBe(0.1);
  // 1/T
  expect(await claimedRate({ train_sampler: "shuffle", train_uses: 10 })).toBeUndefined();
});

test("workers that are no longer needed are terminated", async () => {
  const { session, counters } = opened();
  const warm = () => counters.filter(({ isTerminated }) => !isTerminated).length - 1; // one checks
  await session.accepts(() => stateOf({ workers: 5 }));
  expect(warm()).toBe(6);
  await session.accepts(() => stateOf({ workers: 2, train_steps: 30 }));
  expect(warm()).toBe(3);
});
