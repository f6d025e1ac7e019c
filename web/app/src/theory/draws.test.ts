import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { initSync, pair, pair_estimate } from "@dpscope/wasm/studies";
import { expect, test } from "vitest";
import { plannedDraws } from "./draws";

const file = new URL("../../../wasm/studies/dpscope_studies_bg.wasm", import.meta.url);
initSync({ module: readFileSync(fileURLToPath(file)) });

test("the number of draws of an estimate is that of the bundle", () => {
  const setting = { noise_multiplier: 1, steps: 100, epochs: 2 };
  const at = { delta: 1e-5 };
  const planned = plannedDraws(setting.steps, setting.epochs) ?? 0;
  const { estimate } = pair(setting, at, 0, "1", 0.05);
  expect(pair_estimate(setting, at, planned, "1").estimate).toEqual(estimate);
  expect(pair_estimate(setting, at, planned - 100, "1").estimate).not.toEqual(estimate);
}, 60_000);
