import type { PateGanQuestion } from "@dpscope/wasm/synth";
import type { TrainingQuestion } from "@dpscope/wasm/training";
import type {
  CanaryOptimizationQuestion,
  CanaryTrainingQuestion,
  FederatedTrainingQuestion,
} from "@dpscope/wasm/training_canaries";
import { numberText } from "../../../fields/field";
import { factsOf, type LineName } from "../numbers/lines";
import type { State } from "../state/fields";
import { about, hasAdjacency, hasUses, truncates } from "../state/samplers";
import { trainingOf } from "../theory/check";
import { recordsOf } from "../theory/setting";
import { audit_dpsgd, audit_fedavg, audit_pategan, canaries_optimise } from "./defaults.json";

function training(state: State): string {
  const epochs = state.epochs === 1 ? "" : ` --epochs ${numberText(state.epochs)}`;
  const steps = truncates(state.sampler)
    ? `--dataset-size ${numberText(recordsOf(state))} --batch-size ${numberText(state.batch_size)}`
    : `--steps ${numberText(state.steps)}`;
  return `--noise-multiplier ${numberText(state.noise_multiplier)} ${steps}${epochs}`;
}

/** Omitted where it is the program's default. */
function significance(state: State): string {
  return state.significance === audit_dpsgd.significance
    ? ""
    : ` --significance ${numberText(state.significance)}`;
}

/** The reader's claim, where there is one. */
function claim(epsilon: number | undefined): string {
  return epsilon === undefined ? "" : ` --claim ${numberText(epsilon)}`;
}

/** The subject of `dpscope bound` for a line of the table. */
function subject(name: LineName): string {
  const { cost, kind, sampler } = factsOf(name);
  if (cost === "draws") return `pair --side ${kind}`;
  if (sampler === "shuffle") return `shuffle --method ${name.replace("shuffle-", "")}`;
  return kind === "lower" ? `${sampler} --side lower` : sampler;
}

function truncation(state: State): string {
  return ` --max-batch-size ${numberText(state.max_batch_size)}`;
}

/** The options of uniform subsets for a line, or for an audit, where they differ from the program's
 * defaults. */
function subsets(state: State, name?: LineName): string {
  const { sampler, uses_per_epoch: uses, steps, adjacency } = state;
  const bounded = name === undefined ? sampler : factsOf(name).sampler;
  if (hasAdjacency(bounded)) {
    const neighbours = adjacency === "zero-out" ? "" : ` --adjacency ${adjacency}`;
    return `${truncates(bounded) ? truncation(state) : ""}${neighbours}`;
  }
  if (!hasUses(sampler) || uses === 1) return "";
  return name === "poisson"
    ? ` --sampling-rate ${numberText(uses / steps)}`
    : ` --uses-per-epoch ${numberText(uses)}`;
}

/** The command that reproduces a line. */
export function boundCommand(state: State, name: LineName): string {
  const isDrawn = name === "pair-lower" || name === "pair-estimate";
  const drawn = isDrawn ? `${significance(state)} --seed ${state.seed}` : "";
  return `dpscope bound ${subject(name)} ${training(state)}${subsets(state, name)} --delta ${numberText(state.delta)}${drawn}`;
}

/** The command that reproduces the lines of every sampler; its verdict is about shuffled batches. */
export function compareCommand(state: State): string {
  return `dpscope compare ${training(state)} --delta ${numberText(state.delta)}${significance(state)} --seed ${state.seed}${state.sampler === "shuffle" ? claim(state.claim) : ""}`;
}

/** The command that reproduces the audit, exactly in exact mode. */
export function auditCommand(state: State, seed: string, observations: number): string {
  const sampler = about(state.sampler);
  const parts = [
    `dpscope audit bgm ${training(state)}`,
    state.sampler === "shuffle" ? "" : `--sampler ${state.sampler}`,
    sampler.has_buffer ? `--buffer-examples ${numberText(state.buffer_examples)}` : "",
    sampler.needs_batch_size ? `--batch-size ${numberText(state.batch_size)}` : "",
    hasUses(state.sampler) ? subsets(state).trim() : "",
    truncates(state.sampler) ? truncation(state).trim() : "",
    `--threat-model ${state.threat_model}`,
    `--observations ${numberText(observations)} --delta ${numberText(state.delta)}`,
    significance(state).trim(),
    `--seed ${seed} --float-mode ${state.float_mode}`,
    claim(state.claim).trim(),
  ];
  return parts.filter((part) => part !== "").join(" ");
}

/** The command that checks the same description. */
export function checkCommand(state: State): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(trainingOf(state))) {
    if (value === false) continue;
    const text = typeof value === "number" ? numberText(value) : String(value);
    parts.push(`--${name.replaceAll("_", "-")}${value === true ? "" : ` ${text}`}`);
  }
  return `dpscope check ${parts.join(" ")}`;
}

/** The command that simulates the same noisy sum, whose noise multiplier the bundle names. */
export function gaussianCommand(state: State, noiseMultiplier: number): string {
  const { fed_dimension, fed_canaries, delta, seed } = state;
  return `dpscope audit gaussian --noise-multiplier ${numberText(noiseMultiplier)} --dimension ${numberText(fed_dimension)} --design poisson:${numberText(fed_canaries)} --delta ${numberText(delta)}${significance(state)} --seed ${seed}`;
}

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

/** What the browser downloads to be resumed by the program. */
export const CHECKPOINT_FILE = "audit.dpscope";

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

/** A word quoted for a shell. */
export function quoted(word: string): string {
  return /^[\w./-][\w.,:=/-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
