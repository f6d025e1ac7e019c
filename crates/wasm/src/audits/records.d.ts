export type ThreatModelName = "worst-case" | "partially-informed" | "target-canary";
export type FloatModeName = "fast" | "exact";

/** Observations `first..end` of each world. */
export interface ObservationRange {
  first: number;
  end: number;
}

/** A simulation that is to be audited; what is left out is as on the command line. */
export interface AuditPlan {
  noise_multiplier: number;
  /** Batches an epoch. */
  steps: number;
  /** Passes over the data. */
  epochs: number;
  sampler: Sampler;
  /** Of both worlds together; even. */
  observations: number;
  delta: number;
  /** Chance that the bound is wrong. */
  significance: number;
  /** Where left out, the strongest attacker of the sampler. */
  threat_model?: ThreatModelName;
  /** Records a batch, for the samplers that need it. */
  batch_size?: number;
  /** Records of the buffer, for the samplers that have one. */
  buffer_examples?: number;
  /** Where left out, simultaneous. */
  threshold_rule?: ThresholdRuleName;
  /** Most cuts of the simultaneous rule; where left out, 16. */
  cuts?: number;
  /** Decimal digits; where left out or empty, fresh entropy. */
  seed?: string;
}

/** Observations of both worlds together. */
export interface AuditProgress {
  done: number;
  total: number;
}

/** What a simulation found so far. */
export interface SimulationResult extends AuditResult {
  /** Counted, of both worlds together. */
  observations: number;
  planned: number;
  /** Decimal digits. */
  seed: string;
  /** Equal for equal histograms. */
  histogram_digest: string;
  devices: string[];
  float_modes: FloatModeName[];
  /** Ranges that a device failed to count. */
  fallback_shards: number;
  /** Of the program. */
  version: string;
}
