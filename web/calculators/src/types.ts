/** What a page sees: the elements, their properties, and the details of their events. */

import type { MatrixReport, MatrixStrategyRecord } from "@dpscope/wasm/accounting";
import type {
  Accounted,
  AuditResult,
  Failure,
  GuessBound,
  PlanTable,
  SamplerKind,
} from "@dpscope/wasm/calculators";
import type { OneShotSize } from "@dpscope/wasm/one_shot";
import type { VotesAnswer } from "@dpscope/wasm/pate";

export type {
  Accounted,
  AuditResult,
  Failure,
  GuessBound,
  MatrixReport,
  OneShotSize,
  PlanTable,
  VotesAnswer,
};

/** The samplers with an accountant. */
export type BatchSampler = Exclude<
  SamplerKind,
  "partial-shuffle" | "sliding-buffer" | "batch-then-shuffle"
>;
export type CalibratedSampler = Exclude<BatchSampler, "deterministic">;
export type ThresholdRule = "simultaneous" | "split";

export interface TrainingSettings {
  noise_multiplier: number;
  steps: number;
  epochs: number;
  delta: number;
}

export interface EpsilonSettings extends TrainingSettings {
  sampler: BatchSampler;
  uses_per_epoch: number;
  batch_size: number;
  max_batch_size: number;
}

export interface NoiseSettings extends Omit<EpsilonSettings, "sampler" | "noise_multiplier"> {
  sampler: CalibratedSampler;
  epsilon: number;
}

export interface CountsSettings {
  false_positives: number;
  zero_out_trials: number;
  false_negatives: number;
  target_trials: number;
  delta: number;
  significance: number;
}

export interface OneRunSettings {
  canaries: number;
  guesses: number;
  correct: number;
  delta: number;
  significance: number;
}

export interface OneShotSettings {
  canaries: number;
  epsilon: number;
  delta: number;
  significance: number;
}

export interface PateSettings {
  teachers: number;
  gamma: number;
  votes: number;
  delta: number;
}

export interface MatrixSettings {
  strategy: "identity" | "tree" | "banded-square-root" | "banded-optimised" | "blt";
  steps: number;
  participation: "single" | "epochs" | "shuffled" | "min-separation";
  epochs: number;
  separation: number;
  noise_multiplier: number;
  delta: number;
}

export type MatrixRecord = MatrixStrategyRecord;

/** The strategy, and all of them with the noise that they need for its ε. */
export interface MatrixResult extends MatrixReport {
  readonly at_this_epsilon?: readonly MatrixRecord[];
}

export interface PlanSettings {
  epsilon: number;
  delta: number;
  significance: number;
  threshold_rule: ThresholdRule;
}

/** What is claimed, and what is proven for the sampler; unavailable values are omitted. */
export interface GapResult {
  /** The result of accounting as if batches were Poisson sampled. */
  readonly claimed?: Accounted;
  readonly lower?: Accounted;
  readonly upper?: Accounted;
  /** Lower bound over claim, rounded down. */
  readonly ratio?: number;
}

export interface NoiseResult {
  readonly noise_multiplier: number;
  readonly epsilon: number;
  readonly kind: "upper";
  /** The result of Poisson accounting, for other samplers. */
  readonly poisson?: { readonly noise_multiplier: number; readonly epsilon: number };
}

/** What `<dpscope-value>` shows. */
export type ValueQuantity =
  | "poisson-epsilon"
  | "shuffle-epsilon"
  | "persistent-shuffle-epsilon"
  | "balls-in-bins-epsilon"
  | "deterministic-epsilon"
  | "noise-multiplier"
  | "audit-epsilon"
  | "observations";

/** Detail of `dpscope-result`. */
export interface ResultDetail<Calculator extends string, Settings, Result> {
  readonly calculator: Calculator;
  readonly settings: Readonly<Settings>;
  readonly result: Result;
  /** The command that reproduces the numbers. */
  readonly command: string;
  readonly version: string;
}

