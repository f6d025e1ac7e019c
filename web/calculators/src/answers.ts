/** Numbers of results that a notebook reads as attributes. */

import type {
  AuditResult,
  GapResult,
  GuessBound,
  MatrixResult,
  NoiseResult,
  OneShotSize,
  PlanTable,
  VotesAnswer,
} from "./types";

type Answers<Result> = Readonly<Record<string, (result: Result) => number | null | undefined>>;

const gap: Answers<GapResult> = {
  claimed: ({ claimed }) => claimed?.epsilon,
  lower: ({ lower }) => lower?.epsilon,
  upper: ({ upper }) => upper?.epsilon,
};
const noise: Answers<NoiseResult> = { noise_multiplier: (result) => result.noise_multiplier };
const bound: Answers<AuditResult | GuessBound> = { epsilon: ({ epsilon }) => epsilon };
const oneShot: Answers<OneShotSize> = { median_epsilon: (result) => result.median_epsilon };
const pate: Answers<VotesAnswer> = { epsilon: ({ composed }) => composed.upper };
const matrix: Answers<MatrixResult> = {
  epsilon: ({ strategies }) => strategies[0]?.value?.epsilon,
};
const plan: Answers<PlanTable> = { observations: (table) => table.observations_for_ceiling };

/** By calculator. */
export const answers = {
  epsilon: gap,
  "shuffle-gap": gap,
  noise,
  counts: bound,
  "one-run": bound,
  "one-shot": oneShot,
  pate,
  matrix,
  plan,
} as Readonly<Record<string, Answers<never>>>;
