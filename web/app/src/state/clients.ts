/** Fields of federated trainings in the view of trainings. */

import { choiceOf } from "../../../fields/field";
import { audit_fedavg } from "../options/options.json";
import { fieldsOf, type Values } from "../options/table";

/** Parameters of participation and noise, which the program takes as `poisson:0.1` and `banded:5`. */
type ChoiceParameters = Record<
  "epochs" | "sampling_rate" | "cohort" | "bands" | "canaries",
  number
>;
const fedavg = fieldsOf<
  ChoiceParameters &
    Values<
      typeof audit_fedavg,
      { attack: "final-model" | "largest-update" | "sum-of-updates" | "known-rounds" }
    >
>(audit_fedavg);
const whole = true;
/** Only clients that records are divided among have a size. */
const divided = { onlyFor: ["train_client_column", undefined] } as const;

/** Clients, their rounds and their local trainings. */
export const CLIENTS = {
  train_client_column: {
    kind: "text",
    label: "Column of clients (optional)",
    most: 64,
    record: "client_column",
    hint: "Of a csv file with a header line, or an array of an npz file: the client of each record. Records are divided among clients if empty.",
  },
  train_clients: fedavg.number("clients", { ...divided, symbol: "n", most: 20_000, initial: 400 }),
  train_client_records: fedavg.number("records_per_client", {
    ...divided,
    label: "Records of a client",
    most: 1000,
  }),
  train_concentration: fedavg.optional("concentration", {
    ...divided,
    label: "Concentration of labels (optional)",
    least: 0.01,
  }),
  train_rounds: fedavg.number("rounds", {
    label: "Server rounds",
    symbol: "T",
    most: 1000,
    initial: 20,
  }),
  train_participation: {
    ...choiceOf("Who takes part in a round", "epochs", {
      epochs: "Shuffled passes",
      "min-separation": "Passes in one order",
      poisson: "Poisson sampling",
      "fixed-size": "Cohorts of a fixed size",
    }),
    record: "participation",
  },
  train_passes: fedavg.number("epochs", {
    label: "Passes over the clients",
    symbol: "E",
    most: 1000,
    whole,
    initial: 5,
    hint: "A divisor of the number of rounds.",
    onlyFor: ["train_participation", "epochs", "min-separation"],
  }),
  train_client_rate: fedavg.number("sampling_rate", {
    label: "Sampling rate",
    symbol: "q",
    least: 1e-4,
    most: 1,
    initial: 0.1,
    help: "Probability that a client takes part in a round",
    onlyFor: ["train_participation", "poisson"],
  }),
  train_cohort: fedavg.number("cohort", {
    label: "Clients of a round",
    most: 20_000,
    whole,
    initial: 100,
    onlyFor: ["train_participation", "fixed-size"],
  }),
  train_presentations: fedavg.optional("canary_presentations", {
    label: "Rounds of a canary (optional)",
    most: 1000,
  }),
  train_local_epochs: fedavg.number("local_epochs", { most: 100 }),
  train_local_batch: fedavg.number("local_batch_size", { most: 1000 }),
  train_local_rate: fedavg.number("local_learning_rate", { label: "Local learning rate" }),
} as const;

/** Noise of the rounds, updates of the server, and the audit. */
export const SERVER = {
  train_server_noise: {
    ...choiceOf("Noise of the rounds", "gaussian", {
      gaussian: "Independent",
      tree: "Tree aggregation (DP-FTRL)",
      banded: "Banded matrix",
    }),
    says: {
      gaussian: "Each round has noise of its own.",
      tree: "Sums over rounds get their noise from the nodes of a binary tree.",
      banded: "Part of each round’s noise is cancelled in later rounds.",
    },
    record: "noise_mechanism",
  },
  train_bands: fedavg.number("bands", {
    label: "Bands of the matrix",
    symbol: "b",
    most: 1000,
    whole,
    initial: 5,
    hint: "At most the number of rounds.",
    onlyFor: ["train_server_noise", "banded"],
  }),
  train_server_rate: fedavg.number("server_learning_rate", {
    label: "Learning rate of the server",
    least: 1e-6,
  }),
  train_server_momentum: fedavg.number("server_momentum", {
    label: "Momentum of the server",
    most: 0.999,
  }),
  train_client_canaries: fedavg.number("canaries", {
    least: 1,
    label: "Canary clients",
    symbol: "m",
    most: 5000,
    initial: 100,
    hint: "On average; their number is drawn from a Poisson distribution.",
  }),
  train_client_attack: fedavg.choice("attack", { label: "Attacker" }),
  train_client_repeats: fedavg.number("repeats", {
    label: "Audited trainings",
    symbol: "R",
    most: 300,
    initial: 4,
  }),
  train_without: fedavg.number("without_canaries", {
    label: "Trainings without canaries",
    least: 0,
    most: 100,
  }),
} as const;
