/** The nine calculators. */

import { numberText } from "../../fields/field";
import * as shared from "../../fields/parameters";
import { methodInWords } from "../../numbers/methods";
import { confidence, grouped, rounded } from "../../numbers/rounded";
import { no_leakage, samplers } from "../../numbers/words.json";
import { batchSize, maxBatchSize, sampler, usesPerEpoch } from "./batches";
import type { Answer, Calculator, Columns } from "./calculator";
import type { Call } from "./calls";
import type { Input } from "./fields";
import {
  epochOptions,
  epochsOption,
  gap,
  NO_SUBSETS,
  rateOf,
  subsetOptions,
  trainingOptions,
} from "./gap";
import { matrix } from "./matrix";
import { relation } from "./relation";
import type {
  AuditResult,
  CountsSettings,
  EpsilonSettings,
  GapResult,
  GuessBound,
  NoiseResult,
  NoiseSettings,
  OneRunSettings,
  OneShotSettings,
  OneShotSize,
  PateSettings,
  PlanSettings,
  PlanTable,
  TrainingSettings,
  VotesAnswer,
} from "./types";

const { steps, epochs, delta, significance } = shared;
export const training = { noise_multiplier: shared.noiseMultiplier, steps, epochs, delta };

const targetEpsilon = {
  kind: "number",
  label: "Target epsilon",
  symbol: "ε",
  least: 1e-3,
  most: 100,
  initial: 4,
  help: "The ε to reach",
} as const;

export const epsilon: Calculator<EpsilonSettings, GapResult> = {
  name: "epsilon",
  title: "ε of a training",
  about: "What accounting claims, and what is proven for the actual sampler",
  fields: {
    sampler,
    uses_per_epoch: usesPerEpoch,
    batch_size: batchSize,
    max_batch_size: maxBatchSize,
    ...training,
  },
  answer: gap,
  command(settings) {
    const { sampler } = settings;
    const options = trainingOptions(settings);
    if (sampler === "shuffle") return `dpscope compare ${options}`;
    const side = sampler === "persistent-shuffle" ? " --side lower" : "";
    return `dpscope bound ${sampler}${side} ${options}`;
  },
};

export const noise: Calculator<NoiseSettings, NoiseResult> = {
  name: "noise",
  title: "Noise for a target ε",
  about: "The smallest noise multiplier for which dpscope proves a target ε",
  fields: {
    sampler: { ...sampler, options: sampler.options.slice(0, 7) },
    uses_per_epoch: usesPerEpoch,
    batch_size: batchSize,
    max_batch_size: maxBatchSize,
    epsilon: targetEpsilon,
    steps,
    epochs,
    delta,
  },
  async answer(call, settings) {
    const { sampler, epsilon, delta, steps, epochs } = settings;
    const find = (sampler: NoiseSettings["sampler"]) => {
      const target = { parameter: "noise", sampler, epsilon, delta, steps, epochs } as const;
      const calibration = { ...target, ...rateOf(settings) };
      return samplers[sampler].draws_subsets
        ? call("calibrate_subsets", calibration, subsetOptions(settings))
        : call("calibrate", calibration);
    };
    const found = await find(sampler);
    // the answer does not depend on the comparison
    const poisson =
      sampler === "poisson" ? undefined : await find("poisson").catch(() => undefined);
    return noiseAnswer(settings, found, poisson);
  },
  command(settings) {
    const { sampler, epsilon, delta, epochs } = settings;
    return `dpscope calibrate noise --sampler ${sampler} --epsilon ${numberText(epsilon)} --delta ${numberText(delta)} ${epochOptions(settings)}${epochsOption(epochs)}`;
  },
};

type Calibrated = { readonly value: number; readonly epsilon: number };

function noiseAnswer(
  settings: NoiseSettings,
  found: Calibrated,
  poisson: Calibrated | undefined,
): Answer<NoiseResult> {
  const isShuffled = settings.sampler === "shuffle" || settings.sampler === "persistent-shuffle";
  const value = rounded(found.value, "upper");
  const sentences = [
    `A noise multiplier of ${value} guarantees ${relation("ε", "≤", rounded(found.epsilon, "upper"))} at ${relation("δ", "=", numberText(settings.delta))}.`,
  ];
  if (isShuffled) {
    sentences.push(
      "This is proven for every way to shuffle under zero-out adjacency alone; less may suffice, but is not proven.",
    );
  }
  const figures = [
    {
      role: "answer" as const,
      label: "Noise multiplier that suffices",
      value: relation("σ", "=", value),
      standing: "upper bound on ε, proven",
      method: isShuffled ? "deterministic batches" : methodInWords("privacy-loss-distribution"),
    },
  ];
  if (poisson) {
    figures.push({
      role: "answer",
      label: "If batches were Poisson sampled",
      value: relation("σ", "=", rounded(poisson.value, "upper")),
      standing: `not proven for ${isShuffled ? "shuffled" : "these"} batches`,
      method: methodInWords("privacy-loss-distribution"),
    });
  }
  const result = { noise_multiplier: found.value, epsilon: found.epsilon, kind: "upper" as const };
  if (!poisson) return { figures, sentences, result };
  return {
    figures,
    sentences,
    result: { ...result, poisson: { noise_multiplier: poisson.value, epsilon: poisson.epsilon } },
  };
}

