import { readFileSync } from "node:fs";
import { initSync, one_run_simulated, type RunSimulation } from "@dpscope/wasm/studies";
import { beforeAll, expect, test } from "vitest";

beforeAll(() => {
  const wasm = new URL("../wasm/studies/dpscope_studies_bg.wasm", import.meta.url);
  initSync({ module: readFileSync(wasm) });
});

const ONE_RUN: RunSimulation = {
  canaries: 1000,
  guesses: 60,
  mu: 1,
  delta: 1e-5,
  significance: 0.05,
  seed: "1",
};

test("a run has a ranking, and the largest value exceeds every bound of a fixed number", () => {
  const run = one_run_simulated(ONE_RUN);
  expect(run.ranking).toHaveLength(1000);
  const correct = run.ranking.slice(0, 60).reduce((sum, right) => sum + right, 0);
  expect(correct).toBe(run.fixed.correct);
  expect(run.largest.epsilon).toBe(Math.max(...run.path.map((step) => step.epsilon)));
  expect(one_run_simulated(ONE_RUN)).toEqual(run);
});
