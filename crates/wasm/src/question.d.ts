/** What is thrown. */
export interface Failure {
  kind: "input" | "limit" | "stopped" | "device" | "file" | "internal";
  /** The input that is to be changed, where one is. */
  field?: string;
  /** For people: what is wrong and what to change. */
  message: string;
}

/** A training: noise multiplier, steps an epoch, passes over the data. */
export interface Setting {
  noise_multiplier: number;
  steps: number;
  epochs: number;
}

/** Which of epsilon and delta is given. */
export type At = { delta: number } | { epsilon: number };

/** Not below the truth, not above it, or near it without coverage. */
export type Kind = "upper" | "lower" | "estimate";

/** Speaks of the pair of worlds alone, or of every pair of neighbours. */
export type Scope = "pair" | "mechanism";

export type Method =
  | "analytic"
  | "privacy-loss-distribution"
  | "max-slice"
  | "sum"
  | "importance-sampling"
  | "plug-in";

/** A pair of epsilon and delta, one of which was given and the other found. */
export interface Accounted {
  epsilon: number;
  delta: number;
  kind: Kind;
  scope: Scope;
  direction: "both" | "remove" | "add";
  method: Method;
  /** What it may be off by, on its safe side. */
  numeric_error: number;
  /** Chance that a bound is wrong; absent where it is proven. */
  significance?: number;
  /** Of an estimate. */
  standard_error?: number;
}

export type Sampler =
  | "poisson"
  | "shuffle"
  | "persistent-shuffle"
  | "balls-in-bins"
  | "deterministic"
  | "partial-shuffle"
  | "sliding-buffer"
  | "batch-then-shuffle";

export type ThresholdRuleName = "max-uncorrected" | "split" | "simultaneous";

/** What an audit found, with what it rests on: the `result` of the command line's JSON. */
export interface AuditResult {
  kind: "bound" | "estimate";
  /** Nats. */
  epsilon: number;
  delta: number;
  /** Chance that a bound is wrong. */
  significance: number;
  tail_per_rate: number;
  /** Fixed where error counts were given. */
  threshold_rule: ThresholdRuleName | "fixed";
  cuts: number;
  /** None where it is not a finite number: unknown, or below every score. */
  threshold: number | null;
  target_if_score: "above" | "below";
  direction: "remove" | "add";
  scope: "pair";
  false_positives: number;
  false_negatives: number;
  fpr_upper: number;
  fnr_upper: number;
  /** A bound where the result is one; none for an estimate. */
  gdp_mu: number | null;
  /** Value of an attack without any error on as many observations. */
  ceiling: number;
  events_at_threshold: number;
  /** Gain in epsilon if ten times the observations showed the same rates. */
  gain_at_10x: number;
  limited_by_observations: boolean;
}

