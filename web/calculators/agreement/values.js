// `node calculators/agreement/values.js DPSCOPE`: writes the results of the program DPSCOPE, which the
// calculators must match, to values.json.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const [dpscope] = process.argv.slice(2);
if (!dpscope) throw new Error("name the program: node calculators/agreement/values.js DPSCOPE");

const WORDS = new URL("../../numbers/words.json", import.meta.url);
const { samplers } = JSON.parse(readFileSync(WORDS, "utf8"));
const withParameter = (/** @type {string} */ parameter) =>
  Object.keys(samplers).find((name) => samplers[name].parameter === parameter) ?? "";
const [ALLOCATED, TRUNCATED] = [withParameter("uses_per_epoch"), withParameter("max_batch_size")];

/** @typedef {{ what: string, epsilon: number }} Row */

/** @type {Record<string, (report: any) => object>} */
const EXPECTED = {
  compare({ rows }) {
    const of = (/** @type {string} */ name) =>
      rows.find((/** @type {Row} */ { what }) => what === name)?.epsilon;
    const lower = Math.max(of("shuffle_max_slice") ?? 0, of("shuffle_sum") ?? 0);
    return { claimed: of("poisson"), lower, upper: of("deterministic") };
  },
  bound({ subject, kind, epsilon, composed, moments, unanimous, strategies }) {
    if (strategies !== undefined) {
      const proven = (/** @type {any} */ { strategy, value }) => ({ strategy, value });
      return { strategies: strategies.map(proven) };
    }
    if (composed !== undefined) return { composed, moments, unanimous }; // of votes
    return { [subject === "poisson" ? "claimed" : kind]: epsilon };
  },
  calibrate({ noise_multiplier, epsilon, poisson }) {
    return { noise_multiplier, epsilon, ...(poisson && { poisson }) };
  },
  audit({ bounds: [bound], result }) {
    if (result === undefined) {
      const { epsilon, ceiling, steinke_epsilon } = bound; // of one run
      return { epsilon, ceiling, steinke_epsilon };
    }
    const { epsilon, fpr_upper, fnr_upper, gdp_mu, ceiling, direction } = result;
    return { epsilon, fpr_upper, fnr_upper, gdp_mu, ceiling, direction };
  },
  plan({ target, rows }) {
    if (target === undefined) {
      const [{ gdp_mu, median_epsilon }] = rows; // of canary clients
      return { gdp_mu, median_epsilon };
    }
    return {
      observations_for_ceiling: target.observations_for_ceiling,
      rows: rows.map((/** @type {any} */ { observations, ceiling }) => ({ observations, ceiling })),
    };
  },
};

/** @typedef {{ noise_multiplier: number, steps: number, epochs: number, delta: number }} Training */

/** @type {(...settings: [number, number, number, number]) => Training} */
const training = (noise_multiplier, steps, epochs, delta) => ({
  noise_multiplier,
  steps,
  epochs,
  delta,
});

/** @type {(training: Training, more?: string) => string} */
const optionsOf = ({ noise_multiplier, steps, epochs, delta }, more = "") =>
  `--noise-multiplier ${noise_multiplier} --steps ${steps}${more}${repeated(epochs)} --delta ${shown(delta)}`;

/** @type {(epochs: number) => string} */
const repeated = (epochs) => (epochs === 1 ? "" : ` --epochs ${epochs}`);

/** @type {(value: number) => string} */
const shown = (value) => (value > 0 && value < 1e-3 ? value.toExponential() : String(value));

