// `node calculators/agreement/values.js DPSCOPE`: asks the program DPSCOPE for what the calculators
// must answer, and writes it to values.json.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";

const [dpscope] = process.argv.slice(2);
if (!dpscope) throw new Error("name the program: node calculators/agreement/values.js DPSCOPE");

/** @typedef {{ what: string, epsilon: number }} Row */

/** @type {Record<string, (report: any) => object>} */
const EXPECTED = {
  compare({ rows }) {
    const of = (/** @type {string} */ name) =>
      rows.find((/** @type {Row} */ { what }) => what === name)?.epsilon;
    const lower = Math.max(of("shuffle_max_slice") ?? 0, of("shuffle_sum") ?? 0);
    return { claimed: of("poisson"), lower, upper: of("deterministic") };
  },
  bound({ subject, kind, epsilon }) {
    return { [subject === "poisson" ? "claimed" : kind]: epsilon };
  },
  calibrate({ noise_multiplier, epsilon, poisson }) {
    return { noise_multiplier, epsilon, ...(poisson && { poisson }) };
  },
  audit({ result: { epsilon, fpr_upper, fnr_upper, gdp_mu, ceiling, direction } }) {
    return { epsilon, fpr_upper, fnr_upper, gdp_mu, ceiling, direction };
  },
  plan({ target, rows }) {
    return {
      observations_for_ceiling: target.observations_for_ceiling,
      rows: rows.map((/** @type {any} */ { observations, ceiling }) => ({ observations, ceiling })),
    };
  },
};

const noise = (noise_multiplier, steps, epochs = 1, delta = 1e-5) => ({
  noise_multiplier,
  steps,
  epochs,
  delta,
});
const of = (training) => {
  const { noise_multiplier, steps, epochs, delta } = training;
  const repeated = epochs === 1 ? "" : ` --epochs ${epochs}`;
  return `--noise-multiplier ${noise_multiplier} --steps ${steps}${repeated} --delta ${shown(delta)}`;
};
const shown = (value) => (value < 1e-3 ? value.toExponential() : String(value));

/** @type {[calculator: string, settings: object, command: string][]} */
const questions = [];
for (const training of [
  noise(1, 100),
  noise(0.5, 20, 3),
  noise(2.5, 1000, 10, 1e-6),
  noise(0.7, 10000, 1, 1e-8),
]) {
  const options = of(training);
  questions.push(["epsilon", { sampler: "shuffle", ...training }, `dpscope compare ${options}`]);
  questions.push(["shuffle-gap", training, `dpscope compare ${options}`]);
  for (const sampler of ["poisson", "balls-in-bins", "deterministic"]) {
    questions.push(["epsilon", { sampler, ...training }, `dpscope bound ${sampler} ${options}`]);
  }
  const once = `dpscope bound persistent-shuffle --side lower ${options}`;
  questions.push(["epsilon", { sampler: "persistent-shuffle", ...training }, once]);
}
for (const sampler of ["poisson", "shuffle", "persistent-shuffle"]) {
  for (const [epsilon, steps, epochs, delta] of [
    [4, 100, 1, 1e-5],
    [0.5, 50, 10, 1e-7],
    [12, 1000, 3, 0.01],
  ]) {
    const repeated = epochs === 1 ? "" : ` --epochs ${epochs}`;
    questions.push([
      "noise",
      { sampler, epsilon, delta, steps, epochs },
      `dpscope calibrate noise --sampler ${sampler} --epsilon ${epsilon} --delta ${shown(delta)} --steps ${steps}${repeated}`,
    ]);
  }
}
for (const [fp, zero, fn, target, delta, significance] of [
  [12, 1000, 480, 1000, 1e-5, 0.05],
  [0, 1e6, 400000, 1e6, 1e-6, 0.01],
  [700, 800, 3, 900, 1e-5, 0.05],
  [0, 10, 10, 10, 1e-5, 0.05],
]) {
  questions.push([
    "counts",
    {
      false_positives: fp,
      zero_out_trials: zero,
      false_negatives: fn,
      target_trials: target,
      delta,
      significance,
    },
    `dpscope audit counts --false-positives ${fp} --zero-out-trials ${zero} --false-negatives ${fn} --target-trials ${target} --delta ${shown(delta)} --significance ${significance}`,
  ]);
}
for (const [epsilon, delta, significance, threshold_rule] of [
  [9, 1e-5, 0.05, "simultaneous"],
  [2, 1e-6, 0.01, "split"],
  [20, 1e-9, 0.001, "simultaneous"],
]) {
  questions.push([
    "plan",
    { epsilon, delta, significance, threshold_rule },
    `dpscope plan --epsilon ${epsilon} --delta ${shown(delta)} --significance ${significance} --threshold-rule ${threshold_rule}`,
  ]);
}

const values = questions.map(([calculator, settings, command]) => {
  const options = [...command.split(" ").slice(1), "--json"];
  const report = JSON.parse(execFileSync(dpscope, options, { encoding: "utf8" }));
  const expected = EXPECTED[options[0] ?? ""]?.(report);
  return { calculator, command, settings, expected };
});
const lines = values.map((value) => `  ${JSON.stringify(value)}`);
writeFileSync(new URL("values.json", import.meta.url), `[\n${lines.join(",\n")}\n]\n`);
