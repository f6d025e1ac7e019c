/** Commands of trainings and generators, which only their views show. */

import type { PateGanQuestion } from "@dpscope/wasm/synth";
import type { TrainingQuestion } from "@dpscope/wasm/training";
import type {
  CanaryOptimizationQuestion,
  CanaryTrainingQuestion,
  FederatedTrainingQuestion,
} from "@dpscope/wasm/training_canaries";
import { numberText } from "../../../fields/field";
import { CHECKPOINT_FILE } from "./command";
import { audit_dpsgd, audit_fedavg, audit_pategan, canaries_optimise } from "./defaults.json";
import { quoted } from "./quoted";

/** The command that trains the same runs. */
export function pateganCommand({ faults, ...asked }: PateGanQuestion): string {
  return written("audit pategan", audit_pategan, {
    fault: faults || undefined,
    runs: asked.runs,
    teachers: asked.teachers,
    gamma: asked.gamma,
    batch_size: asked.batch_size,
    iterations: asked.iterations,
    epsilon: asked.epsilon,
    delta: asked.delta,
    significance: asked.significance,
    seed: asked.seed,
  });
}

/** Names of the reader's files. */
export interface DataNames {
  data?: string | undefined;
  labels?: string | undefined;
}

type Value = string | number | null | undefined;
type Options = Readonly<Record<string, Value>>;

/** A command with options in this order; those at the program's defaults are left out. */
function written(command: string, defaults: Options, options: Options): string {
  const words = Object.entries(options).map(([name, value]) => {
    if (value === undefined || value === null || value === defaults[name]) return "";
    const option = ` --${name.replaceAll("_", "-")}`;
    if (typeof value === "number") return `${option} ${numberText(value)}`;
    // after a space, the program takes a word that begins with a hyphen for an option
    return `${option}${/^'?-/.test(value) ? "=" : " "}${value}`;
  });
  return `dpscope ${command}${words.join("")}`;
}

/** The reader's files, or synthetic data where they are not those of the model's shape. */
function data(files: DataNames, synthetic: Value, usual: string): Options {
  return {
    data:
      files.data === undefined ? (synthetic === usual ? null : synthetic) : fileName(files.data),
    labels: files.labels && fileName(files.labels),
  };
}

const shapeOf = (model: string) => (model === "lenet" ? "fmnist-like" : "p100-like");

function batches(mechanism: TrainingQuestion["plan"]["mechanism"]): Options {
  const [batch_size, uses_per_epoch] = [mechanism.batch_size ?? 1, mechanism.uses_per_epoch ?? 1];
  return {
    // as many as have these steps per epoch
    records: Math.ceil((mechanism.steps * batch_size) / uses_per_epoch),
    batch_size,
    epochs: mechanism.epochs,
    noise_multiplier: mechanism.noise_multiplier,
    sampler: mechanism.sampler,
    buffer_examples: mechanism.buffer_examples,
    uses_per_epoch,
    max_batch_size: mechanism.max_batch_size,
  };
}

/** The command that trains the same models. */
export function trainingCommand(
  asked: TrainingQuestion,
  files: DataNames,
  claim: number | undefined,
): string {
  const { mechanism, observations, delta, significance, seed } = asked.plan;
  return written("audit dpsgd", audit_dpsgd, {
    model: asked.model,
    ...data(files, asked.data, shapeOf(asked.model)),
    ...batches(mechanism),
    threat_model: mechanism.threat_model,
    clip_norm: asked.clip_norm,
    learning_rate: asked.learning_rate,
    canary: asked.canary,
    runs: observations,
    delta,
    significance,
    claim,
    seed,
  });
}

/** The file of optimised canaries. */
export const CANARY_FILE = "canaries.npz";

/** The command that optimises canaries in the same way. */
export function optimizationCommand(
  { model, data: synthetic, canaries, metasteps, steps, seed }: CanaryOptimizationQuestion,
  files: DataNames,
): string {
  const command = written("canaries optimise", canaries_optimise, {
    model,
    ...data(files, synthetic, model === "lenet" ? "fmnist-like" : "location-like"),
    count: canaries,
    metasteps,
    out: CANARY_FILE,
    steps,
    seed,
  });
  return `${command} --relaxed --device cpu`;
}

/** The command that resumes an audit of the page; it reads the same files again. */
export function resumeCommand(files: DataNames = {}, canaryFile?: string): string {
  const options = { ...data(files, null, ""), canary_file: canaryFile };
  return written(`resume ${CHECKPOINT_FILE}`, {}, options);
}

/** The command that trains the same models with canaries. */
export function canaryTrainingCommand(
  asked: CanaryTrainingQuestion,
  files: DataNames,
  claim: number | undefined,
): string {
  const isOptimised = asked.canary_kind === "optimised";
  return written("audit dpsgd --protocol one-run", audit_dpsgd, {
    model: asked.model,
    ...data(files, asked.data, shapeOf(asked.model)),
    ...batches(asked.mechanism),
    canaries: asked.canaries,
    canary_file: isOptimised ? CANARY_FILE : null,
    canary_kind: isOptimised ? null : asked.canary_kind,
    repeats: asked.repeats,
    reference_models: asked.reference_models,
    score: asked.score,
    guesses: asked.guesses,
    guesses_in: asked.guesses_in,
    guesses_out: asked.guesses_out,
    clip_norm: asked.clip_norm,
    learning_rate: asked.learning_rate,
    momentum: asked.momentum,
    pretrain_records: asked.pretrain_records,
    pretrain_epochs: asked.pretrain_epochs,
    pretrain_learning_rate: asked.pretrain_learning_rate,
    delta: asked.delta,
    significance: asked.significance,
    claim,
    seed: asked.seed,
  });
}

/** The command that executes the same federated trainings. */
export function federatedTrainingCommand(
  asked: FederatedTrainingQuestion,
  files: DataNames,
  claim: number | undefined,
): string {
  return written("audit fedavg", audit_fedavg, {
    model: asked.model,
    ...data(files, asked.data, shapeOf(asked.model)),
    client_column: asked.client_column && quoted(asked.client_column),
    clients: asked.clients,
    records_per_client: asked.records_per_client,
    concentration: asked.concentration,
    rounds: asked.rounds,
    participation: participation(asked),
    canary_presentations: asked.canary_presentations,
    local_epochs: asked.local_epochs,
    local_batch_size: asked.local_batch_size,
    local_learning_rate: asked.local_learning_rate,
    clip_norm: asked.clip_norm,
    noise_multiplier: asked.noise_multiplier,
    noise_mechanism: serverNoise(asked),
    server_learning_rate: asked.server_learning_rate,
    server_momentum: asked.server_momentum,
    design: `poisson:${numberText(asked.canaries)}`,
    attack: asked.attack,
    repeats: asked.repeats,
    without_canaries: asked.without_canaries,
    delta: asked.delta,
    significance: asked.significance,
    claim,
    seed: asked.seed,
  });
}

function serverNoise({ noise_mechanism, bands }: FederatedTrainingQuestion) {
  return noise_mechanism === "banded" ? `banded:${numberText(bands ?? 1)}` : noise_mechanism;
}

function participation({
  participation,
  epochs,
  sampling_rate,
  cohort,
}: FederatedTrainingQuestion) {
  return `${participation}:${numberText(epochs ?? sampling_rate ?? cohort ?? 1)}`;
}

/** A file name for a shell, which no program takes for an option. */
function fileName(name: string): string {
  return quoted(name.startsWith("-") ? `./${name}` : name);
}
