/** A training: noise multiplier, steps an epoch, passes over the data. */
export interface Setting {
  noise_multiplier: number;
  steps: number;
  epochs: number;
}

/** Which of epsilon and delta is given. */
export type At = { delta: number } | { epsilon: number };

export type Row =
  | 'poisson'
  | 'balls-in-bins'
  | 'deterministic'
  | 'shuffle-max-slice'
  | 'shuffle-sum'
  | 'shuffle-best'
  | 'persistent-shuffle';

/** Not below the truth, not above it, or near it without coverage. */
export type Kind = 'upper' | 'lower' | 'estimate';

/** Speaks of the pair of worlds alone, or of every pair of neighbours. */
export type Scope = 'pair' | 'mechanism';

export type Method =
  | 'analytic'
  | 'privacy-loss-distribution'
  | 'max-slice'
  | 'sum'
  | 'importance-sampling'
  | 'plug-in';

/** A pair of epsilon and delta, one of which was given and the other found. */
export interface Accounted {
  epsilon: number;
  delta: number;
  kind: Kind;
  scope: Scope;
  direction: 'both' | 'remove' | 'add';
  method: Method;
  /** What it may be off by, on its safe side. */
  numeric_error: number;
  /** Chance that a bound is wrong; absent where it is proven. */
  significance?: number;
  /** Of an estimate. */
  standard_error?: number;
}

/** Error counts at one threshold that was fixed without them. */
export interface Counts {
  false_positives: number;
  zero_out_trials: number;
  false_negatives: number;
  target_trials: number;
}

export type ThresholdRule = 'max-uncorrected' | 'split' | 'simultaneous' | 'fixed';

/** What an audit found; a bound is wrong with probability at most its significance. */
export interface AuditResult {
  kind: 'bound' | 'estimate';
  epsilon: number;
  delta: number;
  significance: number;
  tail_per_rate: number;
  threshold_rule: ThresholdRule;
  cuts: number;
  threshold: number | null;
  target_if_score: 'above' | 'below';
  direction: 'remove' | 'add';
  scope: Scope;
  false_positives: number;
  false_negatives: number;
  fpr_upper: number;
  fnr_upper: number;
  gdp_mu: number | null;
  ceiling: number;
  events_at_threshold: number;
  gain_at_10x: number;
  limited_by_observations: boolean;
}

/** An audit that is yet to be made. */
export interface PlanQuestion {
  /** Wanted, in nats; without it only the table is made. */
  epsilon?: number;
  delta: number;
  significance: number;
  threshold_rule: 'max-uncorrected' | 'split' | 'simultaneous';
  /** One size, even; without it a table of sizes. */
  observations?: number;
}

/** What audits of these sizes can show at most. */
export interface PlanTable {
  cuts: number;
  tail_per_rate: number;
  /** Fewest of both worlds together, for an attack that never errs. */
  observations_for_ceiling: number | null;
  rows: { observations: number; ceiling: number }[];
}

export type CurveKind = 'claim' | 'poisson' | 'deterministic' | 'max-slice';
