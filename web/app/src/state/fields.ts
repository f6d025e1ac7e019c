import type { Field as AnyField, ValueOf } from "../../../fields/field";
import * as shared from "../../../fields/parameters";
import { FEDERATED } from "./federated";
import { COMMANDS, type Given } from "./given";
import { MATRIX } from "./matrix";
import {
  ALL,
  about,
  hasUses,
  type Sampler,
  samplers,
  THREAT_MODEL,
  type ThreatModel,
} from "./samplers";
import { SYNTHETIC } from "./synthetic";
import { attackerOf, TRAINING } from "./training";

const { noiseMultiplier, steps, epochs, delta, significance } = shared;
const batchSize = { kind: "number", label: "Batch size", symbol: "B", whole: true } as const;
const bufferSize = { kind: "number", label: "Shuffle buffer size", whole: true } as const;
const uses = {
  kind: "number",
  label: "Batches with a record, per epoch",
  symbol: "k",
  least: 1,
  whole: true,
  help: "Each record is in k of the T batches of each epoch",
} as const;
const maxBatchSize = {
  kind: "number",
  label: "Most records of a batch",
  symbol: "Bₘ",
  least: 1,
  whole: true,
  help: "Of more records that are drawn, a uniform subset is kept",
} as const;
const ownClaim = {
  kind: "number",
  label: "Your claim ε (optional)",
  least: 0,
  most: 1e6,
  help: "The ε reported for this training at δ",
} as const;
const yesOrNo = [
  ["no", "No"],
  ["yes", "Yes"],
] as const;
const ADJACENCIES = [
  ["add-remove", "Add or remove a record"],
  ["zero-out", "Zero out a record"],
  ["replace", "Replace a record"],
] as const;

/** Every field of the state. A default is that of version 1 of the links; `record` is the name in the
 * bundle's description of a training. */
