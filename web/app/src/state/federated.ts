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
  fed_parameters: {
    kind: "number",
    label: "Number of trained parameters",
    symbol: "d",
    least: 2,
    most: 1e12,
    whole: true,
    help: "The dimension of the directions",
  },
  fed_attacker: {
    kind: "choice",
    label: "The attacker sees",
    options: [
      ["final_model", "The final model"],
      ["all_updates", "Every update: the largest cosine"],
      ["sum_of_updates", "Every update: their sum"],
      ["known_server_rounds", "Every update, and who took part"],
    ],
    initial: "final_model",
  },
  fed_server_rounds: {
    kind: "number",
    label: "Server rounds",
    least: 1,
    most: 1e9,
    whole: true,
    help: "Updates over which each cosine is the maximum",
  },
  fed_inserted: {
    kind: "number",
    label: "Canaries that took part (optional)",
    least: 1,
    most: 1e9,
    whole: true,
    help: "If omitted, the number of cosines",
  },
  fed_control: {
    kind: "choice",
    label: "Control client (optional)",
    options: [
      ["included", "It took part"],
      ["excluded", "It did not take part"],
    ],
  },
  fed_control_cosine: {
    kind: "number",
    label: "Cosine of the control client",
    least: -1,
    most: 1,
  },
} as const;
