/** Fields of the view of synthetic data. */

/** Switches of faults, as the bundle lists them; a test compares them. */
const SWITCHES = [
  ..."O1 O2 O3 O4 O5 O6 U1 U3 U4 U5 S1 S2 S3 T4 T5 B1".split(" "),
  ..."E1 E2 E3 E4 E5 E6 E7 E8 E9 E10 E11 E12".split(" "),
];

export const SYNTHETIC = {
  syn_faults: { kind: "set", label: "Faults", options: SWITCHES, initial: "" },
  syn_runs: {
    kind: "number",
    label: "Runs of each world",
    least: 20,
    most: 10_000,
    whole: true,
    initial: 1000,
    help: "Trainings with the target row, and as many without it",
  },
  syn_teachers: {
    kind: "number",
    label: "Teachers",
    symbol: "k",
    least: 1,
    most: 50,
    whole: true,
    initial: 2,
    help: "Trained on disjoint parts of the rows",
  },
  syn_gamma: {
    kind: "number",
    label: "Inverse noise scale",
    symbol: "γ",
    least: 1e-4,
    most: 10,
    initial: 1e-3,
    help: "Votes have Laplace noise of scale 1/γ",
  },
  syn_batch: {
    kind: "number",
    label: "Batch size",
    symbol: "B",
    least: 1,
    most: 64,
    whole: true,
    initial: 4,
  },
  syn_stop: {
    kind: "choice",
    label: "Training ends",
    options: [
      ["iterations", "after iterations"],
      ["epsilon", "at an ε"],
    ],
    initial: "iterations",
  },
  syn_iterations: {
    kind: "number",
    label: "Iterations",
    least: 1,
    most: 2000,
    whole: true,
    initial: 100,
  },
  syn_epsilon: {
    kind: "number",
    label: "ε at which training ends",
    least: 0.01,
    most: 100,
    initial: 1,
    help: "Asked before each iteration, by moments that hold for all votes",
  },
  syn_game: {
    kind: "choice",
    label: "What was run",
    options: [
      ["worlds", "many runs in two worlds"],
      ["canaries", "one run with canaries"],
    ],
    initial: "worlds",
  },
  syn_claim: {
    kind: "number",
    label: "Your claim ε (optional)",
    least: 0,
    most: 1e6,
    help: "The ε reported for this generator at δ",
  },
  syn_scoring: {
    kind: "choice",
    label: "A canary’s score",
    options: [
      ["nearest", "closeness of the nearest row"],
      ["count", "rows close to it"],
      ["density", "density beside decoys"],
      ["decoys", "rank among decoys"],
    ],
    initial: "nearest",
  },
} as const;
