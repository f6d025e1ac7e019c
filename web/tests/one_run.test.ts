/** Audits of one run in the browser's bundle are those of the program. */

import { readFileSync } from "node:fs";
import {
  audit_one_run,
  initSync,
  type OneRunOptions,
  one_run_simulated,
  type RunSimulation,
} from "@dpscope/wasm/one_run";
import { beforeAll, expect, test } from "vitest";
import native from "./one_run.json" with { type: "json" };

beforeAll(() => {
  const wasm = new URL("../wasm/one_run/dpscope_one_run_bg.wasm", import.meta.url);
  initSync({ module: readFileSync(wasm) });
});

function audited(options: OneRunOptions) {
  const names = ["one_run_scores.csv", "one_run_coins.csv"];
  const contents = names.map((name) => readFileSync(new URL(`files/${name}`, import.meta.url)));
  return audit_one_run(["scores", "coins"], names, contents, options);
}

test("reports are those of the program to the bit", () => {
  for (const { options, report } of native) {
    const { elapsed_ms: _, input, ...found } = audited(options as OneRunOptions).report;
    expect(found).toEqual(report);
    expect(input).toMatchObject({ scores: "one_run_scores.csv" });
  }
});

test("another significance is another report", () => {
  const [first] = native;
  const options = { ...(first?.options as OneRunOptions), significance: 0.01 };
  expect(audited(options).report.bounds).not.toEqual(first?.report.bounds);
});

test("the text is the program's, with the verdict", () => {
  const { text } = audited({ delta: 1e-5, significance: 0.05, claim: 0.2 });
  expect(text).toContain("claim ε = 0.2 at δ = 1e-5: REFUTED");
  expect(text).toContain("601 canaries, each included or not by a fair coin");
});

const ASKED: RunSimulation = {
  canaries: 1000,
  guesses: 60,
  mu: 1,
  delta: 1e-5,
  significance: 0.05,
  seed: "1",
};

test("a run has a ranking, and the largest value exceeds every bound of a fixed number", () => {
  const run = one_run_simulated(ASKED);
  expect(run.ranking).toHaveLength(1000);
  const correct = run.ranking.slice(0, 60).reduce((sum, right) => sum + right, 0);
  expect(correct).toBe(run.fixed.correct);
  expect(run.largest.epsilon).toBe(Math.max(...run.path.map((step) => step.epsilon)));
  expect(one_run_simulated(ASKED)).toEqual(run);
});
