import type { AuditPlan, Mechanism } from "@dpscope/wasm/audits";
import type { BoundSetting } from "@dpscope/wasm/calculators";
import type { Field as AnyField, ValueOf } from "../../../fields/field";
import { choiceOf } from "../../../fields/field";
import * as shared from "../../../fields/parameters";
import { audit_bgm, bound } from "../options/options.json";
import { fieldsOf } from "../options/table";
import { CHECK } from "./check";
import { FEDERATED } from "./federated";
import { COMMANDS, type Given } from "./given";
import { MATRIX } from "./matrix";
import { RUN } from "./one-run";
import {
  ALL,
  about,
  hasAdjacency,
  hasUses,
  parametersOf,
  type Sampler,
  samplerField,
  type ThreatModel,
} from "./samplers";
import { SEE } from "./see";
import { SYNTHETIC } from "./synthetic";
import { attackerOf, TRAINING } from "./training";

const { noiseMultiplier, steps, epochs, delta, significance } = shared;
const { buffer, uses, maxBatch } = parametersOf("sampler");
const bgm = fieldsOf<Mechanism & AuditPlan & { float_mode: "exact" | "fast" }>(audit_bgm);
const ownClaim = {
  kind: "number",
  label: "Your claim ε (optional)",
  least: 0,
  most: 1e6,
  help: "The ε reported for this training at δ",
} as const;

/** Every field of the state. A default is that of version 1 of the links. */
export const FIELDS = {
  view: choiceOf("View", "explore", {
    explore: "Explore",
    matrix: "DP-FTRL",
    see: "See it happen",
    train: "Train",
    check: "Check my training",
    scores: "My data",
    "one-run": "One run",
    federated: "Federated",
    synthetic: "Synthetic data",
    published: "Published",
    meaning: "What a bound means",
  }),
  noise_multiplier: { ...noiseMultiplier, least: 0.2, most: 20, slider: { most: 10 } },
  steps: { ...steps, most: 1e5 },
  epochs: { ...epochs, most: 1000 },
  delta: { ...delta, least: 1e-12, most: 0.1 },
  sampler: samplerField("How batches are drawn", ALL),
  uses_per_epoch: bgm.number("uses_per_epoch", { ...uses, most: 1e5 }),
  adjacency: fieldsOf<BoundSetting>(bound).choice("adjacency", {
    help: "What neighbouring data sets differ in, for bounds and claim",
    onlyFor: ["sampler", ...ALL.filter(hasAdjacency)],
  }),
  threat_model: bgm.choice("threat_model", {
    label: "Threat model of the audit",
    initial: "worst-case",
    says: {
      "worst-case": "The attacker chooses every record.",
      "partially-informed": "The attacker chooses one record of every batch.",
      "target-canary": "The attacker chooses the target alone.",
    },
  }),
  batch_size: bgm.number("batch_size", { symbol: "B", most: 500_000, initial: 64 }),
  dataset_size: bgm.optional("dataset_size", {
    label: "Dataset size",
    symbol: "N",
    most: 1e9,
    help: "With the batch size in place of the steps per epoch",
  }),
  max_batch_size: { ...maxBatch, most: 1e9, initial: 80 },
  buffer_examples: { ...buffer, most: 1e9, initial: 1000 },
  claim: ownClaim,
  significance: { ...significance, least: 1e-6, slider: { least: 0.001 } },
  seed: { kind: "seed", label: "Random seed", initial: "1" },
  axis: choiceOf("Parameter on the x axis", "noise_multiplier", {
    noise_multiplier: "noise σ",
    steps: "steps T",
    epochs: "epochs E",
    delta: "δ",
  }),
  observations: bgm.number("observations", {
    symbol: "n",
    least: 1000,
    most: 1e10,
    initial: 1e6,
  }),
  device: choiceOf("Device", "auto", {
    auto: "Auto",
    gpu: "WebGPU",
    cpu: "CPU",
  }),
  workers: {
    kind: "number",
    label: "CPU workers (optional)",
    least: 1,
    most: 32,
    whole: true,
    hint: "All cores but one if empty; with all of them the page may stutter.",
    onlyFor: ["device", "auto", "cpu"],
  },
  float_mode: bgm.choice("float_mode", { initial: "exact" }),
  ...SEE,
  see_claim: ownClaim,
  ...CHECK,
  question: {
    kind: "choice",
    label: "What did you record?",
    options: COMMANDS.map((command) => [command, command] as const),
    initial: "scores",
  },
  ...RUN,
  ...FEDERATED,
  ...SYNTHETIC,
  ...TRAINING,
  ...MATRIX,
} as const satisfies Record<string, AnyField>;

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
export function fieldOf(name: Field): AnyField {
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
