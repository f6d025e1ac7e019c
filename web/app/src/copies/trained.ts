/** Commands of trainings, which the page runs and prints, and of generators. */

import type { PateGanQuestion } from "@dpscope/wasm/synth";
import {
  commandLine,
  commandWords,
  fileName,
  type Options,
  withParameters,
} from "../options/command";
import {
  audit_dpsgd,
  audit_fedavg,
  audit_pategan,
  canaries_optimise,
} from "../options/options.json";
import { CLIENTS, SERVER } from "../state/clients";
import { inOrder } from "../state/records";
import { PATEGAN } from "../state/synthetic";
import { BATCHES, CANARIES, MODEL, OPTIMISATION, PRETRAINING } from "../state/training";
import type {
  CanaryOptimizationQuestion,
  CanaryTrainingQuestion,
  FederatedTrainingQuestion,
  TrainingQuestion,
} from "../training/question";
import { CHECKPOINT_FILE } from "./command";

/** The command that trains the same runs. */
export function pateganCommand({ faults, delta, significance, seed, ...asked }: PateGanQuestion) {
  const statistics = { delta, significance, seed };
  const options = { fault: faults || null, ...inOrder(asked, PATEGAN), ...statistics };
  return commandLine("audit pategan", audit_pategan, options);
}

/** Names of the reader's files. */
export interface DataNames {
  data?: string | undefined;
  labels?: string | undefined;
}

/** The path of a reader's file, which is no option and no synthetic data. */
export function dataFile(name: string): string {
  return name.endsWith("-like") ? `./${name}` : fileName(name);
}

/** The reader's files, or synthetic data where they are not those of the model's shape. */
function data(files: DataNames, synthetic?: string, usual?: string): Options {
  return {
    data:
      files.data === undefined ? (synthetic === usual ? null : synthetic) : dataFile(files.data),
    labels: files.labels && dataFile(files.labels),
  };
}

const shapeOf = (model: string) => (model === "lenet" ? "fmnist-like" : "p100-like");

/** Options of the batches, with the most records that have these steps per epoch. */
function batches(mechanism: CanaryTrainingQuestion["mechanism"]): Options {
  const { steps, batch_size = 1, epochs, dataset_size: _, ...options } = mechanism;
  const records = Math.floor((steps * batch_size) / (mechanism.uses_per_epoch ?? 1));
  return { records, batch_size, epochs, ...inOrder(options, BATCHES) };
}

/** The words of the command that trains in two worlds. */
export function trainingWords(
  { plan, model, data: synthetic, canary, ...asked }: TrainingQuestion,
  files: DataNames,
  claim?: number,
): string[] {
  const { mechanism, observations: runs, delta, significance, seed } = plan;
  return commandWords("audit dpsgd", audit_dpsgd, {
    model,
    ...data(files, synthetic, shapeOf(model)),
    ...batches(mechanism),
    ...inOrder(asked, MODEL),
    canary,
    runs,
    delta,
    significance,
    claim,
    seed,
  });
}

/** The file of optimised canaries. */
export const CANARY_FILE = "canaries.npz";

/** The words of the command that optimises canaries. */
export function optimizationWords(
  { model, data: synthetic, canaries, metasteps, ...asked }: CanaryOptimizationQuestion,
  files: DataNames,
): string[] {
  return commandWords("canaries optimise", canaries_optimise, {
    model,
    ...data(files, synthetic, model === "lenet" ? "fmnist-like" : "location-like"),
    count: canaries,
    metasteps,
    out: CANARY_FILE,
    ...inOrder(asked, OPTIMISATION),
    relaxed: true,
    device: "cpu",
  });
}

/** The command that resumes an audit of the page; it reads the same files again. */
export function resumeCommand(files: DataNames = {}, canaryFile?: string): string {
  return commandLine(`resume ${CHECKPOINT_FILE}`, {}, { ...data(files), canary_file: canaryFile });
}

/** The words of the command that trains with canaries. */
export function canaryTrainingWords(
  { model, data: synthetic, mechanism, ...asked }: CanaryTrainingQuestion,
  files: DataNames,
  claim?: number,
): string[] {
  const { canaries, canary_kind, delta, significance, seed, ...options } = asked;
  const isOptimised = canary_kind === "optimised";
  return commandWords("audit dpsgd", audit_dpsgd, {
    protocol: "one-run",
    model,
    ...data(files, synthetic, shapeOf(model)),
    ...batches(mechanism),
    canaries,
    ...(isOptimised ? { canary_file: CANARY_FILE } : { canary_kind }),
    ...inOrder(options, CANARIES, MODEL, PRETRAINING),
    delta,
    significance,
    claim,
    seed,
  });
}

/** The words of the command that executes federated trainings. */
export function federatedTrainingWords(
  { model, data: synthetic, epochs, sampling_rate, cohort, ...asked }: FederatedTrainingQuestion,
  files: DataNames,
  claim?: number,
): string[] {
  const { bands, canaries, attack, repeats, without_canaries, ...options } = asked;
  const { delta, significance, seed, ...training } = options;
  return commandWords("audit fedavg", audit_fedavg, {
    model,
    ...data(files, synthetic, shapeOf(model)),
    ...inOrder(training, CLIENTS, MODEL, BATCHES, SERVER),
    participation: withParameters(training.participation, [epochs, sampling_rate, cohort]),
    noise_mechanism: withParameters(training.noise_mechanism ?? "gaussian", [bands]),
    design: withParameters("poisson", [canaries]),
    attack,
    repeats,
    without_canaries,
    delta,
    significance,
    claim,
    seed,
  });
}