function countField(label: string, initial: number, help: string, least = 0): Input {
  return { kind: "number", label, least, most: 1e12, whole: true, initial, help };
}

export const counts: Calculator<CountsSettings, AuditResult> = {
  name: "counts",
  title: "ε from error counts",
  about: "A lower bound from the errors of an attack at a threshold fixed in advance",
  fields: {
    false_positives: countField(
      "False positives",
      12,
      "Runs without the target record that the attack classified as with it",
    ),
    zero_out_trials: countField(
      "Runs without the record",
      1000,
      "Runs without the target record",
      1,
    ),
    false_negatives: countField(
      "False negatives",
      480,
      "Runs with the target record that the attack classified as without it",
    ),
    target_trials: countField("Runs with the record", 1000, "Runs with the target record", 1),
    delta,
    significance,
  },
  async answer(call, { delta, significance, ...errors }) {
    const result: AuditResult = await call("counts", errors, delta, significance);
    const sure = `${confidence(significance)} confidence`;
    const at = `at ${relation("δ", "=", numberText(delta))}`;
    const leaks = result.epsilon > 0;
    return {
      figures: [
        {
          role: "answer",
          label: "The attack shows at least",
          value: relation("ε", "≥", rounded(result.epsilon, "lower")),
          standing: `lower bound, ${sure}`,
          method: "exact binomial limits of both error rates",
        },
      ],
      sentences: [
        leaks ? `Any smaller claimed ε ${at} is refuted with ${sure}.` : no_leakage,
        `This many runs can show at most ${relation("ε", "=", rounded(result.ceiling, "upper"))}. The threshold and the number of runs must have been fixed in advance.`,
      ],
      result,
    };
  },
  command(settings) {
    const {
      false_positives,
      zero_out_trials,
      false_negatives,
      target_trials,
      delta,
      significance,
    } = settings;
    return `dpscope audit counts --false-positives ${false_positives} --zero-out-trials ${zero_out_trials} --false-negatives ${false_negatives} --target-trials ${target_trials} --delta ${numberText(delta)} --significance ${numberText(significance)}`;
  },
};

export const oneRun: Calculator<OneRunSettings, GuessBound> = {
  name: "one-run",
  title: "ε from one training run",
  about: "A lower bound from guesses about canaries that fair coins put into one training run",
  fields: {
    canaries: countField("Canaries", 1000, "Canaries, each included by a coin of its own", 1),
    guesses: countField("Guesses", 100, "Guessed coins, a number fixed before they were drawn", 1),
    correct: countField("Correct guesses", 95, "Guesses that the coins confirm"),
    delta: { ...delta, least: 0 },
    significance,
  },
  async answer(call, { delta, significance, ...guesses }) {
    const result: GuessBound = await call("one_run", guesses, delta, significance);
    const sure = `${confidence(significance)} confidence`;
    const at = `at ${relation("δ", "=", numberText(delta))}`;
    const bound = (epsilon: number) => relation("ε", "≥", rounded(epsilon, "lower"));
    return {
      figures: [
        {
          role: "answer",
          label: "The guesses show at least",
          value: bound(result.epsilon),
          standing: `lower bound, ${sure}`,
          method: "exact test of a fixed number of guesses",
        },
        {
          role: "lower",
          label: "Steinke et al. show from the same",
          value: bound(result.steinke_epsilon),
          standing: `lower bound, ${sure}`,
          method: "arXiv:2305.08846, theorem 5.2",
        },
      ],
      sentences: [
        result.epsilon > 0 ? `Any smaller claimed ε ${at} is refuted with ${sure}.` : no_leakage,
        `This many guesses can show at most ${relation("ε", "=", rounded(result.ceiling, "upper"))}. Canaries, score and number of guesses must have been fixed before the coins were drawn.`,
      ],
      result,
    };
  },
  command({ canaries, guesses, correct, delta, significance }) {
    return `dpscope audit one-run --canaries ${canaries} --guesses ${guesses} --correct ${correct} --delta ${numberText(delta)} --significance ${numberText(significance)}`;
  },
};

