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

