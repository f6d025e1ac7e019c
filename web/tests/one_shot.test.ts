/** Simulations of canaries in the browser's bundle; noisy sums are those of the program. */

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
