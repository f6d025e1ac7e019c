/** Fields of the view of federated trainings. */

import * as shared from "../../../fields/parameters";

export const FEDERATED = {
  fed_noise: {
    ...shared.noiseMultiplier,
    least: 0.02,
    most: 10_000,
    slider: { least: 0.1, most: 100 },
    help: "Standard deviation of the noise of a server round, over the norm of a canary",
  },
  fed_canaries: {
    kind: "number",
    label: "Canaries",
    symbol: "k",
    least: 10,
    most: 3000,
    whole: true,
    initial: 1000,
    help: "Mean of their Poisson number: clients that send a random direction",
  },
  fed_dimension: {
    kind: "number",
    label: "Dimension",
    symbol: "d",
    least: 1000,
    most: 1e9,
    whole: true,
    initial: 1e6,
    help: "Number of trained parameters",
  },
  fed_presentations: {
    kind: "number",
    label: "Presentations",
    least: 1,
    most: 1000,
    whole: true,
    initial: 1,
    slider: { most: 100 },
    help: "Server rounds in which each canary takes part",
  },
} as const;
