/** Fields of the view of correlated noise. */

import type { MatrixQuestion } from "@dpscope/wasm/accounting";
import { choiceOf } from "../../../fields/field";
import { PARTICIPATIONS, STRATEGIES } from "../../../fields/matrix";
import * as shared from "../../../fields/parameters";
import { bound_matrix } from "../options/options.json";
import { fieldsOf } from "../options/table";

const options = fieldsOf<MatrixQuestion>(bound_matrix);
/** The strategy of a question about all of them. */
const ALL = undefined;
const whole = true;

/** What the bound of a strategy depends on, in the order of its command. */
export const MATRIX_QUESTION = {
  matrix_strategy: {
    ...options.choice("strategy", { initial: "banded-optimised" }),
    options: STRATEGIES,
  },
  matrix_steps: options.number("steps", {
    label: "Steps of the training",
    symbol: "T",
    initial: 500,
    slider: { least: 10, most: 10_000 },
    help: "Noisy updates that are released, over all epochs",
  }),
  matrix_participation: {
    kind: "choice",
    label: "Participation",
    options: [...PARTICIPATIONS, ["cyclic-poisson", "Groups in turn, sampled"]],
    initial: "epochs",
    says: {
      single: "A participant is in one step of the whole training.",
      epochs: "Once in each epoch, always at the same step of the epoch.",
      shuffled: "Once in each epoch, in any step; the bound is looser.",
      "min-separation": "Any steps at least b apart, as where clients check in.",
      "cyclic-poisson": "Groups take turns, and members of the group are sampled.",
    },
    record: "participation",
  },
  matrix_epochs: options.number("epochs", {
    whole,
    label: "Epochs of the training",
    symbol: "E",
    initial: 10,
    hint: "A divisor of the number of steps.",
    onlyFor: ["matrix_participation", "epochs", "shuffled"],
  }),
  matrix_separation: options.number("separation", {
    whole,
    label: "Minimum separation",
    symbol: "b",
    initial: 50,
    hint: "Least distance of two steps of a participant.",
    onlyFor: ["matrix_participation", "min-separation"],
  }),
  matrix_participations: options.optional("participations", {
    whole,
    label: "Most participations (optional)",
    hint: "Steps of one participant; as many as fit if empty.",
    onlyFor: ["matrix_participation", "min-separation"],
  }),
  matrix_groups: options.number("groups", {
    whole,
    label: "Groups",
    symbol: "b",
    initial: 50,
    hint: "Groups of participants that take turns.",
    onlyFor: ["matrix_participation", "cyclic-poisson"],
  }),
  matrix_rate: options.number("sampling_rate", {
    label: "Sampling rate",
    symbol: "q",
    least: 1e-9,
    most: 1,
    initial: 0.1,
    hint: "Probability that a member of the group takes part.",
    onlyFor: ["matrix_participation", "cyclic-poisson"],
  }),
  matrix_bands: options.optional("bands", {
    onlyFor: ["matrix_strategy", ALL, "banded-square-root", "banded-optimised"],
  }),
  matrix_buffers: options.number("buffers", { most: 8, onlyFor: ["matrix_strategy", ALL, "blt"] }),
  matrix_objective: options.choice("objective", {
    label: "Error that is minimised",
    onlyFor: ["matrix_strategy", ALL, "banded-optimised", "blt"],
  }),
  matrix_noise: {
    ...shared.noiseMultiplier,
    least: 1e-6,
    most: 1e6,
    initial: 3,
    slider: { least: 0.1, most: 100 },
    record: "noise_multiplier",
    onlyFor: ["matrix_goal", "noise"],
  },
  matrix_epsilon: options.number("epsilon", {
    label: "Target epsilon",
    symbol: "ε",
    least: 1e-3,
    most: 1000,
    initial: 4,
    slider: { least: 0.1, most: 20 },
    help: "Not exceeded by any participant",
    onlyFor: ["matrix_goal", "epsilon"],
  }),
} as const;

export const MATRIX = {
  ...MATRIX_QUESTION,
  matrix_goal: choiceOf("Given", "epsilon", {
    epsilon: "Target ε",
    noise: "Noise multiplier",
  }),
} as const;
