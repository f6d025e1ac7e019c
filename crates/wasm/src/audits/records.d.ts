export type SamplerName =
    | "poisson"
    | "shuffle"
    | "persistent-shuffle"
    | "balls-in-bins"
    | "deterministic"
    | "partial-shuffle"
    | "sliding-buffer"
    | "batch-then-shuffle";
export type ThreatModelName = "worst-case" | "partially-informed" | "target-canary";
export type ThresholdRuleName = "max-uncorrected" | "split" | "simultaneous";
export type FloatModeName = "fast" | "exact";

/** Observations `first..end` of each world. */
export interface ObservationRange {
    first: number;
    end: number;
}

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

/** A simulation that is to be audited; what is left out is as on the command line. */
export interface AuditPlan {
    noise_multiplier: number;
    /** Batches an epoch. */
    steps: number;
    /** Passes over the data. */
    epochs: number;
    sampler: SamplerName;
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
    format: "npy" | "npz" | "csv" | "safetensors";
    arrays: { name: string; dtype: string; shape: string; readable: boolean }[];
}
