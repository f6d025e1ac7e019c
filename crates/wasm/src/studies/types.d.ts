export type CurveKind = "claim" | "poisson" | "deterministic" | "max-slice";

/** The exact pair, drawn. */
export interface Pair {
  /** Rigorous; the closed form where nothing was drawn. */
  lower: Accounted;
  estimate: Accounted | { reason: string };
  /** Drawn for the lower limit. */
  observations: number;
  seed: string;
}

/** The exact pair from draws of one epoch. */
export interface PairEstimate {
  estimate: Accounted | { reason: string };
  /** Draws of one epoch. */
  observations: number;
  seed: string;
}

/** A training run and its claim, as far as told. */
export interface Training {
  dataset_size: number;
  batch_size: number;
  epochs: number;
  noise_multiplier: number;
  claim: number;
  delta: number;
  loader: Sampler;
  buffer_examples?: number;
  drop_last?: boolean;
  claim_adjacency?: Adjacency;
  accountant?: Sampler;
  accounted_sampling_rate?: number;
  accounted_steps?: number;
  noise_std?: number;
  clip_norm?: number;
  noise_on?: "sum" | "mean";
}

export type Adjacency = "add-remove" | "replace" | "zero-out";

export interface Finding {
  severity: "refutes" | "warning" | "note";
  code: string;
  says: string;
}

/** What `dpscope check --json` prints. */
export interface CheckReport {
  schema: string;
  version: string;
  setup: object;
  accounting: object;
  claim: {
    epsilon: number;
    delta: number;
    adjacency: Adjacency;
    verdict: "refuted" | "not-refuted";
    says: string;
    note: string;
  };
  sampling_rate: number;
  steps_per_epoch: number;
  steps: number;
  noise_multiplier: number;
  /** The most severe first; each has fields of its own beside these. */
  findings: Finding[];
  lower: Accounted | null;
  upper: Accounted | null;
  poisson: Accounted | null;
  /** Commands that say what would keep the claim. */
  next: string[];
}

/** Records of a picture. */
export interface EpochSize {
  /** A multiple of the batch size. */
  records: number;
  batch_size: number;
  buffer_examples?: number;
  noise_multiplier: number;
}

/** One epoch as it is drawn; record 0 is the target. */
export interface Epoch {
  /** Batch of each record; empty for Poisson sampling. */
  batch_of: Uint32Array;
  /** Members of batch b: `batches[offsets[b] .. offsets[b + 1]]`. */
  batches: Uint32Array;
  offsets: Uint32Array;
  target_batches: Uint32Array;
  /** Noisy sums where the target is in the data; batches without it have mean 0. */
  outputs_target: Float64Array;
  /** The same where it is not. */
  outputs_zero_out: Float64Array;
  /** Nats. */
  score_target: number;
  score_zero_out: number;
}

/** What is simulated. */
export interface Mechanism {
  noise_multiplier: number;
  steps: number;
  epochs: number;
  sampler: Sampler;
  threat_model: "worst-case" | "partially-informed" | "target-canary";
  buffer_examples?: number;
  batch_size?: number;
}

/** Scores of simulated observations, nats: those of an audit with the same seed. */
export interface Scores {
  target: Float64Array;
  zero_out: Float64Array;
}

/** How recorded scores are audited; what is left out is as on the command line. */
export interface ScoresOptions {
  delta: number;
  /** Chance that the bound is wrong. */
  significance: number;
  /** Where left out, simultaneous. */
  threshold_rule?: ThresholdRuleName;
  /** Which world has the higher scores; where left out, the target's. */
  higher_means?: "target" | "zero-out";
  /** Decimal digits; where left out or empty, fresh entropy. */
  seed?: string;
  /** Count runs without a finite score against the attack, instead of refusing the file. */
  count_non_finite?: boolean;
}

/** What recorded scores say. */
export interface ScoresResult extends AuditResult {
  /** Runs of both worlds together. */
  observations: number;
  runs: { target: number; zero_out: number };
  /** Runs whose score is not finite. */
  non_finite: { target: number; zero_out: number };
  /** The largest value over all thresholds: an estimate that is too high. */
  uncorrected_maximum: {
    kind: "estimate";
    epsilon: number;
    threshold: number | null;
    false_positives: number;
    false_negatives: number;
  };
  /** Decimal digits. */
  seed: string;
  findings: string[];
  /** Of the program. */
  version: string;
  curve: AuditCurve;
}

/** What a file holds. */
export interface FileFacts {
  format: "npy" | "csv";
  arrays: { name: string; dtype: string; shape: string; readable: boolean }[];
}