export const oneShot: Calculator<OneShotSettings, OneShotSize> = {
  name: "one-shot",
  title: "Canary clients for a one-shot audit",
  about: "What canary clients in one federated training are expected to show of a leak",
  fields: {
    canaries: {
      kind: "number",
      label: "Canaries",
      least: 2,
      most: 20_000,
      whole: true,
      initial: 1000,
      help: "Canary clients, the mean of their Poisson number",
    },
    epsilon: { ...targetEpsilon, label: "Leak", initial: 8, help: "ε of the leak at δ" },
    delta,
    significance,
  },
  async answer(call, settings) {
    const { delta, significance } = settings;
    const result: OneShotSize = await call("one_shot", settings);
    const [low = 0, high = 0] = result.null_range;
    const sure = `${confidence(significance)} confidence`;
    const range = `${rounded(low, "estimate", 2)} to ${rounded(high, "estimate", 2)}`;
    return {
      figures: [
        {
          role: "answer",
          label: "Half of the runs show at least",
          value: relation("ε", "≥", rounded(result.median_epsilon, "lower", 2)),
          standing: `expected lower bound, ${sure}`,
          method: "for any training algorithm, if the leak is Gaussian",
        },
        {
          role: "lower",
          label: "Estimates without any leak",
          value: relation("ε", "≈", range),
          standing: "90 % of runs, no bound",
          method: "mean score of the canaries",
        },
      ],
      sentences: [
        `A Gaussian leak of ${relation("ε", "=", numberText(settings.epsilon))} at ${relation("δ", "=", numberText(delta))} is expected to show ${relation("ε", "≥", rounded(result.median_epsilon, "lower", 2))} with ${sure}.`,
        `More than ${grouped(Math.floor(result.most_canaries))} canaries weaken the bound at this δ. Canaries are clients that are added and send a random direction at the clip norm.`,
      ],
      result,
    };
  },
  command({ canaries, epsilon, delta, significance }) {
    return `dpscope plan federated --design poisson:${canaries} --claim ${numberText(epsilon)} --delta ${numberText(delta)} --significance ${numberText(significance)}`;
  },
};

/** Below, a unanimous vote is little more than a coin. */
const INFORMATIVE = 0.6;

export const pate: Calculator<PateSettings, VotesAnswer> = {
  name: "pate",
  title: "Noisy votes of teachers (PATE)",
  about: "The ε of labels that teachers release by noisy votes, as in PATE-GAN",
  fields: {
    teachers: {
      kind: "number",
      label: "Teachers",
      least: 1,
      most: 10_000,
      whole: true,
      initial: 5,
      help: "Teachers, trained on disjoint parts of the data",
    },
    gamma: {
      kind: "number",
      label: "Inverse noise scale",
      symbol: "γ",
      least: 1e-6,
      most: 100,
      initial: 0.001,
      help: "One over the scale of the Laplace noise on each count",
    },
    votes: {
      kind: "number",
      label: "Votes",
      least: 1,
      most: 1e9,
      whole: true,
      initial: 10_240,
      help: "Labels that are released: in PATE-GAN iterations times student steps times batch size",
    },
    delta,
  },
  async answer(call, settings) {
    const { teachers, votes, delta } = settings;
    const result: VotesAnswer = await call("pate", settings);
    const upper = relation("ε", "≤", rounded(result.composed.upper, "upper", 4));
    const kept = rounded(result.unanimous, "estimate", 3);
    const informative =
      result.unanimous < INFORMATIVE
        ? `A unanimous vote is released as it is with probability ${kept} only, and ½ is a coin: such labels teach the student almost nothing.`
        : `A unanimous vote is released as it is with probability ${kept}.`;
    return {
      figures: [
        {
          role: "answer",
          label: "Any votes",
          value: upper,
          standing: "upper bound",
          method: "composition of the privacy loss of a vote",
        },
        {
          role: "upper",
          label: "As published for PATE-GAN",
          value: relation("ε", "≤", rounded(result.moments.epsilon, "upper", 4)),
          standing: "upper bound",
          method: `moments, order ${result.moments.order}`,
        },
      ],
      sentences: [
        `${grouped(votes)} votes of ${grouped(teachers)} teachers have ${upper} at ${relation("δ", "=", numberText(delta))}, whatever the counts, if each record reaches one teacher.`,
        informative,
      ],
      result,
    };
  },
  command({ teachers, gamma, votes, delta }) {
    return `dpscope bound pate --teachers ${teachers} --gamma ${numberText(gamma)} --votes ${numberText(votes)} --delta ${numberText(delta)}`;
  },
};

