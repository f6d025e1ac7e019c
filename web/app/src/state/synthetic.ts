/** Fields of the view of synthetic data. */

import type { PateGanQuestion } from "@dpscope/wasm/synth";
import { choiceOf } from "../../../fields/field";
import { audit_pategan } from "../options/options.json";
import { fieldsOf } from "../options/table";

/** Switches of faults, as the bundle lists them; a test compares them. */
const SWITCHES = [
  ..."O1 O2 O3 O4 O5 O6 U1 U3 U4 U5 S1 S2 S3 T4 T5 B1".split(" "),
  ..."E1 E2 E3 E4 E5 E6 E7 E8 E9 E10 E11 E12".split(" "),
];

const pategan = fieldsOf<PateGanQuestion>(audit_pategan);

/** What a run of PATE-GAN depends on. */
export const PATEGAN = {
  syn_faults: { kind: "set", label: "Faults", options: SWITCHES, initial: "", record: "faults" },
  syn_runs: pategan.number("runs", {
    label: "Runs of each world",
    least: 20,
    most: 10_000,
    hint: "With the target row, and as many without it.",
  }),
  syn_teachers: pategan.number("teachers", { symbol: "k", most: 50 }),
  syn_gamma: pategan.number("gamma", {
    label: "Inverse noise scale",
    symbol: "γ",
    least: 1e-4,
    most: 10,
  }),
  syn_batch: pategan.number("batch_size", { symbol: "B", most: 64 }),
  syn_iterations: pategan.number("iterations", {
    most: 2000,
    onlyFor: ["syn_stop", "iterations"],
  }),
  syn_epsilon: pategan.number("epsilon", {
    label: "ε at which training ends",
    least: 0.01,
    most: 100,
    initial: 1,
    help: "Asked before each iteration, by moments that hold for all votes",
    onlyFor: ["syn_stop", "epsilon"],
  }),
} as const;

export const SYNTHETIC = {
  ...PATEGAN,
  syn_stop: choiceOf("Training ends", "iterations", {
    iterations: "after iterations",
    epsilon: "at an ε",
  }),
  syn_game: choiceOf("What was run", "worlds", {
    worlds: "many runs in two worlds",
    canaries: "one run with canaries",
  }),
  syn_claim: {
    kind: "number",
    label: "Your claim ε (optional)",
    least: 0,
    most: 1e6,
    help: "The ε reported for this generator at δ",
  },
  syn_scoring: {
    ...choiceOf("A canary’s score", "nearest", {
      nearest: "closeness of the nearest row",
      count: "rows close to it",
      density: "density beside decoys",
      decoys: "rank among decoys",
    }),
    hint: "A rule that was fixed before the run; that of a manifest replaces it.",
  },
} as const;
