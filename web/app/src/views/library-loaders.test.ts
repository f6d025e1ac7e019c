import { describe, expect, it } from "vitest";
import rows from "../../../numbers/loaders.json";
import { samplers } from "../../../numbers/words.json";
import type { App } from "../app";
import { byName } from "./library-loaders";

/** What choosing a loader by its name changes, and whether it is one. */
function choose(name: string): { changes: unknown[]; isKnown: boolean } {
  const changes: unknown[] = [];
  const app = { change: (part: unknown) => changes.push(part), redraw: () => {} };
  return { isKnown: byName(app as unknown as App).chosen(name), changes };
}

describe("loaders of libraries", () => {
  it("select the sampler of their batches", () => {
    expect(choose("torch.utils.data.DataLoader(shuffle=True)")).toEqual({
      isKnown: true,
      changes: [{ check_loader: "shuffle" }],
    });
  });

  it("leave the sampler as it is where no sampler describes them", () => {
    const name = "torch.utils.data.RandomSampler(replacement=True)";
    expect(choose(name)).toEqual({ isKnown: true, changes: [] });
  });

  it("select truncated batches", () => {
    const name = "jax_privacy.batch_selection.CyclicPoissonSampling(truncated_batch_size=B)";
    expect(choose(name).changes).toEqual([{ check_loader: "truncated-poisson" }]);
  });

  it("differ from samplers", () => {
    for (const sampler of Object.keys(samplers)) expect(choose(sampler).isKnown).toBe(false);
  });

  it("have batches that the program knows", () => {
    const known = [...Object.keys(samplers), "with-replacement", "once-per-epoch", "unknown"];
    expect(rows.length).toBeGreaterThan(30);
    expect(rows.filter(({ batches }) => !known.includes(batches))).toEqual([]);
  });
});
