import { numberText } from "../../../fields/field";
import { factsOf, type LineName } from "../numbers/lines";
import { FIELDS, type State } from "../state/fields";
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
  return state.significance === FIELDS.significance.initial
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

/** What the browser downloads to be resumed by the program. */
export const CHECKPOINT_FILE = "audit.dpscope";

/** The command that resumes a run without files. */
export const RESUME = `dpscope resume ${CHECKPOINT_FILE}`;
