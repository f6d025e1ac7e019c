import type { PateGanQuestion } from "@dpscope/wasm/synth";
import type { TrainingQuestion } from "@dpscope/wasm/training";
import type {
  CanaryOptimizationQuestion,
  CanaryTrainingQuestion,
  FederatedTrainingQuestion,
} from "@dpscope/wasm/training_canaries";
import { numberText } from "../../../fields/field";
import type { FederatedRole } from "../federated/files";
import { factsOf, type LineName } from "../numbers/lines";
import type { RunRole } from "../one-run/files";
import type { State } from "../state/fields";
import { about, hasAdjacency, hasUses, truncates } from "../state/samplers";
import { trainingOf } from "../theory/check";
import { recordsOf } from "../theory/setting";

function training(state: State): string {
  const epochs = state.epochs === 1 ? "" : ` --epochs ${numberText(state.epochs)}`;
  const steps = truncates(state.sampler)
    ? `--dataset-size ${numberText(recordsOf(state))} --batch-size ${numberText(state.batch_size)}`
    : `--steps ${numberText(state.steps)}`;
  return `--noise-multiplier ${numberText(state.noise_multiplier)} ${steps}${epochs}`;
}

/** Omitted where it is the program's default. */
function significance(state: State): string {
  return state.significance === 0.05 ? "" : ` --significance ${numberText(state.significance)}`;
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

/** The command that audits the same files. */
export function scoresCommand(state: State, target: string, zeroOut: string | undefined): string {
  const second = ` --zero-out ${fileName(zeroOut ?? target)}`; // one file may contain both worlds
  const higher = state.scores_higher === "target" ? "" : " --higher-means zero-out";
  return `dpscope audit scores --target ${fileName(target)}${second}${higher} --threshold-rule ${state.scores_rule} --delta ${numberText(state.delta)} --significance ${numberText(state.significance)}${claim(state.scores_claim)}`;
}

/** The command that audits the same files of one run. */
export function oneRunCommand(state: State, names: (role: RunRole) => readonly string[]): string {
  const scores = names("scores").length === 0 ? ["scores.npy"] : names("scores");
  const parts = [`dpscope audit one-run --scores ${scores.map(fileName).join(" ")}`];
  const option = (flag: string, role: RunRole) => {
    const [name] = names(role);
    if (name !== undefined) parts.push(`${flag} ${fileName(name)}`);
    return name !== undefined;
  };
  if (names("plan").length > 0) parts.push("--plan plan");
  else {
    const hasPool = option("--pool-scores", "pool_scores");
    if (option("--null-scores", "null_scores") || hasPool) parts.push(...drawn(state));
    else {
      parts.push(`--coins ${fileName(names("coins")[0] ?? "coins.npy")}`);
      option("--sets", "sets");
      if (state.run_rule === "fixed") parts.push(`--guesses ${numberText(state.run_guesses)}`);
      if (state.run_game === "pairs" && names("sets").length === 0) parts.push("--pairs");
    }
    if (state.run_higher === "other") parts.push("--direction lower");
    parts.push(`--delta ${numberText(state.delta)}${significance(state)}`);
  }
  option("--canaries", "canaries");
  option("--base-data", "base_data");
  option("--baseline", "baseline");
  return `${parts.join(" ")}${claim(state.run_claim)}`;
}

/** The command that simulates the same noisy sum, whose noise multiplier the bundle names. */
export function gaussianCommand(state: State, noiseMultiplier: number): string {
  const { fed_dimension, fed_canaries, delta, seed } = state;
  return `dpscope audit gaussian --noise-multiplier ${numberText(noiseMultiplier)} --dimension ${numberText(fed_dimension)} --design poisson:${numberText(fed_canaries)} --delta ${numberText(delta)}${significance(state)} --seed ${seed}`;
}

/** The command that trains the same runs; options at the program's defaults are left out. */
export function pateganCommand(asked: PateGanQuestion): string {
  const option = (flag: string, value: number | undefined, usual?: number) =>
    value === usual || value === undefined ? "" : `--${flag} ${numberText(value)}`;
  const parts = [
    "dpscope audit pategan",
    asked.faults === "" ? "" : `--fault ${asked.faults}`,
    option("runs", asked.runs, 1000),
    option("teachers", asked.teachers, 2),
    option("gamma", asked.gamma, 1e-3),
    option("batch-size", asked.batch_size, 4),
    option("iterations", asked.iterations, 100),
    option("epsilon", asked.epsilon),
    option("delta", asked.delta, 1e-5),
    option("significance", asked.significance, 0.05),
    `--seed ${asked.seed}`,
  ];
  return parts.filter((part) => part !== "").join(" ");
}

/** Names of the reader's files. */
export interface DataNames {
  data?: string | undefined;
  labels?: string | undefined;
}

type Option = string | number | null | undefined;

/** Options of a training, in the order of the program's help; those at its defaults are left out. */
function written(options: readonly (readonly [flag: string, value: Option, usual?: Option])[]) {
  const shown = options.filter(
    ([, value, usual]) => value !== usual && value !== undefined && value !== null,
  );
  return shown
    .map(([flag, value]) => {
      if (typeof value === "number") return ` --${flag} ${numberText(value)}`;
      // after a space, the program takes a word that begins with a hyphen for an option
      return ` --${flag}${/^'?-/.test(value ?? "") ? "=" : " "}${value}`;
    })
    .join("");
}

function data(files: DataNames, model: string, data: Option) {
  const usual = model === "lenet" ? "fmnist-like" : "p100-like";
  return [
    ["data", files.data === undefined ? data : fileName(files.data), usual],
    ["labels", files.labels === undefined ? undefined : fileName(files.labels)],
  ] as const;
}

function batches(mechanism: TrainingQuestion["plan"]["mechanism"]) {
  const [batch, uses] = [mechanism.batch_size ?? 1, mechanism.uses_per_epoch ?? 1];
  return [
    // as many as have these steps per epoch
    ["records", Math.ceil((mechanism.steps * batch) / uses)],
    ["batch-size", batch],
    ["epochs", mechanism.epochs, 1],
    ["noise-multiplier", mechanism.noise_multiplier],
    ["sampler", mechanism.sampler, "shuffle"],
    ["buffer-examples", mechanism.buffer_examples],
    ["uses-per-epoch", uses, 1],
    ["max-batch-size", mechanism.max_batch_size],
  ] as const;
}

/** The command that trains the same models. */
export function trainingCommand(
  asked: TrainingQuestion,
  files: DataNames,
  claim: number | undefined,
): string {
  const { mechanism, observations, delta, significance, seed } = asked.plan;
  const options = written([
    ["model", asked.model, "mlp"],
    ...data(files, asked.model, asked.data),
    ...batches(mechanism),
    ["threat-model", mechanism.threat_model],
    ["clip-norm", asked.clip_norm, 1],
    ["learning-rate", asked.learning_rate],
    ["canary", asked.canary, "random"],
    ["runs", observations],
    ["delta", delta],
    ["significance", significance, 0.05],
    ["claim", claim],
    ["seed", seed],
  ]);
  return `dpscope audit dpsgd${options}`;
}

/** The file of optimised canaries. */
export const CANARY_FILE = "canaries.npz";

/** The command that optimises canaries in the same way. */
export function optimizationCommand(
  { model = "mlp", data: synthetic, canaries, metasteps, steps, seed }: CanaryOptimizationQuestion,
  files: DataNames,
): string {
  const [named, labels] = data(files, "", synthetic);
  const options = written([
    ["model", model, "mlp"],
    ["data", named[1], model === "lenet" ? "fmnist-like" : "location-like"],
    labels,
    ["count", canaries],
    ["metasteps", metasteps],
    ["out", CANARY_FILE],
    ["steps", steps],
    ["seed", seed],
  ]);
  return `dpscope canaries optimise${options} --relaxed --device cpu`;
}

/** What the browser downloads to be resumed by the program. */
export const CHECKPOINT_FILE = "audit.dpscope";

/** The command that resumes an audit of the page; it reads the same files again. */
export function resumeCommand(files: DataNames = {}, canaryFile?: string): string {
  const options = written([
    ["data", files.data && fileName(files.data)],
    ["labels", files.labels && fileName(files.labels)],
    ["canary-file", canaryFile],
  ]);
  return `dpscope resume ${CHECKPOINT_FILE}${options}`;
}

/** The command that trains the same models with canaries. */
export function canaryTrainingCommand(
  asked: CanaryTrainingQuestion,
  files: DataNames,
  claim: number | undefined,
): string {
  const options = written([
    ["model", asked.model, "mlp"],
    ...data(files, asked.model, asked.data),
    ...batches(asked.mechanism),
    ["canaries", asked.canaries],
    ...(asked.canary_kind === "optimised"
      ? ([["canary-file", CANARY_FILE]] as const)
      : ([["canary-kind", asked.canary_kind, "mislabelled"]] as const)),
    ["repeats", asked.repeats, 1],
    ["reference-models", asked.reference_models, 0],
    ["score", asked.score, "final-loss"],
    ["guesses", asked.guesses],
    ["guesses-in", asked.guesses_in],
    ["guesses-out", asked.guesses_out],
    ["clip-norm", asked.clip_norm, 1],
    ["learning-rate", asked.learning_rate],
    ["momentum", asked.momentum, 0],
    ["pretrain-records", asked.pretrain_records],
    ["pretrain-epochs", asked.pretrain_epochs, 1],
    ["pretrain-learning-rate", asked.pretrain_learning_rate],
    ["delta", asked.delta],
    ["significance", asked.significance, 0.05],
    ["claim", claim],
    ["seed", asked.seed],
  ]);
  return `dpscope audit dpsgd --protocol one-run${options}`;
}

/** The command that executes the same federated trainings. */
export function federatedTrainingCommand(
  asked: FederatedTrainingQuestion,
  files: DataNames,
  claim: number | undefined,
): string {
  const options = written([
    ["model", asked.model, "mlp"],
    ...data(files, asked.model, asked.data),
    ["client-column", asked.client_column && quoted(asked.client_column)],
    ["clients", asked.clients, 900],
    ["records-per-client", asked.records_per_client, 10],
    ["concentration", asked.concentration],
    ["rounds", asked.rounds, 50],
    ["participation", participation(asked), "epochs:5"],
    ["canary-presentations", asked.canary_presentations],
    ["local-epochs", asked.local_epochs, 5],
    ["local-batch-size", asked.local_batch_size, 10],
    ["local-learning-rate", asked.local_learning_rate, 0.5],
    ["clip-norm", asked.clip_norm, 1],
    ["noise-multiplier", asked.noise_multiplier],
    ["noise-mechanism", serverNoise(asked), "gaussian"],
    ["server-learning-rate", asked.server_learning_rate, 1],
    ["server-momentum", asked.server_momentum, 0.9],
    ["design", `poisson:${numberText(asked.canaries)}`, "poisson:200"],
    ["attack", asked.attack, "final-model"],
    ["repeats", asked.repeats, 1],
    ["without-canaries", asked.without_canaries, 1],
    ["delta", asked.delta],
    ["significance", asked.significance, 0.05],
    ["claim", claim],
    ["seed", asked.seed],
  ]);
  return `dpscope audit fedavg${options}`;
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

/** The command that audits the same cosines. */
export function federatedCommand(
  state: State,
  nameOf: (role: FederatedRole) => string | undefined,
): string {
  const [initial, final] = [nameOf("initial_model"), nameOf("final_model")];
  const scored =
    nameOf("cosines") === undefined && (initial ?? final) !== undefined
      ? `--initial ${fileName(initial ?? "initial.npy")} --final ${fileName(final ?? "final.npy")}`
      : `--cosines ${fileName(nameOf("cosines") ?? "cosines.csv")}`;
  const parts = [`dpscope audit federated ${scored}`];
  const unseen = nameOf("unseen");
  if (unseen !== undefined) parts.push(`--unseen ${fileName(unseen)}`);
  if (nameOf("plan") !== undefined || scored.startsWith("--initial")) parts.push("--plan plan");
  else {
    const { fed_parameters, fed_attacker, fed_server_rounds, fed_inserted } = state;
    parts.push(`--dimension ${fed_parameters === undefined ? "D" : numberText(fed_parameters)}`);
    parts.push(...drawn(state));
    if (fed_inserted !== undefined) parts.push(`--canaries ${numberText(fed_inserted)}`);
    if (fed_attacker !== "final_model") {
      parts.push(`--attacker ${fed_attacker.replaceAll("_", "-")}`);
    }
    if (fed_attacker === "all_updates" && fed_server_rounds !== undefined) {
      parts.push(`--server-rounds ${numberText(fed_server_rounds)}`);
    }
    parts.push(`--delta ${numberText(state.delta)}${significance(state)}`);
  }
  const control = nameOf("control");
  if (control !== undefined) parts.push(`--control ${fileName(control)}`);
  if (state.fed_control !== undefined) {
    parts.push(`--control-client ${state.fed_control}`);
    if (state.fed_control_cosine !== undefined && scored.startsWith("--cosines")) {
      parts.push(`--control-cosine ${numberText(state.fed_control_cosine)}`);
    }
  }
  return `${parts.join(" ")}${claim(state.fed_claim)}`;
}

/** How the number of canaries was drawn, as an option. */
function drawn(state: State): string[] {
  const { run_mean, run_slots, run_inclusion } = state;
  if (state.run_number === "poisson") return [`--design poisson:${numberText(run_mean)}`];
  if (state.run_number === "fixed") return [];
  return [`--design bernoulli:${numberText(run_slots)}:${numberText(run_inclusion)}`];
}

/** A file name for a shell, which no program takes for an option. */
function fileName(name: string): string {
  return quoted(name.startsWith("-") ? `./${name}` : name);
}

/** A word quoted for a shell. */
function quoted(word: string): string {
  return /^[\w.][\w.-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