export type EpsilonDetail = ResultDetail<"epsilon", EpsilonSettings, GapResult>;
export type NoiseDetail = ResultDetail<"noise", NoiseSettings, NoiseResult>;
export type CountsDetail = ResultDetail<"counts", CountsSettings, AuditResult>;
export type OneRunDetail = ResultDetail<"one-run", OneRunSettings, GuessBound>;
export type OneShotDetail = ResultDetail<"one-shot", OneShotSettings, OneShotSize>;
export type PateDetail = ResultDetail<"pate", PateSettings, VotesAnswer>;
export type MatrixDetail = ResultDetail<"matrix", MatrixSettings, MatrixResult>;
export type PlanDetail = ResultDetail<"plan", PlanSettings, PlanTable>;
export type ShuffleGapDetail = ResultDetail<"shuffle-gap", TrainingSettings, GapResult>;
export interface ValueDetail
  extends ResultDetail<
    "value",
    Partial<EpsilonSettings & NoiseSettings & CountsSettings & PlanSettings>,
    Accounted | NoiseResult | AuditResult | PlanTable
  > {
  readonly quantity: ValueQuantity;
}
export type DpscopeDetail =
  | EpsilonDetail
  | NoiseDetail
  | CountsDetail
  | OneRunDetail
  | OneShotDetail
  | PateDetail
  | MatrixDetail
  | PlanDetail
  | ShuffleGapDetail
  | ValueDetail;

/** Bubbles and is composed: one listener on the document hears every calculator. */
export type DpscopeResultEvent<Detail extends DpscopeDetail = DpscopeDetail> = CustomEvent<Detail>;

/** Detail of `dpscope-error`. */
export interface ErrorDetail {
  readonly calculator: DpscopeDetail["calculator"];
  /** What was asked. */
  readonly settings: object;
  readonly failure: Failure;
  /** Of `<dpscope-value>`. */
  readonly quantity?: string;
}

/** Instead of a result; bubbles and is composed. */
export type DpscopeErrorEvent = CustomEvent<ErrorDetail>;

/** `noise_multiplier` → `noiseMultiplier`. */
type PropertyOf<Setting extends string> = Setting extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<PropertyOf<Rest>>}`
  : Setting;
/** Settings as properties of an element. */
type Properties<Settings> = {
  [S in keyof Settings as PropertyOf<S & string>]: Settings[S];
};

export interface DpscopeEpsilonElement extends HTMLElement, Properties<EpsilonSettings> {}
export interface DpscopeNoiseElement extends HTMLElement, Properties<NoiseSettings> {}
export interface DpscopeCountsElement extends HTMLElement, Properties<CountsSettings> {}
export interface DpscopeOneRunElement extends HTMLElement, Properties<OneRunSettings> {}
export interface DpscopeOneShotElement extends HTMLElement, Properties<OneShotSettings> {}
export interface DpscopePateElement extends HTMLElement, Properties<PateSettings> {}
export interface DpscopeMatrixElement extends HTMLElement, Properties<MatrixSettings> {}
export interface DpscopePlanElement extends HTMLElement, Properties<PlanSettings> {}
export interface DpscopeShuffleGapElement extends HTMLElement, Properties<TrainingSettings> {}

/** Attributes are those of its quantity; each is also a property. */
export interface DpscopeValueElement extends HTMLElement {
  quantity: ValueQuantity;
}

declare global {
  interface HTMLElementTagNameMap {
    "dpscope-epsilon": DpscopeEpsilonElement;
    "dpscope-noise": DpscopeNoiseElement;
    "dpscope-counts": DpscopeCountsElement;
    "dpscope-one-run": DpscopeOneRunElement;
    "dpscope-one-shot": DpscopeOneShotElement;
    "dpscope-pate": DpscopePateElement;
    "dpscope-matrix": DpscopeMatrixElement;
    "dpscope-plan": DpscopePlanElement;
    "dpscope-shuffle-gap": DpscopeShuffleGapElement;
    "dpscope-value": DpscopeValueElement;
  }

  interface GlobalEventHandlersEventMap {
    "dpscope-result": DpscopeResultEvent;
    "dpscope-error": DpscopeErrorEvent;
  }
}