export const FIELDS = {
  view: {
    kind: "choice",
    label: "View",
    options: [
      ["explore", "Explore"],
      ["matrix", "DP-FTRL"],
      ["see", "See it happen"],
      ["train", "Train"],
      ["check", "Check my training"],
      ["scores", "My data"],
      ["one-run", "One run"],
      ["federated", "Federated"],
      ["synthetic", "Synthetic data"],
      ["published", "Published"],
      ["meaning", "What a bound means"],
    ],
    initial: "explore",
  },
  noise_multiplier: { ...noiseMultiplier, least: 0.2, most: 20, slider: { most: 10 } },
  steps: { ...steps, most: 1e5 },
  epochs: { ...epochs, most: 1000 },
  delta: { ...delta, least: 1e-12, most: 0.1 },
  sampler: {
    kind: "choice",
    label: "How batches are drawn",
    options: samplers(ALL),
    initial: "shuffle",
  },
  uses_per_epoch: { ...uses, most: 1e5, initial: 1 },
  adjacency: {
    kind: "choice",
    label: "Adjacency",
    options: ADJACENCIES,
    initial: "zero-out",
  },
  threat_model: {
    kind: "choice",
    label: "Threat model of the audit",
    options: Object.entries(THREAT_MODEL).map(([value, { name }]) => [value as ThreatModel, name]),
    initial: "worst-case",
  },
  batch_size: { ...batchSize, least: 1, most: 500_000, initial: 64 },
  dataset_size: {
    kind: "number",
    label: "Dataset size",
    symbol: "N",
    least: 1,
    most: 1e9,
    whole: true,
    help: "With the batch size in place of the steps per epoch",
  },
  max_batch_size: { ...maxBatchSize, most: 1e9, initial: 80 },
  buffer_examples: { ...bufferSize, least: 1, most: 1e9, initial: 1000 },
  claim: ownClaim,
  significance: { ...significance, least: 1e-6, slider: { least: 0.001 } },
  seed: { kind: "seed", label: "Random seed", initial: "1" },
  axis: {
    kind: "choice",
    label: "Parameter on the x axis",
    options: [
      ["noise_multiplier", "noise σ"],
      ["steps", "steps T"],
      ["epochs", "epochs E"],
      ["delta", "δ"],
    ],
    initial: "noise_multiplier",
  },
  observations: {
    kind: "number",
    label: "Observations",
    symbol: "n",
    least: 1000,
    most: 1e10,
    whole: true,
    initial: 1e6,
  },
  device: {
    kind: "choice",
    label: "Device",
    options: [
      ["auto", "Auto"],
      ["gpu", "WebGPU"],
      ["cpu", "CPU"],
    ],
    initial: "auto",
  },
  workers: {
    kind: "number",
    label: "CPU workers (optional)",
    least: 1,
    most: 32,
    whole: true,
    help: "All cores but one if empty",
  },
  float_mode: {
    kind: "choice",
    label: "Float mode",
    options: [
      ["exact", "exact"],
      ["fast", "fast"],
    ],
    initial: "exact",
  },
  see_sampler: {
    kind: "choice",
    label: "How batches are drawn",
    options: samplers(ALL),
    initial: "shuffle",
  },
  see_noise: { ...noiseMultiplier, least: 0.2, most: 5, initial: 0.6 },
  see_steps: {
    ...steps,
    label: "Batches per epoch",
    least: 2,
    most: 12,
    initial: 8,
    slider: { isLinear: true },
  },
  see_batch: { ...batchSize, least: 1, most: 8, initial: 4, slider: { isLinear: true } },
  see_dataset: {
    kind: "number",
    label: "Dataset size",
    symbol: "N",
    least: 2,
    most: 96,
    whole: true,
    help: "With the batch size in place of the batches per epoch",
  },
  see_uses: { ...uses, most: 12, initial: 2, slider: { isLinear: true } },
  see_max_batch: { ...maxBatchSize, most: 96, initial: 5, slider: { most: 12, isLinear: true } },
  see_buffer: { ...bufferSize, label: "Shuffle buffer size (optional)", least: 1, most: 96 },
  see_claim: ownClaim,
  see_threshold: {
    kind: "number",
    label: "Threshold of the attacker",
    least: 0,
    most: 20,
    initial: 3,
    slider: { most: 10, isLinear: true },
  },
  check_dataset: {
    kind: "number",
    label: "Dataset size",
    least: 1,
    most: 1e12,
    whole: true,
    initial: 60_000,
    record: "dataset_size",
  },
  check_batch: { ...batchSize, least: 1, most: 1e9, initial: 256, record: "batch_size" },
  check_epochs: { ...epochs, most: 1e6, initial: 20, record: "epochs" },
  check_noise: {
    ...noiseMultiplier,
    least: 0.01,
    most: 1e4,
    initial: 0.8,
    record: "noise_multiplier",
  },
  check_loader: {
    kind: "choice",
    label: "How the data loader draws batches",
    options: samplers(ALL),
    initial: "shuffle",
    record: "loader",
  },
  check_buffer: { ...bufferSize, least: 1, most: 1e12, record: "buffer_examples" },
  check_uses: { ...uses, most: 1e9, record: "uses_per_epoch" },
  check_max_batch: { ...maxBatchSize, most: 1e12, record: "max_batch_size" },
  check_drop_last: {
    kind: "choice",
    label: "Drop a smaller last batch",
    options: yesOrNo,
    initial: "no",
    record: "drop_last",
  },
  check_claim: {
    kind: "number",
    label: "Claimed ε",
    least: 0,
    most: 1e6,
    initial: 2.6,
    record: "claim",
  },
  check_delta: { ...delta, least: 1e-50, most: 0.999, record: "delta" },
  check_adjacency: {
    kind: "choice",
    label: "Adjacency",
    options: ADJACENCIES,
    initial: "add-remove",
    record: "claim_adjacency",
  },
  check_accountant: {
    kind: "choice",
    label: "Sampler that it assumes",
    options: samplers(ALL),
    record: "accountant",
  },
  check_rate: {
    kind: "number",
    label: "Sampling rate (optional)",
    least: 1e-9,
    most: 1,
    record: "accounted_sampling_rate",
  },
  check_steps: {
    kind: "number",
    label: "Total steps (optional)",
    least: 1,
    most: 1e9,
    whole: true,
    record: "accounted_steps",
  },
  check_std: {
    kind: "number",
    label: "Standard deviation (optional)",
    least: 1e-12,
    most: 1e12,
    record: "noise_std",
  },
  check_clip: {
    kind: "number",
    label: "Clip norm (optional)",
    least: 1e-12,
    most: 1e12,
    record: "clip_norm",
  },
  check_noise_on: {
    kind: "choice",
    label: "Added to",
    options: [
      ["sum", "The sum over the batch"],
      ["mean", "The mean over the batch"],
    ],
    record: "noise_on",
  },
  question: {
    kind: "choice",
    label: "What did you record?",
    options: COMMANDS.map((command) => [command, command] as const),
    initial: "scores",
  },
  run_canaries: {
    kind: "number",
    label: "Canaries",
    symbol: "m",
    least: 20,
    most: 10_000,
    whole: true,
    initial: 1000,
    help: "Each is included in the training or not, by a fair coin",
  },
  run_guesses: {
    kind: "number",
    label: "Guesses",
    symbol: "k",
    least: 1,
    most: 10_000,
    whole: true,
    initial: 60,
    help: "The most confident ones, fixed before the coins were drawn",
  },
  run_mu: {
    kind: "number",
    label: "Strength of the attack",
    symbol: "μ",
    least: 0,
    most: 10,
    initial: 1,
    slider: { most: 4, isLinear: true },
    help: "Distance of the mean scores of included and other canaries, in standard deviations",
  },
  ...FEDERATED,
  ...SYNTHETIC,
  ...TRAINING,
  ...MATRIX,
} as const satisfies Record<string, AnyField & { record?: string }>;