const thresholdRule: Input = {
  kind: "choice",
  label: "Threshold",
  options: [
    ["simultaneous", "a few thresholds, all data"],
    ["split", "one threshold, half the data"],
  ],
  initial: "simultaneous",
  help: "How the threshold will be chosen",
};

export const plan: Calculator<PlanSettings, PlanTable> = {
  name: "plan",
  title: "Observations for an audit",
  about: "How many observations a bound needs, and the largest ε that they can show",
  fields: {
    epsilon: { ...targetEpsilon, most: 40, initial: 9 },
    threshold_rule: thresholdRule,
    delta,
    significance,
  },
  async answer(call, { epsilon, delta, significance, threshold_rule }) {
    const result: PlanTable = await call("plan", { epsilon, delta, significance, threshold_rule });
    const observations = grouped(result.observations_for_ceiling ?? Number.NaN);
    return {
      figures: [
        {
          role: "answer",
          label: "Observations, both worlds together",
          value: relation("n", "≥", observations),
          standing: `minimum, ${confidence(significance)} confidence`,
          method: "bound of an attack without errors",
        },
      ],
      sentences: [
        `A bound of ${relation("ε", "=", numberText(epsilon))} at ${relation("δ", "=", numberText(delta))} needs at least ${observations} observations with this choice of the threshold; real attacks make errors and need more.`,
      ],
      table: {
        title: "What more observations can show",
        head: ["Observations", "Largest ε that they can show"],
        rows: result.rows.map(({ observations, ceiling }) => [
          grouped(observations),
          rounded(ceiling, "upper", 3),
        ]),
      },
      result,
    };
  },
  command({ epsilon, delta, significance, threshold_rule }) {
    return `dpscope plan --epsilon ${numberText(epsilon)} --delta ${numberText(delta)} --significance ${numberText(significance)} --threshold-rule ${threshold_rule}`;
  },
};

/** Noise multipliers of the curves: even steps on a logarithmic scale. */
const SLIDER = { least: 0.4, most: 4 };
const POINTS = 21;

const shuffleGap: Calculator<TrainingSettings, GapResult> = {
  name: "shuffle-gap",
  title: "Leakage of shuffled batches",
  about: "What Poisson accounting claims, and what shuffled batches leak, as the noise changes",
  fields: { ...training, noise_multiplier: { ...shared.noiseMultiplier, slider: SLIDER } },
  answer: (call, settings) => gap(call, { ...settings, sampler: "shuffle", ...NO_SUBSETS }),
  command: (settings) =>
    `dpscope compare ${trainingOptions({ sampler: "shuffle", ...NO_SUBSETS, ...settings })}`,
  async columns(call, { steps, epochs, delta }, isWanted, show) {
    const noiseMultipliers = Float64Array.from({ length: POINTS }, (_, index) =>
      Number(
        (SLIDER.least * (SLIDER.most / SLIDER.least) ** (index / (POINTS - 1))).toPrecision(3),
      ),
    );
    const none = new Float64Array(POINTS).fill(Number.NaN);
    const found = { noiseMultipliers, claimed: none, lower: none, upper: none };
    // a few points at a time: other calculators do not wait, and a changed setting ends it
    const draw = async (row: Parameters<typeof columnOf>[1], key: keyof Columns) => {
      found[key] = found[key].slice();
      for (let start = 0; start < POINTS && isWanted(); start += 7) {
        const part = noiseMultipliers.subarray(start, start + 7);
        found[key].set(await columnOf(call, row, part, { steps, epochs, delta }), start);
        if (isWanted()) show({ ...found });
      }
    };
    await draw("deterministic", "upper");
    await draw("poisson", "claimed");
    await draw("shuffle-max-slice", "lower");
  },
};

type CurveRow = "poisson" | "deterministic" | "shuffle-max-slice";

function columnOf(
  call: Call,
  row: CurveRow,
  noise: Float64Array,
  { steps, epochs, delta }: Omit<TrainingSettings, "noise_multiplier">,
): Promise<Float64Array> {
  const setting = { noise_multiplier: 1, steps, epochs };
  return call("bound_columns", row, setting, delta, "noise_multiplier", noise.slice());
}

export const calculators = [
  epsilon,
  noise,
  counts,
  oneRun,
  oneShot,
  pate,
  matrix,
  plan,
  shuffleGap,
] as const;
