export type Row =
  | "poisson"
  | "balls-in-bins"
  | "deterministic"
  | "shuffle-max-slice"
  | "shuffle-sum"
  | "shuffle-best"
  | "persistent-shuffle";

/** Error counts at one threshold that was fixed without them. */
export interface Counts {
  false_positives: number;
  zero_out_trials: number;
  false_negatives: number;
  target_trials: number;
}

/** What counts show; a bound is wrong with probability at most its significance. */
export interface CountsResult {
  kind: "bound";
  epsilon: number;
  delta: number;
  significance: number;
  tail_per_rate: number;
  threshold_rule: "fixed";
  cuts: number;
  threshold: null;
  target_if_score: "above";
  direction: "remove" | "add";
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
  threshold_rule: "max-uncorrected" | "split" | "simultaneous";
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

export type Wanted = "noise" | "steps" | "epochs";

/** What is known of a training; steps are those of an epoch. */
export interface Given {
  noise_multiplier?: number;
  steps?: number;
  epochs?: number;
  sampling_rate?: number;
}

/** The value, and the upper bound of epsilon there. */
export interface Calibrated {
  value: number;
  epsilon: number;
}