type Fields = typeof FIELDS;
export type Field = keyof Fields;
/** The whole screen as one record. */
export type State = { [F in Field]: ValueOf<Fields[F]> } & {
  /** Options of audits of recorded data. */
  given: Given;
};
export type { Sampler, ThreatModel };
export type View = State["view"];
export type Axis = State["axis"];

export const AXES: readonly Axis[] = FIELDS.axis.options.map(([axis]) => axis);
export const FIELD_NAMES = Object.keys(FIELDS) as Field[];

/** A field's entry, whatever its kind. */
export function fieldOf(name: Field): AnyField & { record?: string } {
  return FIELDS[name];
}

export function initialState(): State {
  const fields = FIELD_NAMES.map((name) => [name, fieldOf(name).initial]);
  return { ...Object.fromEntries(fields), given: {} } as State;
}

/** The state with threat models that its samplers allow, and the steps of its dataset and batch sizes. */
export function consistent(state: State): State {
  const { sampler, threat_model } = state;
  const allowed = about(sampler).threat_models;
  return {
    ...state,
    steps: stepsOf(state.dataset_size, state.batch_size, FIELDS.steps) ?? state.steps,
    see_steps: stepsOf(seenRecords(state), state.see_batch, FIELDS.see_steps) ?? state.see_steps,
    run_guesses: Math.min(state.run_guesses, state.run_canaries),
    train_attacker: attackerOf(state.train_sampler, state.train_attacker),
    threat_model: allowed.includes(threat_model) ? threat_model : (allowed[0] ?? threat_model),
  };
}

/** Records of an epoch of the miniature, each as often as it is used, if their number is stated. */
function seenRecords({ see_sampler, see_dataset, see_uses }: State): number | undefined {
  const uses = hasUses(see_sampler) ? see_uses : 1;
  return see_dataset === undefined ? undefined : see_dataset * uses;
}

/** Batches per epoch of a dataset, within the domain of the field; none if its size is not stated. */
function stepsOf(
  dataset: number | undefined,
  batch: number,
  { least, most }: { least: number; most: number },
): number | undefined {
  if (dataset === undefined) return undefined;
  return Math.min(Math.max(Math.ceil(dataset / batch), least), most);
}