/** @type {[calculator: string, settings: object, command: string][]} */
const questions = [];
// the defaults of the calculator
const NO_SUBSETS = { uses_per_epoch: 1, batch_size: 100, max_batch_size: 110 };
for (const settings of [
  training(1, 100, 1, 1e-5),
  training(0.5, 20, 3, 1e-5),
  training(2.5, 1000, 10, 1e-6),
  training(0.7, 10000, 1, 1e-8),
]) {
  const options = optionsOf(settings);
  questions.push([
    "epsilon",
    { sampler: "shuffle", ...NO_SUBSETS, ...settings },
    `dpscope compare ${options}`,
  ]);
  questions.push(["shuffle-gap", settings, `dpscope compare ${options}`]);
  for (const sampler of ["poisson", "balls-in-bins", "deterministic"]) {
    const command = `dpscope bound ${sampler} ${options}`;
    questions.push(["epsilon", { sampler, ...NO_SUBSETS, ...settings }, command]);
  }
  for (const [sampler, uses] of [
    ["fixed-size", 1],
    [ALLOCATED, 1],
    [ALLOCATED, 4],
  ]) {
    const more = uses === 1 ? "" : ` --uses-per-epoch ${uses}`;
    const command = `dpscope bound ${sampler} ${optionsOf(settings, more)}`;
    questions.push([
      "epsilon",
      { sampler, ...NO_SUBSETS, uses_per_epoch: uses, ...settings },
      command,
    ]);
  }
  const once = `dpscope bound persistent-shuffle --side lower ${options}`;
  questions.push(["epsilon", { sampler: "persistent-shuffle", ...NO_SUBSETS, ...settings }, once]);
}
for (const [settings, batch_size = 0, max_batch_size = 0] of /** @type {const} */ ([
  [training(1, 100, 1, 1e-5), 100, 110],
  [training(1, 100, 1, 1e-5), 100, 200],
  [training(2.5, 50, 4, 1e-6), 20, 25],
])) {
  const { noise_multiplier, steps, epochs, delta } = settings;
  const sizes = `--dataset-size ${steps * batch_size} --batch-size ${batch_size} --max-batch-size ${max_batch_size}${repeated(epochs)}`;
  const of = { sampler: TRUNCATED, uses_per_epoch: 1, batch_size, max_batch_size };
  questions.push([
    "epsilon",
    { ...of, ...settings },
    `dpscope bound ${TRUNCATED} --noise-multiplier ${noise_multiplier} ${sizes} --delta ${shown(delta)}`,
  ]);
  questions.push([
    "noise",
    { ...of, epsilon: 2, delta, steps, epochs },
    `dpscope calibrate noise --sampler ${TRUNCATED} --epsilon 2 --delta ${shown(delta)} ${sizes}`,
  ]);
}
for (const sampler of ["poisson", "shuffle", "persistent-shuffle", "fixed-size", ALLOCATED]) {
  for (const [epsilon = 0, steps = 0, epochs = 0, delta = 0] of [
    [4, 100, 1, 1e-5],
    [0.5, 50, 10, 1e-7],
    [12, 1000, 3, 0.01],
  ]) {
    questions.push([
      "noise",
      { sampler, ...NO_SUBSETS, uses_per_epoch: 2, epsilon, delta, steps, epochs },
      `dpscope calibrate noise --sampler ${sampler} --epsilon ${epsilon} --delta ${shown(delta)} --steps ${steps}${sampler === ALLOCATED ? " --uses-per-epoch 2" : ""}${repeated(epochs)}`,
    ]);
  }
}
for (const [fp, zero, fn, target, delta = 0, significance] of [
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
for (const [canaries, guesses, correct, delta = 0, significance] of [
  [1000, 100, 95, 1e-5, 0.05],
  [1000, 100, 95, 0, 0.05],
  [100_000, 2000, 1500, 1e-6, 0.01],
  [500, 20, 20, 1e-5, 0.05],
  [500, 20, 9, 1e-5, 0.05],
]) {
  questions.push([
    "one-run",
    { canaries, guesses, correct, delta, significance },
    `dpscope audit one-run --canaries ${canaries} --guesses ${guesses} --correct ${correct} --delta ${shown(delta)} --significance ${significance}`,
  ]);
}
for (const [canaries, epsilon, delta = 0, significance] of [
  [1000, 8, 1e-5, 0.05],
  [200, 1, 1e-6, 0.01],
  [5000, 3, 1e-4, 0.05],
]) {
  questions.push([
    "one-shot",
    { canaries, epsilon, delta, significance },
    `dpscope plan federated --design poisson:${canaries} --claim ${epsilon} --delta ${shown(delta)} --significance ${significance}`,
  ]);
}
for (const [teachers, gamma, votes, delta = 0] of [
  [5, 0.001, 10_240, 1e-5],
  [250, 0.05, 1000, 1e-6],
  [10, 1, 3, 1e-5],
]) {
  questions.push([
    "pate",
    { teachers, gamma, votes, delta },
    `dpscope bound pate --teachers ${teachers} --gamma ${gamma} --votes ${votes} --delta ${shown(delta)}`,
  ]);
}
for (const [strategy, steps, participation, number, noise_multiplier, delta = 0] of [
  ["tree", 16, "single", 0, 2, 1e-5],
  ["identity", 100, "epochs", 5, 1.5, 1e-6],
  ["banded-square-root", 120, "shuffled", 4, 3, 1e-5],
  ["banded-optimised", 200, "epochs", 10, 3, 1e-5],
  ["blt", 150, "min-separation", 40, 0.8, 1e-7],
]) {
  const participants = number === 0 ? participation : `${participation}:${number}`;
  const isSeparated = participation === "min-separation";
  questions.push([
    "matrix",
    {
      strategy,
      steps,
      participation,
      epochs: isSeparated ? 1 : number,
      separation: isSeparated ? number : 1,
      noise_multiplier,
      delta,
    },
    `dpscope bound matrix --strategy ${strategy} --steps ${steps} --participation ${participants} --noise-multiplier ${noise_multiplier} --delta ${shown(Number(delta))}`,
  ]);
}
for (const { epsilon, delta, significance, threshold_rule } of [
  { epsilon: 9, delta: 1e-5, significance: 0.05, threshold_rule: "simultaneous" },
  { epsilon: 2, delta: 1e-6, significance: 0.01, threshold_rule: "split" },
  { epsilon: 20, delta: 1e-9, significance: 0.001, threshold_rule: "simultaneous" },
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
