/** Fields of the view of correlated noise. */

import { PARTICIPATIONS, STRATEGIES } from "../../../fields/matrix";
import * as shared from "../../../fields/parameters";

const count = { kind: "number", least: 1, most: 1e6, whole: true } as const;

export const MATRIX = {
  matrix_strategy: {
    kind: "choice",
    label: "Strategy",
    options: STRATEGIES,
    initial: "banded-optimised",
  },
  matrix_steps: {
    ...count,
    label: "Steps of the training",
    symbol: "T",
    initial: 500,
    slider: { least: 10, most: 10_000 },
    help: "Noisy updates that are released, over all epochs",
  },
  matrix_participation: {
    kind: "choice",
    label: "Participation",
    options: [...PARTICIPATIONS, ["cyclic-poisson", "Groups in turn, sampled"]],
    initial: "epochs",
  },
  matrix_epochs: {
    ...count,
    label: "Epochs of the training",
    symbol: "E",
    initial: 10,
    help: "A divisor of the number of steps",
  },
  matrix_separation: {
    ...count,
    label: "Minimum separation",
    symbol: "b",
    initial: 50,
    help: "Least distance of two steps of a participant",
  },
  matrix_participations: {
    ...count,
    label: "Most participations (optional)",
    help: "Steps of one participant; if omitted, as many as fit",
  },
  matrix_groups: {
    ...count,
    label: "Groups",
    symbol: "b",
    initial: 50,
    help: "Groups of participants that take turns",
  },
  matrix_rate: {
    kind: "number",
    label: "Sampling rate",
    symbol: "q",
    least: 1e-9,
    most: 1,
    initial: 0.1,
    help: "Probability that a member of the group takes part",
  },
  matrix_bands: {
    ...count,
    label: "Bands (optional)",
    help: "If omitted, the least distance of two steps of a participant, at most 64",
  },
  matrix_buffers: { ...count, label: "Buffers", most: 8, initial: 3 },
  matrix_objective: {
    kind: "choice",
    label: "Error that is minimised",
    options: [
      ["mean", "Mean"],
      ["largest", "Largest"],
    ],
    initial: "mean",
  },
  matrix_goal: {
    kind: "choice",
    label: "Given",
    options: [
      ["epsilon", "Target ε"],
      ["noise", "Noise multiplier"],
    ],
    initial: "epsilon",
  },
  matrix_epsilon: {
    kind: "number",
    label: "Target epsilon",
    symbol: "ε",
    least: 1e-3,
    most: 1000,
    initial: 4,
    slider: { least: 0.1, most: 20 },
    help: "Not exceeded by any participant",
  },
  matrix_noise: {
    ...shared.noiseMultiplier,
    least: 1e-6,
    most: 1e6,
    initial: 3,
    slider: { least: 0.1, most: 100 },
  },
} as const;
