/** Noisy sums in the browser's bundle are those of the program. */

import { readFileSync } from "node:fs";
import { initSync, type NoisySumSimulation, NoisySums } from "@dpscope/wasm/one_shot";
import { beforeAll, expect, test } from "vitest";
import native from "./one_shot.json" with { type: "json" };

beforeAll(() => {
  const wasm = new URL("../wasm/one_shot/dpscope_one_shot_bg.wasm", import.meta.url);
  initSync({ module: readFileSync(wasm) });
});

const ASKED: NoisySumSimulation = {
  noise_multiplier: 2,
  presentations: 4,
  canaries: 200,
  dimension: 1e6,
  delta: 1e-6,
  significance: 0.05,
  seed: "7",
};

function shown(asked: NoisySumSimulation) {
  const sum = new NoisySums(asked).simulated();
  const [any, independent, gaussian] = sum.rules;
  return {
    inserted: sum.canaries,
    epsilon: any?.epsilon,
    independent_epsilon: independent?.epsilon,
    independent_gdp_mu: gaussian?.gdp_mu,
    epsilon_by_gaussian_curve: gaussian?.epsilon,
    mean_estimate: sum.estimate?.epsilon,
    truth: sum.truth,
  };
}

test("bounds are those of the program to the bit", () => {
  for (const { asked, found } of native) expect(shown(asked)).toEqual(found);
});

test("another seed has other bounds", () => {
  const [first] = native;
  const asked = { ...ASKED, ...first?.asked, seed: "8" };
  expect(shown(asked)).not.toEqual(first?.found);
});

test("a sum has a bin for every canary", () => {
  const { bins, canaries } = new NoisySums(ASKED).simulated();
  expect(bins.reduce((total, bin) => total + bin.canaries, 0)).toBe(canaries);
});

test("bounds keep their level, and the published rule exceeds the truth", () => {
  // 200 runs at 5 %: at most 10 + 4 standard errors of 3.1
  const { runs, with_leak, without_leak } = new NoisySums(ASKED).runs(1, 200);
  expect(runs).toBe(200);
  for (const above of [with_leak, without_leak]) {
    const { any_mechanism, independent, gaussian } = above;
    expect(Math.max(any_mechanism, independent, gaussian)).toBeLessThanOrEqual(22);
  }
  expect(without_leak.published).toBeGreaterThan(100);
});

test("settings outside their domain are refused by name", () => {
  const refused = (part: Partial<NoisySumSimulation>) => {
    try {
      new NoisySums({ ...ASKED, ...part });
    } catch (failure) {
      return (failure as { message: string }).message;
    }
    return "";
  };
  expect(refused({ canaries: 1e6 })).toContain("canaries is 1000000");
  expect(refused({ dimension: 10 })).toContain("dimension");
  expect(refused({ noise_multiplier: 1e-3 })).toContain("noise multiplier is 0.0005");
});
