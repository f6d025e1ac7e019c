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

/** An audit that is yet to be made. */
export interface PlanQuestion {
  /** Wanted, in nats; without it only the table is made. */
  epsilon?: number;
  delta: number;
  significance: number;
  threshold_rule: ThresholdRuleName;
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

