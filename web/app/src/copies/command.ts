import type { PateGanQuestion } from "@dpscope/wasm/synth";
import type { TrainingQuestion } from "@dpscope/wasm/training";
import { numberText } from "../../../fields/field";
import type { FederatedRole } from "../federated/files";
import type { LineName } from "../numbers/lines";
import type { RunRole } from "../one-run/files";
import type { State } from "../state/fields";
import { about } from "../state/samplers";
import { trainingOf } from "../theory/check";
import { recordsOf } from "../theory/setting";

function training(state: State): string {
  const epochs = state.epochs === 1 ? "" : ` --epochs ${numberText(state.epochs)}`;
  const steps =
    state.sampler === "truncated-poisson"
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
const SUBJECT: Record<LineName, string> = {
  poisson: "poisson",
  "balls-in-bins": "balls-in-bins",
  "shuffle-sum": "shuffle --method sum",
  "shuffle-max-slice": "shuffle --method max-slice",
  "persistent-shuffle": "persistent-shuffle --side lower",
  "pair-lower": "pair --side lower",
  "pair-estimate": "pair --side estimate",
  deterministic: "deterministic",
  "fixed-size-lower": "fixed-size --side lower",
  "fixed-size": "fixed-size",
  "random-allocation-lower": "random-allocation --side lower",
  "random-allocation": "random-allocation",
  "truncated-poisson-lower": "truncated-poisson --side lower",
  "truncated-poisson": "truncated-poisson",
};

function truncation(state: State): string {
  return ` --max-batch-size ${numberText(state.max_batch_size)}`;
}

/** The options of uniform subsets for a line, where they differ from the program's defaults. */
function subsets(state: State, name: LineName): string {
  const { sampler, uses_per_epoch: uses, steps, adjacency } = state;
  const isTruncated = name.startsWith("truncated-poisson");
  if (isTruncated || name.startsWith("fixed-size")) {
    const neighbours = adjacency === "zero-out" ? "" : ` --adjacency ${adjacency}`;
    return `${isTruncated ? truncation(state) : ""}${neighbours}`;
  }
  if (sampler !== "random-allocation" || uses === 1) return "";
  return name === "poisson"
    ? ` --sampling-rate ${numberText(uses / steps)}`
    : ` --uses-per-epoch ${numberText(uses)}`;
}

/** The command that reproduces a line. */
export function boundCommand(state: State, name: LineName): string {
  const isDrawn = name === "pair-lower" || name === "pair-estimate";
  const drawn = isDrawn ? `${significance(state)} --seed ${state.seed}` : "";
  return `dpscope bound ${SUBJECT[name]} ${training(state)}${subsets(state, name)} --delta ${numberText(state.delta)}${drawn}`;
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
    state.sampler === "random-allocation" ? subsets(state, "random-allocation").trim() : "",
    state.sampler === "truncated-poisson" ? truncation(state).trim() : "",
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
  const second = ` --zero-out ${quoted(zeroOut ?? target)}`; // one file may contain both worlds
  const higher = state.scores_higher === "target" ? "" : " --higher-means zero-out";
  return `dpscope audit scores --target ${quoted(target)}${second}${higher} --threshold-rule ${state.scores_rule} --delta ${numberText(state.delta)} --significance ${numberText(state.significance)}${claim(state.scores_claim)}`;
}

/** The command that audits the same files of one run. */
export function oneRunCommand(state: State, names: (role: RunRole) => readonly string[]): string {
  const scores = names("scores").length === 0 ? ["scores.npy"] : names("scores");
  const parts = [`dpscope audit one-run --scores ${scores.map(quoted).join(" ")}`];
  const option = (flag: string, role: RunRole) => {
    const [name] = names(role);
    if (name !== undefined) parts.push(`${flag} ${quoted(name)}`);
    return name !== undefined;
  };
  if (names("plan").length > 0) parts.push("--plan plan");
  else {
    const hasPool = option("--pool-scores", "pool_scores");
    if (option("--null-scores", "null_scores") || hasPool) parts.push(...drawn(state));
    else {
      parts.push(`--coins ${quoted(names("coins")[0] ?? "coins.npy")}`);
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

/** The command that trains the same models; options at the program's defaults are left out. */
export function trainingCommand(
  { plan, model, data, clip_norm, learning_rate, canary }: TrainingQuestion,
  files: { data?: string | undefined; labels?: string | undefined },
  claim: number | undefined,
): string {
  const { mechanism, observations, delta, significance, seed } = plan;
  const batch = mechanism.batch_size ?? 1;
  const option = (flag: string, value: string | number | null | undefined, usual?: unknown) =>
    value === usual || value === undefined || value === null
      ? ""
      : `--${flag} ${typeof value === "number" ? numberText(value) : value}`;
  return [
    "dpscope audit dpsgd",
    option("model", model, "mlp"),
    option(
      "data",
      files.data === undefined ? data : quoted(files.data),
      model === "lenet" ? "fmnist-like" : "p100-like",
    ),
    option("labels", files.labels === undefined ? undefined : quoted(files.labels)),
    option("records", mechanism.steps * batch),
    option("batch-size", batch),
    option("epochs", mechanism.epochs, 1),
    option("noise-multiplier", mechanism.noise_multiplier),
    option("sampler", mechanism.sampler, "shuffle"),
    option("threat-model", mechanism.threat_model),
    option("clip-norm", clip_norm, 1),
    option("learning-rate", learning_rate),
    option("canary", canary, "random"),
    option("runs", observations),
    option("delta", delta),
    option("significance", significance, 0.05),
    option("claim", claim),
    option("seed", seed),
  ]
    .filter((part) => part !== "")
    .join(" ");
}

/** The command that audits the same cosines. */
export function federatedCommand(
  state: State,
  nameOf: (role: FederatedRole) => string | undefined,
): string {
  const [initial, final] = [nameOf("initial_model"), nameOf("final_model")];
  const scored =
    nameOf("cosines") === undefined && (initial ?? final) !== undefined
      ? `--initial ${quoted(initial ?? "initial.npy")} --final ${quoted(final ?? "final.npy")}`
      : `--cosines ${quoted(nameOf("cosines") ?? "cosines.csv")}`;
  const parts = [`dpscope audit federated ${scored}`];
  const unseen = nameOf("unseen");
  if (unseen !== undefined) parts.push(`--unseen ${quoted(unseen)}`);
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
  if (control !== undefined) parts.push(`--control ${quoted(control)}`);
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

/** A file name quoted for a shell. */
function quoted(name: string): string {
  return /^[\w.][\w.-]*$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}
