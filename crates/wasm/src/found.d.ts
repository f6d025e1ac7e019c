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
  threshold_rule: ThresholdRuleName;
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

/** Rates of the attack, by rising fpr. */
export interface CurveColumns {
  fpr: Float64Array;
  fnr: Float64Array;
}

/** A curve with the staircases between which the whole of it lies, where there is a bound. */
export interface AuditCurve extends CurveColumns {
  band?: { most: CurveColumns; least: CurveColumns };
}
