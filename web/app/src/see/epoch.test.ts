import type { Epoch } from "@dpscope/wasm/studies";
import { expect, test } from "vitest";
import { consistent, initialState, type State } from "../state/fields";
import { ALL } from "../state/samplers";
import { claimedOf, drawingOf, membersOf, refusalText, refusedField } from "./epoch";

const stateOf = (part: Partial<State>): State => consistent({ ...initialState(), ...part });

test("samplers have their parameters, and no others", () => {
  const size = (see_sampler: State["see_sampler"], part: Partial<State> = {}) =>
    drawingOf(stateOf({ see_sampler, ...part })).size;
  const plain = { steps: 8, batch_size: 4, noise_multiplier: 0.6 };
  const own: Partial<Record<State["see_sampler"], object>> = {
    "truncated-poisson": { max_batch_size: 5 },
    "random-allocation": { uses_per_epoch: 2 },
    "partial-shuffle": { buffer_examples: 8 },
    "sliding-buffer": { buffer_examples: 8 },
  };
  for (const sampler of ALL) expect(size(sampler), sampler).toEqual({ ...plain, ...own[sampler] });
  expect(size("sliding-buffer", { see_buffer: 3 }).buffer_examples).toBe(3);
  expect(size("partial-shuffle", { see_batch: 2 }).buffer_examples).toBe(4);
  expect(size("shuffle", { see_dataset: 30 }).dataset_size).toBe(30);
});

test("batches of a dataset count each use of a record", () => {
  const steps = (part: Partial<State>) => stateOf({ see_dataset: 16, ...part }).see_steps;
  expect(steps({})).toBe(4);
  expect(steps({ see_sampler: "random-allocation", see_uses: 2 })).toBe(8);
  expect(steps({ see_uses: 2 })).toBe(4);
});

test("dropped records begin a new row below those that are kept", () => {
  const epoch = {
    batches: Uint32Array.of(0, 4, 2, 1),
    offsets: Uint32Array.of(0, 3, 4),
    dropped: Uint32Array.of(5, 0),
    dropped_offsets: Uint32Array.of(0, 1, 2),
  } as Epoch;
  const members = membersOf(epoch).map(({ record, batch, place, isDropped }) =>
    [record, batch, place, isDropped ? "dropped" : "kept"].join(" "),
  );
  expect(members).toEqual([
    "0 0 0 kept",
    "4 0 1 kept",
    "2 0 2 kept",
    "5 0 4 dropped",
    "1 1 0 kept",
    "0 1 2 dropped",
  ]);
});

test("a claim is about the batches that are drawn", () => {
  const of = (part: Partial<State>) => claimedOf(stateOf(part), 3);
  expect(of({ see_sampler: "random-allocation", see_uses: 4 }).setting.sampling_rate).toBe(0.5);
  expect(of({ see_sampler: "truncated-poisson" }).setting).toMatchObject({
    adjacency: "zero-out",
    truncation: { dataset_size: 32, max_batch_size: 5 },
  });
  const { setting } = of({});
  expect(setting).toMatchObject({ steps: 8, epochs: 1 });
  expect(setting).not.toHaveProperty("adjacency");
});

test("a refused input is shown at its field", () => {
  expect(refusedField("uses_per_epoch")).toBe("see_uses");
  expect(refusedField("noise_multiplier")).toBeUndefined();
  expect(refusedField(undefined)).toBeUndefined();
});

test("a refused input has the name of its field at the start of the message alone", () => {
  const text = (message: string) =>
    refusalText({ kind: "input", field: "batch_size", message }, "Records per batch");
  expect(text("batch_size = 0 lies outside 1..; pass a batch_size")).toBe(
    "Records per batch = 0 lies outside 1..; pass a batch_size.",
  );
  expect(text("max_batch_size = 3 is below batch_size = 4")).toBe(
    "max_batch_size = 3 is below batch_size = 4.",
  );
});
