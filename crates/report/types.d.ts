/** A pair of ε and δ: one from the query, the other computed. */
export interface Accounted {
  /** Privacy parameter δ, in [0, 1). */
  delta: number;
  /** Covered directions. */
  direction: Directions;
  /** Privacy parameter ε, in nats. */
  epsilon: number;
  /** On which side of the exact value the computed one is. */
  kind: Kind;
  /** How it was computed. */
  method: Method;
  /**
   * Maximum distance between the computed and the exact value from rounding, grids and
   * truncation, without sampling error. The error is on the safe side. Nats for ε, absolute for
   * δ.
   */
  numeric_error: number;
  /** The pair, or every pair of neighbours. */
  scope: Scope;
  /** Probability that a bound is wrong; none if it is proven. */
  significance?: number;
  /** Standard error of an estimate. */
  standard_error?: number;
  /**
   * Distance between what is proven below and above, where neither is the exact value of every
   * training: no smaller numeric error closes it. Nats for ε, absolute for δ. None where both are
   * exact up to the numeric error, or where the other one was not computed.
   */
  theory_gap?: number;
}

/** The neighbouring relation of a privacy statement. */
export type Adjacency = "add-remove" | "replace" | "zero-out";

/** What a report says, whatever its kind: it follows from the rest of the document. */
export interface Answer {
  /** What was found. */
  findings: ListedFinding[];
  /** The result in one sentence. */
  headline: string;
  /** What a reader sees, in the order of the text, without the facts of the run. */
  rows: AnswerRow[];
  /** Claims and limits with their verdicts. */
  tests: TestedClaim[];
  /** Values of ε; the first is the result, where the report has one. */
  values: ListedValue[];
}

/** A labelled paragraph. */
export interface AnswerRow {
  /** Label of the row; empty if it continues the row before. */
  label: string;
  /** What it is about. */
  section: Section;
  /** The paragraph. */
  text: string;
}

/** The answer of the program to a question about files. */
export interface Asked {
  /** The new content of `plan/audited.txt`, where the audit of a committed plan changed it. */
  audited?: string;
  /** Notes and warnings. */
  notes: string[];
  /** The report as a page of its own, self-contained HTML. */
  page: string;
  /** The drawing of the report, a self-contained SVG. */
  picture?: string;
  report: AskedReport;
  /** What the program prints. */
  text: string;
}

/** A report of two worlds, of canaries with coins, or of canaries whose null scores are known. */
export type AskedReport = Report | OneRunReport | OneShotReport;

/** What the accountant assumed, as far as it is known. */
export interface AssumedAccounting {
  /** The sampler. */
  sampler: SamplerKind | null;
  /** Sampling rate q. */
  sampling_rate: number | null;
  /** Steps in all. */
  steps: number | null;
}

/** What a bound assumes in addition to independent runs whose number was fixed beforehand. */
export type Assumes = "nothing" | "independent_canaries" | "gaussian_curve";

/** Evaluated runs, and the errors of an attack at a threshold that other runs chose. */
export interface AttackCounts {
  /** Runs with the target that were taken for runs without it. */
  false_negatives: number;
  /** Runs without the target that were taken for runs with it. */
  false_positives: number;
  /** Upper limit of the false negative rate, likewise. */
  fnr_upper: number;
  /** Upper limit of the false positive rate, whose tail is half the significance. */
  fpr_upper: number;
  /** Evaluated runs with the target. */
  target: number;
  /** Evaluated runs without it. */
  zero_out: number;
}

/** Metrics of one attack; none of them decides a verdict. */
export interface AttackMetrics {
  /**
   * Area under the receiver operating characteristic; none for counts at one threshold, or
   * where a finding costs coverage.
   */
  auc: Auc | null;
  /** ε of a Gaussian trade-off curve; none where a finding costs coverage. */
  gdp: GdpEpsilon | null;
  /**
   * Ratio of the observed rates, with bootstrap quantiles: an estimate. None where no threshold
   * has enough errors.
   */
  plug_in: PlugInEpsilon | null;
  /** Chance that a pair of limits, or the bound of the Gaussian curve, is wrong: pointwise. */
  significance: number;
  /** True positive rates at fixed false positive rates; empty where `auc` is none. */
  tpr_at_fpr: TprAtFpr[];
}

/**
 * The chance that an observation of D has a higher score than one of D′, ties counted half.
 *
 * AUC = P(S > S′) + P(S = S′)/2 for independent scores S of D and S′ of D′. 1/2 without any leak;
 * below 1/2 the scores are reversed.
 */
export interface Auc {
  /** Lower confidence limit. */
  lower: number;
  /** Upper confidence limit. */
  upper: number;
  /** Share of the pairs in which the observation of D has the higher score, ties counted half. */
  value: number;
}

/** Whether a simulated audit refutes a claim. */
export interface AuditConclusion {
  /** The claimed ε. */
  claimed: number;
  /** For people. */
  sentence: string;
  /** Whether the claim is refuted, and why. */
  verdict: ClaimVerdict;
}

/** A curve, with its confidence band where there is a bound. */
export interface AuditCurve {
  band?: CurveBand;
  fnr: Float64Array;
  fpr: Float64Array;
}

/** A simulation to audit; defaults are those of the command line. */
export interface AuditPlan {
  /** Most cuts of the simultaneous rule; if omitted, 16. */
  cuts?: number;
  /** Privacy parameter δ. */
  delta: number;
  /** What is simulated. */
  mechanism: Mechanism;
  /** Observations of both worlds together; even. */
  observations: number;
  /** Decimal digits; if omitted or empty, fresh entropy. */
  seed?: string;
  /** Probability that the bound is wrong. */
  significance: number;
  /** If omitted, simultaneous. */
  threshold_rule?: ThresholdRule;
}

/** Progress of a simulation. */
export interface AuditProgress {
  /** Observations of both worlds that are counted. */
  done: number;
  /** Observations of both worlds that were planned. */
  total: number;
}

/** A result with what it rests on, field by field. */
export interface AuditResult {
  /** Value of an attack without any error on as many observations. */
  ceiling: number;
  /** Cuts that share the significance. */
  cuts: number;
  /** Privacy parameter δ. */
  delta: number;
  /** Which world plays P. */
  direction: Direction;
  /** ε, nats. */
  epsilon: number;
  /** min(FP, FN). */
  events_at_threshold: number;
  /**
   * Rates that a pilot predicted, where a region of both rates decides: a tail of each, of twice
   * `tail_per_rate` together.
   */
  expected_rates?: ExpectedRates;
  /** Number of false negatives FN. */
  false_negatives: number;
  /** Number of false positives FP. */
  false_positives: number;
  /** Upper limit of the false negative rate. */
  fnr_upper: number;
  /** Upper limit of the false positive rate. */
  fpr_upper: number;
  /** Gain in ε if ten times the observations showed the same rates. */
  gain_at_10x: number;
  /** A bound where the result is one; none for an estimate. */
  gdp_mu: number | null;
  /** Whether the value has coverage. */
  kind: OutcomeKind;
  /** Whether more observations would raise the value. */
  limited_by_observations: boolean;
  /** The pair that was observed. */
  scope: Scope;
  /** Chance that a bound is wrong. */
  significance: number;
  /** One-sided tail of each limit of a rate. */
  tail_per_rate: number;
  /** On which side of the threshold the attack decides for the target's world. */
  target_if_score: TargetSide;
  /** None where it is not a finite number: unknown, or below every score. */
  threshold: number | null;
  /** How the cut was chosen. */
  threshold_rule: ThresholdRule;
}

/** A parameter of a training, along which a curve is computed. */
export type Axis = "noise_multiplier" | "steps" | "epochs" | "delta";

/** How a training run forms its batches. */
export type BatchSampler = "poisson" | "shuffle" | "persistent-shuffle" | "balls-in-bins" | "deterministic" | {
  "partial-shuffle": {
    /** Records in a block. */
    buffer_examples: number;
  };
} | {
  "sliding-buffer": {
    /** Records in the reservoir. */
    buffer_examples: number;
  };
} | "batch-then-shuffle" | {
  "truncated-poisson": Truncation;
} | "fixed-size" | {
  "random-allocation": {
    /** Batches of an epoch that contain a record, 1 to T. */
    uses_per_epoch: number;
  };
};

/** Parameters of the batched Gaussian mechanism under one attacker. */
export interface BatchedGaussian {
  /**
   * Batch size B, from 1; needed by the buffered samplers and by batch-then-shuffle, where
   * it is at most 5·10⁵.
   */
  batch_size: number | null;
  /**
   * Number of records N, at least B, for samplers that draw batches from all of them; `None` if
   * T batches of B make up an epoch.
   */
  dataset_size?: number;
  /** Passes over the data E, 1 to 10³. */
  epochs: number;
  /** Noise standard deviation ÷ clip norm, in [0.2, 20]. */
  noise_multiplier: number;
  /** How batches are drawn. */
  sampler: BatchSampler;
  /** Batches per epoch T, 1 to 10⁵. */
  steps_per_epoch: number;
  /** Who attacks. */
  threat_model: ThreatModel;
}

/** A lower bound with coverage. */
export interface BoundRecord {
  /** Neighbouring relation of the audited pair. */
  adjacency: Adjacency;
  /** What it assumes beyond independent runs; only `nothing` decides a verdict. */
  assumes: Assumes;
  /** δ; none for μ. */
  delta: number | null;
  /** Which world plays P; none for μ. */
  direction: Direction | null;
  /** What is bounded. */
  quantity: Quantity;
  /** Which pairs it holds for. */
  scope: Scope;
  /** Chance that the bound is wrong. */
  significance: number;
  /** How the cut was chosen. */
  threshold_rule: ThresholdRule;
  /** Whose participation is protected. */
  unit: PrivacyUnit;
  /** The quantity is at least this. */
  value: number;
}

/** A training whose bounds a page asks for. */
export interface BoundSetting {
  /** What neighbours differ in, for batches of fixed size and truncated ones; zero-out if omitted. */
  adjacency?: Adjacency;
  /** Number of epochs, E. */
  epochs: number;
  /** Noise multiplier σ. */
  noise_multiplier: number;
  /** Sampling rate q if each step is drawn anew, k/T if a record is used k times per epoch; 1/T if omitted. */
  sampling_rate?: number;
  /** Steps per epoch, T. */
  steps: number;
  /** Number of records and most of a batch, for truncated batches. */
  truncation?: Truncation;
}

/** A number of guesses that a walk tests. */
export interface BoundaryStep {
  /** Number of correct guesses. */
  correct: number;
  /** Fewest correct ones that show ε > 0; none if even all of them do not. */
  fewest: number | null;
  /** Number of guesses. */
  guesses: number;
}

/** A value of the calibrated parameter, and the ε at this value. */
export interface Calibrated {
  /** The upper bound of ε there; at most the target's. */
  epsilon: number;
  /** Whether every value that was searched satisfies the target; this one is the last of them. */
  is_end_of_range?: boolean;
  /** A noise multiplier, or a number of steps or epochs. */
  value: number;
}

/**
 * A target ε and δ, and the known parameters of the training.
 *
 * | field | meaning | domain |
 * |---|---|---|
 * | `epsilon` | ε, nats | [1e-6, 1e4] |
 * | `delta` | δ | (0, 1) |
 * | `noise_multiplier` | σ, unless calibrated | see the accountant |
 * | `steps` | T, steps per epoch | from 1 |
 * | `epochs` | E, for calibrated noise \[default: 1\] | from 1 |
 * | `sampling_rate` | q, if each step is drawn anew, or k/T \[default: 1/T\] | (0, 1] |
 * | `truncation` | N and B of truncated batches | 1 ≤ B ≤ N |
 * | `adjacency` | what neighbouring data sets differ in \[default: zero-out\] | see [`account`](crate::accounting::account) |
 */
export interface Calibration {
  /** The target δ. */
  delta: number;
  /** Epochs E. */
  epochs?: number;
  /** The target ε, an upper limit. */
  epsilon: number;
  /** Noise multiplier σ. */
  noise_multiplier?: number;
  /** The calibrated parameter. */
  parameter: Parameter;
  /** How batches are drawn. */
  sampler: SamplerKind;
  /** Sampling rate q. */
  sampling_rate?: number;
  /** Steps per epoch T. */
  steps?: number;
}

/** The canaries of one training after some steps. */
export interface CanariesAfter {
  /** Share of them that is classified correctly; none without such records. */
  accuracy: number | null;
  /**
   * Share of the pairs of an included and another canary in which the included one has the larger
   * score.
   */
  auc: number | null;
  /** Histograms of the scores, with the same intervals after all steps. */
  bins: CanaryScoreBin[];
  /** Mean cross-entropy of held-out records, nats; none without such records. */
  loss: number | null;
  /** Steps so far. */
  steps: number;
}

/** What a plan declares about each canary by lot. */
export type CanaryClass = "weight" | "loudness";

/**
 * How the plan draws the number of canaries; fixed before the training.
 *
 * | design | canaries | adjacency | cost |
 * |---|---|---|---|
 * | `Poisson` | K ~ Poisson(k̄), drawn once | one added or removed | none |
 * | `Bernoulli` | each of m slots is filled with probability q; an empty slot takes part with a zero update | zero-out | about ln 1/(1 − q) |
 * | `Fixed` | k in every run | one added or removed | significance α becomes α e^−k k^k/k! ≈ α/√(2πk) |
 *
 * A slot that is a real client when it is empty tests the adjacency "replace". `Fixed` presumes that
 * the training, with the number of clients as a constant, obeys the claim at every number of canaries.
 */
export type CanaryDesign = {
  kind: "poisson";
  /** Mean number of canaries, k̄. */
  mean: number;
} | {
  /** q, the probability that a slot is filled. */
  inclusion: number;
  kind: "bernoulli";
  /** Number of slots, m. */
  slots: number;
} | {
  /** Number of canaries, k. */
  canaries: number;
  kind: "fixed";
};

/** What a coin decides. */
export type CanaryGameKind = "coins" | "unfair_coins" | "fixed_size" | "sets" | "matched_pairs";

/** Where the scores of canaries that are not in come from. */
export type CanaryNull = {
  /** Dimension of the directions. */
  dimension: number;
  kind: "cosines";
} | {
  /** Number of draws. */
  draws: number;
  kind: "fresh_draws";
} | {
  kind: "pool";
  /** Size of the pool. */
  members: number;
};

/** Canaries with a score in an interval. */
export interface CanaryScoreBin {
  /** Canaries that were trained on, and others. */
  canaries: [number, number];
  /** Its lower end. */
  from: number;
  /** Its upper end. */
  to: number;
}

/** The score by which canaries are ranked. */
export type CanaryScoreKind = "final_loss" | "loss_difference" | "white_box";

/** A canary's size with an interval. */
export interface CanarySize {
  /** Lower confidence limit. */
  lower: number;
  /** Chance that the interval misses the size. */
  significance: number;
  /** Upper confidence limit. */
  upper: number;
  /** Mean difference of the worlds, clip norms. */
  value: number;
}

/** Canaries after a step of their optimisation. */
export interface CanaryStep {
  /**
   * AUC of a canary by its losses, a mean over canaries that was estimated after this step; none where
   * it was not.
   */
  auc: number | null;
  /** Whether it was the last. */
  is_finished: boolean;
  /** Steps so far. */
  metasteps: number;
  /**
   * By how much the loss of a canary that was left out exceeds that of an included one, per canary,
   * before this step; none of a step that was skipped, because a training diverged.
   */
  objective: number | null;
}

/** The audit of trainings with many canaries. */
export interface CanaryTrainingAnswer {
  report: OneRunReport;
  /** What the program prints. */
  text: string;
}

/** What the models of an audit with many canaries show so far. */
export interface CanaryTrainingsSoFar {
  /**
   * Share of the pairs of an included and another canary in which the included one has the larger
   * score.
   */
  auc: number | null;
  /** Histograms of the scores. */
  bins: CanaryScoreBin[];
  /** The correct ones. */
  correct: number;
  /** Privacy parameter δ. */
  delta: number;
  /** ε from guesses of their canaries, an estimate until all models are trained; none without models. */
  epsilon: number | null;
  /** Audited models that diverged. */
  failed: number;
  /** The number of guesses that decides; 0 without models. */
  guesses: number;
  /** Trained models, reference models with them. */
  models: number;
  /** Audited models among them. */
  repeats: number;
}

/** An entry of a table: a value, or the reason for its absence. */
export type Cell = Accounted | {
  /** The reason, as a sentence. */
  reason: string;
};

/** A check of independence. */
export type CheckKind = "duplicated-runs" | "repeated-positions-over-epochs" | "repeated-positions-over-runs" | "lag-one-correlation" | "shared-noise";

/** What a check found. */
export type CheckOutcome = "clear" | "untestable" | "fired";

/** The described training, the findings, and the noise under which the claim would hold. */
export interface CheckReport {
  /** What the accountant assumed. */
  accounting: AssumedAccounting;
  /** What the report says, in the form that all kinds have in common. */
  answer: Answer;
  /** The claim, or δ and adjacency where nothing is claimed, and what is known of it. */
  claim: CheckedClaim;
  /** The most severe first. */
  findings: TrainingFindingRecord[];
  /** The loader by the name that its users write, if it was given. */
  library_loader?: LibraryLoader;
  /** ε that the loader leaks at least. */
  lower: Accounted | null;
  /** Commands that compute the noise under which the claim would hold. */
  next: string[];
  /** σ of the noise that is drawn. */
  noise_multiplier: number;
  /** ε of Poisson accounting with this rate, these steps and this noise. */
  poisson: Accounted | null;
  /** Sampling rate q: that of the loader if it is known, else B/N. */
  sampling_rate: number;
  /** Name and version of this document. */
  schema: "dpscope.check/1";
  /** The training. */
  setup: TrainingSetup;
  /** Steps of all epochs, T·E. */
  steps: number;
  /** Steps per epoch, T. */
  steps_per_epoch: number;
  /** ε that it leaks at most. */
  upper: Accounted | null;
  /** Version of the program. */
  version: string;
}

/** What is proven about the claim of a described training. */
export type CheckVerdict = "refuted" | "holds-as-described" | "inconclusive";

/** A claim with its verdict, or what ε was asked for. */
export interface CheckedClaim {
  /** What neighbouring data sets differ in. */
  adjacency: Adjacency;
  /** Privacy parameter δ. */
  delta: number;
  /** Claimed ε. */
  epsilon?: number;
  /** How the adjacencies of claim and bounds were compared. */
  note?: string;
  /** What the verdict or the bounds mean, and what not. */
  says: string;
  /** What is proven of the claim, if there is one. */
  verdict?: CheckVerdict;
}

/** The check of a training while it is described: the report without its answer. */
export interface CheckedTraining {
  /** What the accountant assumed. */
  accounting: AssumedAccounting;
  /** The claim, or δ and adjacency where nothing is claimed, and what is known of it. */
  claim: CheckedClaim;
  /** The most severe first. */
  findings: TrainingFindingRecord[];
  /** The loader by the name that its users write, if it was given. */
  library_loader?: LibraryLoader;
  /** ε that the loader leaks at least. */
  lower: Accounted | null;
  /** Commands that compute the noise under which the claim would hold. */
  next: string[];
  /** σ of the noise that is drawn. */
  noise_multiplier: number;
  /** ε of Poisson accounting with this rate, these steps and this noise. */
  poisson: Accounted | null;
  /** Sampling rate q: that of the loader if it is known, else B/N. */
  sampling_rate: number;
  /** Name and version of this document. */
  schema: "dpscope.check/1";
  /** The training. */
  setup: TrainingSetup;
  /** Steps of all epochs, T·E. */
  steps: number;
  /** Steps per epoch, T. */
  steps_per_epoch: number;
  /** ε that it leaks at most. */
  upper: Accounted | null;
  /** Version of the program. */
  version: string;
}

/** A claim and the verdict of the audit. */
export interface ClaimRecord {
  /** The neighbouring relation. */
  adjacency: Adjacency;
  /** Claimed δ, in [0, 1). */
  delta: number;
  /** Claimed ε, at least 0, in nats. */
  epsilon: number;
  /** How the audit speaks about the claim's adjacency. */
  note: string;
  /** What the verdict means. */
  says: string;
  /** Whether the claim is refuted, and why. */
  verdict: ClaimVerdict;
}

/** A verdict and its reason. */
export interface ClaimVerdict {
  /** The verdict. */
  outcome: Verdict;
  /** Its reason. */
  reason: VerdictReason;
}

/** A training that is claimed as a whole, by the curve that accounting proves of it. */
export interface ClaimedTraining {
  /** Number of epochs, E. */
  epochs: number;
  /** Noise multiplier σ. */
  noise_multiplier: number;
  /** Steps of a further, incomplete epoch; none if the run is a number of whole epochs. */
  partial_epoch_steps?: number;
  /**
   * Proven of the training from below under zero-out adjacency, at the δ of the claim on ε or else the
   * first; none where nothing is proven.
   */
  proven?: Accounted;
  /** How batches are drawn. */
  sampler: SamplerKind;
  /** Sampling rate q if each step is drawn anew, k/T if a record is used k times per epoch; 1/T if `None`. */
  sampling_rate?: number;
  /** What the verdict means. */
  says: string;
  /** Steps per epoch, T. */
  steps: number;
  /** What the guesses show; none if their number was not fixed, which a test of the curve needs. */
  test?: CurveTest;
}

/** Areas of one classifier. */
export interface ClassifierFigures {
  /** Average precision. */
  auprc: UtilityFigure;
  /** Area under the receiver operating characteristic. */
  auroc: UtilityFigure;
  /** Its name. */
  name: string;
}

/** What is known of the coins. */
export type CoinsStatus = "committed" | "not_committed" | "stated_independent" | "drawn" | "unseen";

/** What the claim and the bounds of a sampler imply. */
export interface Conclusion {
  /** The reader's own claim; none without one. */
  claim?: OwnClaim;
  /** How many times the claim is exceeded as shown, rounded down; none where no digit shows it. */
  factor?: string;
  /**
   * The lower bound that it rests on: the largest proven one, or a drawn one that alone exceeds
   * the claim.
   */
  lower?: KnownBound;
  /** For people. */
  sentence: string;
  /** The upper bound that it rests on. */
  upper?: KnownBound;
}

/** Cosines in an interval. */
export interface CosineBin {
  /** Canaries with a cosine in it. */
  canaries: number;
  /** Their mean number if no canary were in the sum, by the exact distribution. */
  expected: number;
  /** Its lower end. */
  from: number;
  /** Its upper end. */
  to: number;
}

/** Error counts of an attack at one threshold that was fixed beforehand. */
export interface Counts {
  /** Runs of D in which the attack decided against the target. */
  false_negatives: number;
  /** Runs of D′ in which the attack decided for the target. */
  false_positives: number;
  /** Runs of D. */
  target_trials: number;
  /** Runs of D′. */
  zero_out_trials: number;
}

/** A credible value: a statement about a posterior, without frequentist coverage. */
export interface Credible {
  /** Posterior probability of ε or more. */
  credibility: number;
  /** ε, nats. */
  epsilon: number;
  /** `credible`. */
  kind: string;
  /** The prior distribution. */
  prior: string;
}

/** Staircases between which the whole curve lies. */
export interface CurveBand {
  least: CurveColumns;
  most: CurveColumns;
}

/** Rates of the attack, by rising fpr. */
export interface CurveColumns {
  fnr: Float64Array;
  fpr: Float64Array;
}

/** A trade-off curve of theory. */
export type CurveKind = "claim" | "poisson" | "deterministic" | "max-slice";

/**
 * What the guesses show about a training that claims a whole curve δ(ε), such as that of its
 * accountant.
 */
export interface CurveTest {
  /** Its δ. */
  delta: number;
  /** The point that decides: ε, nats. */
  epsilon: number;
  /**
   * The largest probability of so many correct guesses under the curve, or more: the smallest over
   * its points.
   */
  p_value: number;
  /** Whether the curve is refuted, and why. */
  verdict: ClaimVerdict;
}

/** Canaries with a p-value up to a cut. */
export interface CutHits {
  /** Their number. */
  hits: number;
  /** The cut. */
  p_cut: number;
}

/** A dependence between runs. */
export type Dependence = {
  /** Runs that repeat an earlier one, D before D′. */
  copies: number;
  /** The first pair: a run and its copy. */
  first: [RunIndex, RunIndex] | null;
  kind: "duplicated_runs";
  /** Compared runs of both worlds. */
  runs: number;
} | {
  kind: "identical_runs";
  /** Runs of the world. */
  runs: number;
} | {
  /** Epochs compared with earlier ones. */
  guesses: number;
  /** Epochs with the same step. */
  hits: number;
  kind: "repeated_positions_over_epochs";
  /** T: a coincidence has probability 1/T. */
  steps: number;
} | {
  /** Runs compared with earlier ones. */
  guesses: number;
  /** Runs with the same step. */
  hits: number;
  kind: "repeated_positions_over_runs";
  /** The step, from 0: the one with the largest sum over all runs. */
  step: number;
  /** T: a coincidence has probability 1/T. */
  steps: number;
} | {
  /** Rank correlation. */
  correlation: number;
  kind: "lag_one_correlation";
} | {
  /** Correlation of their outputs. */
  correlation: number;
  kind: "shared_noise";
} | {
  kind: "repeated_scores";
  /** Runs of the world. */
  runs: number;
  /** How often each of them occurs. */
  times: number;
  /** Number of different scores that occur equally often. */
  values: number;
} | {
  kind: "shared_scores";
  /** The world of these scores. */
  of: World;
  /** How often each of them occurs there. */
  times: number;
  /** Number of different scores of it that occur equally often in the other. */
  values: number;
};

/** Which world is P in the hockey-stick divergence H_{e^ε}(P‖Q). */
export type Direction = "remove" | "add";

/** Directions that a value covers. */
export type Directions = "remove" | "add" | "both";

/** Released rows in a cell of the domain, of all runs of a world together. */
export interface DomainCell {
  /** Whether it is the target. */
  is_target: boolean;
  /** The row; empty for rows outside of the domain. */
  row: number[];
  /** With the target and without. */
  rows: [number, number];
}

/**
 * The noise as the code draws it.
 *
 * σ = s/C for a sum, sB/C for a mean
 */
export interface DrawnNoise {
  /** What it is added to. */
  added_to: NoiseTarget;
  /** Clipping bound C of one record's gradient. */
  clip_norm: number;
  /** Standard deviation s of one coordinate. */
  standard_deviation: number;
}

/** The probability with which a loader draws each record into each Poisson batch. */
export type DrawnRate = {
  stated: number;
} | "one-over-batches";

/** One epoch as it is drawn; record 0 is the target. */
export interface Epoch {
  /** Members of batch b: `batches[offsets[b] .. offsets[b + 1]]`. */
  batches: Uint32Array;
  /** Records that were drawn into a truncated batch and not kept, likewise. */
  dropped: Uint32Array;
  dropped_offsets: Uint32Array;
  offsets: Uint32Array;
  /** Noisy sums where the target is in the data; batches without it have mean 0. */
  outputs_target: Float64Array;
  /** Noisy sums where the target is not in the data. */
  outputs_zero_out: Float64Array;
  /** Number of records. */
  records: number;
  /** Nats. */
  score_target: number;
  /** Nats. */
  score_zero_out: number;
  target_batches: Uint32Array;
}

/** One epoch in pictures. */
export interface EpochSize {
  /** B, the mean size of a batch. */
  batch_size: number;
  /** Records in the buffer, for the samplers that have one. */
  buffer_examples?: number;
  /** Records of the data set, if they are stated: a larger batch is refused. */
  dataset_size?: number;
  /** Most records of a batch, for truncated batches. */
  max_batch_size?: number;
  /** Noise multiplier σ. */
  noise_multiplier: number;
  /** T batches. */
  steps: number;
  /** Batches that contain a record, for the sampler that has this parameter. */
  uses_per_epoch?: number;
}

/**
 * Variances of the sums of outputs over an epoch, with the target and without.
 *
 * Uses of the target add κ each. A shuffle, which uses it once, adds nothing to the variance;
 * Poisson batches at rate q add κ²·Tq(1 − q).
 */
export interface EpochSums {
  /** Epochs of D. */
  epochs: number;
  /**
   * Chance of at least this ratio if the target is used once per epoch of independent noise,
   * whatever its size is.
   */
  p_value: number;
  /** Variance of D ÷ variance of D′; 1 on average if the target is used once per epoch. */
  ratio: number;
  /** Variance of D. */
  variance: number;
}

/** Bounds on the ε of votes. */
export interface EpsilonBracket {
  /** Some votes have at least this ε, nats. */
  lower: number;
  /** No votes have a larger ε, nats. */
  upper: number;
}

/** How ε is estimated from cosines; no estimate is a bound. */
export type EpsilonEstimator = "mean" | "two_gaussians";

/** A value without coverage. */
export interface EstimateRecord {
  /** Privacy parameter δ. */
  delta: number;
  /** What is estimated. */
  quantity: Quantity;
  /** How the cut was chosen. */
  threshold_rule: ThresholdRule;
  /** Near the quantity, on either side. */
  value: number;
}

/** Error rates at a threshold, predicted without the evaluated scores. */
export interface ExpectedRates {
  /** False negative rate, in [0, 1]. */
  fnr: number;
  /** False positive rate, in [0, 1]. */
  fpr: number;
}

/** Trained runs with a score in an interval. */
export interface ExpectedScoreBin {
  /** The numbers that the simulated mechanism leads to expect. */
  expected: [number, number];
  /** Its lower end. */
  from: number;
  /** With the target and without. */
  runs: [number, number];
  /** Its upper end. */
  to: number;
}

/** A failure, thrown by `dpscope-wasm`. */
export interface Failure {
  /** The input to change, where one is. */
  field?: string;
  kind: FailureKind;
  /** For people: what is wrong and what to change. */
  message: string;
}

export type FailureKind = "input" | "limit" | "stopped" | "device" | "file" | "internal";

/** What is known of a fault. */
export interface FaultFacts {
  /** The detector that reports it, as "M5". */
  detector: string;
  /** Name, as "U2". */
  name: string;
  /** Whether it needs an ε at which training ends. */
  needs_epsilon: boolean;
  /** What it is. */
  says: string;
  /** The switch that it turns, as "O3". */
  switch: string;
}

/** Faults of one origin. */
export interface FaultGroup {
  /** The faults. */
  faults: FaultFacts[];
  /** A short name. */
  name: string;
  /** What it is. */
  says: string;
}

/** An upper bound on ε that is proven for an attacker who sees every update. */
export interface FederatedAccounted {
  /** ε at δ. */
  epsilon: number;
  /** μ of the Gaussian mechanisms that it composes; none with sampling. */
  gdp_mu: number | null;
  /** L2 sensitivity of all releases over the clipping norm; none if rounds have independent noise. */
  l2_sensitivity: number | null;
  /** The most server rounds of one participant. */
  most_rounds: number;
}

/** Share of held-out examples that are classified correctly, over trainings. */
export interface FederatedAccuracy {
  /** Mean. */
  mean: number;
  /** Standard error of the mean; none of one training. */
  standard_error: number | null;
  /** Number of trainings. */
  trainings: number;
}

/** One federated training after some rounds. */
export interface FederatedAfter {
  /** Share of held-out records that is classified correctly; none without such records. */
  accuracy: number | null;
  /** Histogram of these scores. */
  bins: NormalScoreBin[];
  /** Mean normal score of the canaries in the change of the model; none without canaries. */
  mean_score: number | null;
  /** Server rounds so far. */
  rounds: number;
}

/** One attack on the canaries of all trainings. */
export interface FederatedAttackRecord {
  /** What the attacker sees. */
  attacker: OneShotAttacker;
  /** Lower bounds, each with all of the significance. */
  bounds: OneShotBounds;
  /** Whether the verdict uses it. */
  is_chosen: boolean;
  /** Mean of the normal scores; none where null probabilities are only limits. */
  mean_score: number | null;
}

/** What a federated training of a page is made of. */
export interface FederatedOverview {
  /** ε that is proven for an attacker who sees every update; none where nothing is. */
  accounted: number | null;
  /** Classes. */
  classes: number;
  /** Clients, canaries excluded. */
  clients: number;
  /** Clients of a round, canaries excluded, on average. */
  cohort: number;
  /** Name of the data set. */
  data: string;
  /** Features of a record. */
  features: number;
  /** Records that are held out. */
  held_out: number;
  /** Learning rate of the sum of a batch over its size. */
  learning_rate: number;
  /** What was dropped from a file, and how labels were read. */
  notes: string[];
  /** Parameters of the model. */
  parameters: number;
  /** Records that are trained on. */
  records: number;
}

/** The audit of a federated training with canary clients. */
export interface FederatedTrainingAnswer {
  report: OneShotReport;
  /** What the program prints. */
  text: string;
}

/** The trainings, what each attack showed, and what canaries cost. */
export interface FederatedTrainings {
  /** What is proven about the training; none where nothing is. */
  accounted: FederatedAccounted | null;
  /** Accuracy on held-out data with canaries; none without such data. */
  accuracy: FederatedAccuracy | null;
  /** Accuracy of the trainings without canaries. */
  accuracy_without_canaries: FederatedAccuracy | null;
  /** Every attack; the verdict uses the one that was chosen. */
  attacks: FederatedAttackRecord[];
  /** Model, data and settings. */
  description: unknown;
  /** Devices that computed. */
  device: string;
  /** Trainings that diverged. */
  failed: number;
  /** Parameters of the model. */
  parameters: number;
  /** Trainings with canaries; one bound covers all. */
  repeats: number;
  /** Trainings in the state that was resumed. */
  resumed_from: number | null;
  /** What single updates show, composed as the accountant would; none where it does not apply. */
  round_by_round: RoundByRound | null;
  /** Seed of every random word, a decimal number below 2⁵³. */
  seed: string;
  /** Where the seed comes from. */
  seed_source: SeedSource;
  /** Trainings without canaries. */
  without_canaries: number;
}

/** What federated trainings show so far. */
export interface FederatedTrainingsSoFar {
  /** Mean accuracy on held-out records with canaries; none without such records. */
  accuracy: number | null;
  /** Mean accuracy on held-out records of trainings without canaries; none without such records. */
  accuracy_without_canaries: number | null;
  /** Histogram of the normal scores. */
  bins: NormalScoreBin[];
  /** Their canaries. */
  canaries: number;
  /** Privacy parameter δ. */
  delta: number;
  /** ε from these canaries, an estimate until all trainings are done; none without canaries. */
  epsilon: number | null;
  /** Audited trainings that diverged. */
  failed: number;
  /** Trainings that are done, those without canaries with them. */
  models: number;
  /** Audited trainings among them. */
  repeats: number;
}

/** Something that the data indicate about the code or the protocol. */
export type FindingRecord = {
  /** Whether only an estimate is left. */
  costs_coverage: boolean;
  /** What was found and what to do about it. */
  sentence: string;
} & ({
  code: "dependence";
  data: {
    /** What was found. */
    dependence: Dependence;
    /** Chance of a statistic at least as extreme if all runs are independent. */
    p_value: number;
    /** The world of these runs; none if the runs of both worlds are involved. */
    world: World | null;
  };
} | {
  code: "noise_below_stated";
  data: {
    /** First and last epoch, from 0, whose noise differs most; none for all epochs. */
    epochs: [number, number] | null;
    /** Standard deviation of the noise, clip norms, with 95 % confidence. */
    noise: OutputParameter;
    /** Number of epochs, or groups of epochs, whose noise differs. */
    phases: number;
    /** The stated noise multiplier. */
    stated: number;
  };
} | {
  code: "noise_above_stated";
  data: {
    /** First and last epoch, from 0, whose noise differs most; none for all epochs. */
    epochs: [number, number] | null;
    /** Standard deviation of the noise, clip norms, with 95 % confidence. */
    noise: OutputParameter;
    /** Number of epochs, or groups of epochs, whose noise differs. */
    phases: number;
    /** The stated noise multiplier. */
    stated: number;
  };
} | {
  code: "noise_differs_by_step";
  data: {
    /** The step with the least noise, and how many steps differ. */
    found: StepNoise;
  };
} | {
  code: "no_noise_at_steps";
  data: {
    /** First and last epoch, from 0, with such a step; none if they are the same in every epoch. */
    epochs: [number, number] | null;
    /** The first of these steps, from 0. */
    step: number;
    /** Number of such steps in an epoch. */
    steps: number;
    /** The only world where that is so; none for both. */
    world: World | null;
  };
} | {
  code: "no_noise_in_empty_batches";
  data: {
    /** Number of all outputs. */
    outputs: number;
    /** Number of outputs that are exactly 0. */
    zeros: number;
  };
} | {
  code: "noise_differs_by_world";
  data: {
    /** Standard deviation of the noise in D, clip norms. */
    target: number;
    /** Standard deviation of the noise in D′, clip norms. */
    zero_out: number;
  };
} | {
  code: "uses_differ";
  data: {
    /** First and last epoch, from 0; none for all epochs. */
    epochs: [number, number] | null;
    /** The stated number of batches per epoch. */
    stated: number;
    /** Batches per epoch that contain the target, with 95 % confidence. */
    uses: OutputParameter;
  };
} | {
  code: "outputs_scaled";
  data: {
    /** First and last epoch, from 0; none for all epochs. */
    epochs: [number, number] | null;
    /** Scale of the outputs ÷ stated scale, with 95 % confidence. */
    factor: OutputParameter;
    /**
     * Standard deviation of the noise, clip norms, if the noise alone explains the outputs about as
     * well; otherwise none.
     */
    noise: OutputParameter | null;
  };
} | {
  code: "records_not_clipped";
  data: {
    /** First and last epoch, from 0; none for all epochs. */
    epochs: [number, number] | null;
    /** What each record contributes, clip norms, with 95 % confidence. */
    factor: OutputParameter;
  };
} | {
  code: "outputs_differ";
  data: {
    /** First and last epoch, from 0; none for all epochs. */
    epochs: [number, number] | null;
    /** Standard deviation of the noise, clip norms. */
    noise: OutputParameter;
    /** What the target adds to its batch, clip norms. */
    size: OutputParameter;
    /** The stated noise multiplier. */
    stated: number;
    /** Batches per epoch that contain the target. */
    uses: OutputParameter;
  };
} | {
  code: "no_noise";
  data: {
    /** The world of these outputs. */
    world: World;
  };
} | {
  code: "noise_in_one_world";
  data: {
    /** That world. */
    without: World;
  };
} | {
  code: "noise_reused";
  data: {
    /** The largest share to be expected of independent noise. */
    expected: number;
    /** Whether a pair is one step in neighbouring epochs; otherwise it is neighbouring steps. */
    is_over_epochs: boolean;
    /** Share of pairs with nearly equal outputs. */
    share: number;
  };
} | {
  code: "order_fixed";
  data: {
    /** Whether the audit includes the attack that knows this step. */
    is_audited: boolean;
    /** The step, from 0. */
    step: number;
  };
} | {
  code: "no_canary";
  data: {
    /** The size of the canary; its interval contains 0. */
    size: CanarySize;
  };
} | {
  code: "canary_size_differs";
  data: {
    /** First and last epoch, from 0; none for all epochs. */
    epochs: [number, number] | null;
    /** What the target adds to its batch, clip norms; the interval contains neither 0 nor 1. */
    size: OutputParameter;
  };
} | {
  code: "worlds_swapped";
  data: {
    /** The size of the canary; its upper limit is negative. */
    size: CanarySize;
  };
} | {
  code: "outputs_negated";
  data: {
    /** The size of the canary. */
    size: CanarySize;
  };
} | {
  code: "other_batches_differ";
  data: {
    /** Their mean. */
    mean: OtherBatchMean;
    /** The threat model that assumes their mean. */
    threat_model: ThreatModel | null;
  };
} | {
  code: "sampler_refuted";
  data: {
    /** What refutes the sampler. */
    by: SamplerContradiction;
    /** The sampler that was passed. */
    passed: SamplerKind;
    /** The only placement that is not refuted, if there is exactly one. */
    shown: Placement | null;
  };
} | {
  code: "buffer_searched";
  data: {
    /** Prefixes that were tested. */
    hypotheses: number;
    /** Batches of the prefix that leaks most. */
    prefix: number;
  };
} | {
  code: "failed_runs";
  data: {
    /** Runs of D. */
    target: number;
    /** Runs of D′. */
    zero_out: number;
  };
} | {
  code: "scores_reversed";
  data: {
    /** Its upper limit is below 1/2. */
    auc: Auc;
  };
} | {
  code: "partial_run";
  data: {
    /** Counted observations of both worlds. */
    counted: number;
    /** Planned observations of both worlds. */
    planned: number;
  };
} | {
  code: "noise_too_small";
  data: {
    /** Variance of the outputs around their batch mean ÷ variance of the noise. */
    residual_variance: number;
    /** Its standard error if only the noise differs. */
    standard_error: number;
  };
} | {
  code: "canary_shifted";
  data: {
    /** The deviation, in noise standard deviations. */
    shift: number;
    /** Its standard error if only noise and runs differ. */
    standard_error: number;
  };
});

/**
 * A lower bound on μ of Gaussian differential privacy, and its ε if the trade-off curve is that of
 * two Gaussians.
 */
export interface GdpEpsilon {
  /** The Gaussian curve: without it, the value of ε has no coverage. */
  assumes: Assumes;
  /**
   * ε of the Gaussian curve of this μ at δ, nats; none at δ = 0, where it is infinite for every
   * μ above 0.
   */
  epsilon: number | null;
  /** Lower bound on μ. */
  gdp_mu: number;
}

/** The audit of runs of a generator. */
export interface GeneratorAnswer {
  report: GeneratorReport;
  /** Scores of the evaluated runs. */
  scores: ScoreBin[];
  /** What the program prints. */
  text: string;
}

/** What the attack on many runs found. */
export interface GeneratorAttack {
  /** Area under its curve. */
  auc: Auc;
  /** Largest ε that this number of runs can show. */
  ceiling: number;
  /** What the bound follows from. */
  counts: AttackCounts;
  /** Lower bound on ε. */
  epsilon: number;
  /** Runs of each world that were evaluated. */
  evaluated: number;
}

/** A check of what runs did. */
export interface GeneratorCheck {
  /** The detector, as "M1". */
  detector: string;
  /** Names of the faults that it can be. */
  faults: string[];
  /** What is checked. */
  name: string;
  /** What it found. */
  outcome: CheckOutcome;
  /** The probability of such an observation at most, without a fault; for statistical checks. */
  p_value?: number;
  /** What to change, if it fired. */
  remedy?: string;
  /** What was seen, or why nothing can be. */
  says?: string;
}

/** A fault that is switched on. */
export interface GeneratorFault {
  /** The detector that reports it, as "M1". */
  detector: string;
  /** Name, as "U1". */
  name: string;
  /** What it is. */
  says: string;
}

/** Something noticed, and what to do about it. */
export interface GeneratorFinding {
  /** A short name. */
  name: string;
  /** What to change. */
  remedy: string;
  /** What was seen. */
  says: string;
}

/** How features of runs are audited, where no manifest says so. */
export interface GeneratorOptions {
  /** ε of the claim to test, at the same δ. */
  claim?: number;
  /** Privacy parameter δ. */
  delta: number;
  /** Seed of the attack, decimal digits. */
  seed: string;
  /** Probability that the bound is wrong. */
  significance: number;
}

/** The document of `dpscope audit generator` for many runs, and for a run without canaries. */
export interface GeneratorReport {
  /** What the report says, in the form that all kinds have in common. */
  answer: Answer;
  /** Bound of the attack; absent where nothing certifies an ε. */
  attack?: GeneratorAttack;
  /** Whether the data of both worlds were present and differ by the target row alone. */
  checked_data: boolean;
  /** The claimed ε. */
  claimed_epsilon?: number;
  /** Columns of the schema. */
  columns: number;
  /** Privacy parameter δ. */
  delta: number;
  /** Duration, milliseconds. */
  elapsed_ms: number;
  /** Failed runs with the target row and without: outcomes that the attack sees. */
  failed: [number, number];
  /** What was noticed. */
  findings: GeneratorFinding[];
  /** The result in one sentence. */
  headline: string;
  /** Figures of one table without a game, which certify nothing. */
  indicative?: IndicativeFigures;
  /** Released rows of each run. */
  rows: number;
  /** Runs of each world. */
  runs: number;
  /** What the result means, and what could have been seen. */
  says: string;
  /** Name and version of this document. */
  schema: "dpscope.generator/1";
  /** Chance that the lower bound is wrong. */
  significance: number;
  /** Whether the claim is refuted; absent without a claim or a bound. */
  verdict?: Verdict;
  /** Version of the program. */
  version: string;
}

/** A generator: its privacy, and the utility of its rows. */
export interface GeneratorUtility {
  /** Average precision, over classifiers and runs. */
  auprc: UtilityFigure;
  /** Area under the receiver operating characteristic, over classifiers and runs. */
  auroc: UtilityFigure;
  /** ε that is claimed or accounted for. */
  claimed_epsilon?: number;
  /** Both areas of each classifier, over runs. */
  classifiers: ClassifierFigures[];
  /** Lower bound on ε by an attack. */
  measured_epsilon?: number;
  /** What tells it from the others. */
  name: string;
  /** Runs whose rows were tested. */
  runs: number;
}

/** The known one of ε and δ. */
export type Given = {
  delta: number;
} | {
  epsilon: number;
};

/** What the guesses of one training run show. */
export interface GuessBound {
  /** The bound if all guesses were correct. */
  ceiling: number;
  /** Lower bound, nats. */
  epsilon: number;
  /** The looser bound of Steinke, Nasr and Jagielski, for comparison. */
  steinke_epsilon: number;
}

/** Guesses about the canaries of one training run. */
export interface GuessCounts {
  /** Number of canaries m. */
  canaries: number;
  /** Number of correct guesses v. */
  correct: number;
  /** Number of guesses k, fixed before the coins were drawn. */
  guesses: number;
}

/** How the number of guesses was chosen. */
export type GuessRuleKind = "walk" | "fixed" | "one_side";

/** Result of the same audit on the batched Gaussian mechanism. */
export interface Idealised {
  /** ε, nats. */
  epsilon: number;
  /** Whether the value has coverage. */
  kind: OutcomeKind;
}

/** An implementation of PATE-GAN that was audited. */
export interface ImplementationFacts {
  /** Its switches, with commas between them. */
  faults: string;
  /** Its name. */
  name: string;
  /** ε that the published audit printed. */
  published?: number;
}

/** Tests of one pair of files. */
export interface IndependenceRecord {
  /** The tests, in the order in which they were made. */
  checks: IndependenceTest[];
  /** Chance of any finding where all runs are independent. */
  false_alarm: number;
}

/** One test of independence. */
export interface IndependenceTest {
  /** What is wrong, as a sentence; none where nothing is. */
  finding: string | null;
  /** Its name. */
  name: CheckKind;
  /** Chance of a statistic at least as extreme if the runs are independent. */
  p_value: number;
  /** What was measured. */
  statistic: number;
  /** The world whose runs it concerns; none where it concerns both. */
  world: World | null;
}

/** An estimate that treats canaries as independent. */
export interface IndependentCanaries {
  /** Its ε at the first δ; none where it is not finite. */
  epsilon: number | null;
  /** μ of Gaussian differential privacy. */
  gdp_mu: number;
}

/**
 * A lower bound **if** canaries do not influence each other and the training is μ-GDP for each: it decides
 * nothing.
 */
export interface IndependentPairs {
  /** Pairs whose included canary has the larger score. */
  correct: number;
  /** Its ε at the first δ; none where it is not finite. */
  epsilon: number | null;
  /** μ of Gaussian differential privacy, at least. */
  gdp_mu: number;
  /** Pairs of an included and another canary, matched at random. */
  pairs: number;
}

/** Distances of the real rows to a synthetic table. */
export interface IndicativeFigures {
  /** Share of the synthetic rows that equal a real row. */
  copied_share: number;
  /** Smallest such distance. */
  least_distance: number;
  /** Median distance from a real row to its nearest synthetic row, columns scaled by their bounds. */
  median_distance: number;
}

/** On which side of the exact value a computed one is. */
export type Kind = "upper" | "lower" | "estimate";

/** A bound on ε, or an estimate of it, that a training has by theory alone. */
export type KnownBound = "poisson" | "truncated-poisson-lower" | "truncated-poisson" | "random-allocation-lower" | "random-allocation" | "fixed-size-lower" | "fixed-size" | "balls-in-bins" | "shuffle-best" | "shuffle-sum" | "shuffle-max-slice" | "persistent-shuffle" | "pair-lower" | "pair-estimate" | "deterministic";

/** What a model has learnt after some steps. */
export interface LearnedAfter {
  /** Share of them that is classified correctly. */
  accuracy: number;
  /** Mean cross-entropy of held-out records, nats; none after it diverged. */
  loss: number | null;
  /** Steps so far. */
  steps: number;
}

/** What the documentation of a library says about one of its loaders. */
export interface LibraryLoader {
  /** How it forms batches. */
  batches: LoaderKind;
  /** Documented behaviour. */
  behaviour: string;
  /** The name, as in code. */
  name: string;
  /** Page of the documentation, with the version. */
  source: string;
  /** What makes a training differ from its accounting. */
  traps: string[];
}

/** The largest acceptable bound on ε, and whether it is exceeded. */
export interface LimitRecord {
  /** ε, nats. */
  epsilon: number;
  /** Refuted where the bound exceeds it. */
  verdict: ClaimVerdict;
}

/**
 * A Toeplitz matrix with c₀ = 1 and c_t = Σᵢ ωᵢθᵢ^{t−1}, whose noise needs one vector of memory per
 * buffer i: (C⁻¹z)_t = z_t − Σᵢ ωᵢuᵢ, after which uᵢ becomes θᵢuᵢ + (C⁻¹z)_t.
 */
export interface LinearBuffers {
  /** Decays θ, one per buffer. */
  decays: number[];
  /** Output scales ω, one per buffer. */
  output_scales: number[];
}

/** Something that was found. */
export interface ListedFinding {
  /** Its code, the same in all reports. */
  code: string;
  /** What was found, and what to do about it. */
  sentence: string;
  /** What it means for the result. */
  severity: Severity;
}

/** A value of ε at δ. */
export interface ListedValue {
  /** What the neighbouring data sets of an audit differ in. */
  adjacency?: Adjacency;
  /** The largest ε that an audit of this size could have shown, where it is known. */
  ceiling?: number;
  /** Privacy parameter δ. */
  delta: number;
  /** ε, nats. */
  epsilon: number;
  /** On which side of the truth it lies. */
  kind: Kind;
  /** What it is. */
  name: string;
  /** Chance that a bound is wrong; none for what is proven or estimated. */
  significance: number | null;
}

/** How a loader forms batches. */
export type LoaderBatches = BatchSampler | OtherBatches;

/** How a loader forms batches, without parameters. */
export type LoaderKind = SamplerKind | OtherBatches;

/**
 * The steps R, of T, in which one participant (a record or a client) may take part.
 *
 * The steps of the others do not depend on the participant.
 */
export type MatrixParticipation = {
  kind: "single";
} | {
  /** E, which divides T. */
  epochs: number;
  kind: "epochs";
} | {
  /** E, which divides T. */
  epochs: number;
  kind: "shuffled";
} | {
  kind: "min-separation";
  /** Most steps, k; as many as fit if `None`. */
  participations?: number;
  /** b: |r − s| ≥ b for any two steps. */
  separation: number;
} | {
  /** Number of groups, b: group g has the steps g, g + b, g + 2b, …. */
  groups: number;
  kind: "cyclic-poisson";
  /** The probability, q. */
  sampling_rate: number;
};

/** The steps of a participant, by name. */
export type MatrixParticipationKind = "single" | "epochs" | "shuffled" | "min-separation" | "cyclic-poisson";

/** A matrix mechanism (DP-FTRL); defaults are those of the command line. */
export interface MatrixQuestion {
  /** Bands of banded strategies. */
  bands?: number;
  /** Buffers of a BLT. */
  buffers?: number;
  /** Privacy parameter δ. */
  delta: number;
  /** Number of epochs E, of `epochs` and `shuffled`. */
  epochs?: number;
  /** The ε that σ is calibrated for, nats. */
  epsilon?: number;
  /** Number of groups, of `cyclic-poisson`. */
  groups?: number;
  /** σ; or else `epsilon`. */
  noise_multiplier?: number;
  /** The error that is minimised. */
  objective?: PrefixObjective;
  /** The steps of a participant. */
  participation: MatrixParticipationKind;
  /** Most steps of a participant, of `min-separation`. */
  participations?: number;
  /** The probability, of `cyclic-poisson`. */
  sampling_rate?: number;
  /** Minimum separation b of two steps, of `min-separation`. */
  separation?: number;
  /** Number of steps T. */
  steps: number;
  /** A strategy; if omitted, all are compared. */
  strategy?: MatrixStrategyKind;
}

/** The document of `dpscope bound matrix` and `dpscope calibrate matrix`. */
export interface MatrixReport {
  /** δ of every ε here. */
  delta: number;
  /** The steps in which a participant may take part. */
  participation: MatrixParticipation;
  /** Name and version of this document. */
  schema: "dpscope.matrix/1";
  /** Number of steps, T. */
  steps: number;
  /** One strategy, or all that are compared. */
  strategies: MatrixStrategyRecord[];
  /** The ε that no noise multiplier here exceeds, if they were calibrated. */
  target_epsilon?: number;
  /** Version of the program. */
  version: string;
}

/** How a strategy is built. */
export type MatrixStrategyKind = "identity" | "tree" | "banded-square-root" | "banded-optimised" | "blt" | "file";

/** A strategy. */
export interface MatrixStrategyRecord {
  /** Number of diagonals that are not 0. */
  bands?: number;
  /** The buffers that generate it. */
  buffers?: LinearBuffers;
  /** The first entries of the first column of a banded strategy, at most 64: its bands. */
  coefficients?: number[];
  /** Why nothing is, in a table of several strategies. */
  reason?: string;
  /** How it was built. */
  strategy: MatrixStrategyKind;
  /** What is proven of it. */
  value?: MatrixValue;
}

/** What is proven of a strategy, and the error of its prefix sums. */
export interface MatrixValue {
  /** ε of the worst participant, nats, rounded up: that of the mechanism. */
  epsilon: number;
  /** Some participant has at least this ε, nats; none if that is not known. */
  epsilon_lower?: number;
  /** μ of the worst participant, rounded up; none for sampled steps. */
  gdp_mu?: number;
  /** Whether some participant changes Cx as much. */
  is_exact: boolean;
  /** The most that one participant changes Cx, in clipping norms. */
  l2_sensitivity: number;
  /** Standard deviation of the noise of the noisiest prefix sum, likewise. */
  largest_error: number;
  /** The participant whose steps are the latest; none for sampled steps. */
  last?: ParticipantEpsilon;
  /** Root mean square of the noise in all prefix sums, per coordinate, in clipping norms. */
  mean_error: number;
  /** Standard deviation of the noise over the clipping norm, σ. */
  noise_multiplier: number;
  /** The participant in the steps that were named. */
  participant?: ParticipantEpsilon;
}

/** A simulated mechanism; the flags of the command line. */
export interface Mechanism {
  /** Records per batch, for the samplers that need it. */
  batch_size?: number;
  /** Records in the buffer, for the samplers that have one. */
  buffer_examples?: number;
  /** Records of the data set, for truncated batches. */
  dataset_size?: number;
  /** Passes over the data. */
  epochs: number;
  /** Most records of a batch, for truncated batches. */
  max_batch_size?: number;
  /** Noise standard deviation divided by the clip norm. */
  noise_multiplier: number;
  /** How batches are drawn. */
  sampler: SamplerKind;
  /** Batches per epoch. */
  steps: number;
  /** If omitted, the strongest one defined for the sampler. */
  threat_model?: ThreatModel;
  /** Batches of an epoch that contain a record, for the sampler that has this parameter. */
  uses_per_epoch?: number;
}

/** How a value was computed. */
export type Method = "analytic" | "privacy-loss-distribution" | "max-slice" | "sum" | "importance-sampling" | "plug-in";

/** ε by moments. */
export interface MomentsEpsilon {
  /** Privacy parameter ε, in nats. */
  epsilon: number;
  /** The order l that attains it. */
  order: number;
}

/** What noise is added to. */
export type NoiseTarget = "sum" | "mean";

/**
 * Canaries in noisy sums: each is added to the same number of sums, whose total the attacker compares
 * with it.
 */
export interface NoisySumSimulation {
  /** Mean of their Poisson number. */
  canaries: number;
  /** Privacy parameter δ. */
  delta: number;
  /** Dimension d of the sums. */
  dimension: number;
  /** σ of the noise in each sum, over the norm of a canary. */
  noise_multiplier: number;
  /** Sums to which a canary is added. */
  presentations: number;
  /** Decimal digits. */
  seed: string;
  /** Probability that a bound is wrong. */
  significance: number;
}

/** Canaries with a normal score in an interval. */
export interface NormalScoreBin {
  /** Number of canaries. */
  canaries: number;
  /** The number that is expected of canaries that are not in. */
  expected: number;
  /** Its lower end. */
  from: number;
  /** Its upper end. */
  to: number;
}

/** Observations `first..end` of each world; of `dpscope-engine`. */
export interface ObservationRange {
  end: number;
  first: number;
}

/** Numbers of runs. */
export interface Observations {
  /** Observations that the rule evaluated. */
  evaluated: Trials;
  /** Planned, both worlds together. */
  planned: number;
  /** Runs with the target record. */
  target: number;
  /** Runs without the target record. */
  zero_out: number;
}

/** The bound at one δ, with what it could have been. */
export interface OneRunBound {
  /** The bound if all guesses had been correct. */
  ceiling: number;
  /** The correct ones. */
  correct: number;
  /** δ of the bound. */
  delta: number;
  /** Lower bound on ε, nats; without coverage where the result is an estimate. */
  epsilon: number;
  /** What ten times as many canaries with the same share of correct guesses would add, about. */
  gain_at_10x: number;
  /** The deciding number of guesses. */
  guesses: number;
  /**
   * The bound of Steinke et al. for the deciding number of guesses, as if it had been fixed
   * beforehand: for comparison with published figures.
   */
  steinke_epsilon: number;
}

/** How canaries were included and guessed. */
export interface OneRunDesign {
  /** What the bound certifies. */
  adjacency: Adjacency;
  /** Canaries, or sets of canaries. */
  canaries: number;
  /** What is known of the coins. */
  coins: CoinsStatus;
  /** What a coin decides. */
  game: CanaryGameKind;
  /** How the number of guesses was chosen. */
  rule: GuessRuleKind;
  /** Canaries of which one is included; 2 where each has a coin of its own. */
  set_size: number;
}

/** Something that the data indicate about protocol or code. */
export type OneRunFindingRecord = {
  /** Whether only an estimate is left. */
  costs_coverage: boolean;
  /** What was found and what to do about it. */
  sentence: string;
} & ({
  code: "coins_follow_order";
  data: {
    /** Chance of such a pattern with fair coins. */
    p_value: number;
  };
} | {
  code: "exactly_half";
  data: {
    /** Number of pairs. */
    pairs: number;
  };
} | {
  code: "fixed_size_inclusion";
  data: {
    /** All canaries. */
    canaries: number;
    /** Chance that the number from independent coins is as close to its mean: within less than 1. */
    chance_with_coins: number;
    /** Number of included canaries. */
    included: number;
  };
} | {
  code: "failed_scores";
  data: {
    /** All canaries. */
    canaries: number;
    /** NaN scores. */
    count: number;
  };
} | {
  code: "noise_missing";
  data: {
    /** Number of these steps. */
    skipped_steps: number;
    /** Steps of all runs. */
    steps: number;
  };
} | {
  code: "repeated_scores";
  data: {
    /** The largest probability of it for independent scores. */
    p_value: number;
    /** Whose scores, and where they recur. */
    scores: RepeatedScores;
    /** How often each of them occurs; of cosines, the most often. */
    times: number;
    /** Number of different scores that occur equally often. */
    values: number;
  };
} | {
  code: "number_outside_design";
  data: {
    /** The number. */
    canaries: number;
    /** Its mean by the design. */
    expected: number;
  };
} | {
  code: "tied_scores";
  data: {
    /** Share of the canaries. */
    share: number;
  };
} | {
  code: "scores_follow_order";
  data: {
    /** Spearman's rank correlation. */
    correlation: number;
    /** Its two-sided p-value. */
    p_value: number;
  };
} | {
  code: "scores_reversed";
  data: {
    /** Share of the pairs in which the included canary has the larger score. */
    auc: number;
  };
} | {
  code: "few_correct";
  data: {
    /** Number of correct guesses. */
    correct: number;
    /** Number of guesses. */
    guesses: number;
    /** Chance of so few. */
    p_value: number;
  };
} | {
  code: "all_correct";
  data: {
    /** Number of canaries or sets. */
    canaries: number;
    /** Number of guesses. */
    guesses: number;
  };
} | {
  code: "far_above_claim";
  data: {
    /** The claim. */
    claimed: number;
    /** The bound. */
    epsilon: number;
  };
} | {
  code: "second_scores";
} | {
  code: "equal_canaries";
  data: {
    /** All canaries. */
    canaries: number;
    /** Number of canaries with an equal one before them. */
    copies: number;
  };
} | {
  code: "failed_trainings";
  data: {
    /** Number of trainings without scores. */
    count: number;
    /** All trainings. */
    trainings: number;
  };
} | {
  code: "no_scores";
  data: {
    /** All canaries. */
    canaries: number;
  };
} | {
  code: "missing_cosines";
  data: {
    /** All canaries. */
    canaries: number;
    /** Number of canaries without a cosine. */
    count: number;
  };
} | {
  code: "cosines_reversed";
  data: {
    /** Mean of the normal scores times √K. */
    z: number;
  };
} | {
  code: "far_below_null";
  data: {
    /** Its normal score. */
    score: number;
  };
} | {
  code: "narrow_scores";
  data: {
    /** Variance of their normal scores; 1 is expected. */
    dispersion: number;
  };
} | {
  code: "unequal_weights";
  data: {
    /** Their variance; 1 is expected. */
    dispersion: number;
  };
} | {
  code: "spread_too_small";
  data: {
    /** Their variance; 1 is expected. */
    dispersion: number;
  };
} | {
  code: "little_noise";
  data: {
    /** Lower limit of μ. */
    gdp_mu: number;
  };
} | {
  code: "unseen_not_uniform";
  data: {
    /** Distance of the distributions, of Kolmogorov and Smirnov. */
    distance: number;
    /** Canaries that were not in. */
    unseen: number;
  };
} | {
  code: "noise_below_stated";
  data: {
    /** Upper limit of the noise multiplier. */
    noise_multiplier: number;
    /** The server round, from 1. */
    server_round: number;
    /** The stated one. */
    stated: number;
  };
} | {
  code: "noise_reused";
  data: {
    /** Upper limit of the noise multiplier of new noise. */
    noise_multiplier: number;
    /** The server round, from 1. */
    server_round: number;
    /** The stated one. */
    stated: number;
  };
} | {
  code: "canary_weight";
  data: {
    /** Number of clients that the server divides by; 1 for sums. */
    planned_clients: number;
    /** Its standard error. */
    standard_error: number;
    /** Their mean norm in units of the clipping norm. */
    weight: number;
  };
} | {
  code: "few_replies";
  data: {
    /** What is left of the noise multiplier. */
    noise_multiplier: number;
    /** Planned clients. */
    planned: number;
    /** Clients that replied. */
    replies: number;
    /** The server round, from 1. */
    server_round: number;
  };
} | {
  code: "unequal_replies";
  data: {
    /** What is left of the noise multiplier for the client with the largest weight. */
    noise_multiplier: number;
    /** The server round, from 1. */
    server_round: number;
    /** The stated one. */
    stated: number;
  };
} | {
  code: "arrival_follows_class";
  data: {
    /** What was declared. */
    class: CanaryClass;
    /** Norm of a canary with the least declared number, in units of the clipping norm. */
    least: number;
    /** Norm of a canary with the largest declared number, in units of the clipping norm. */
    most: number;
    /** What is left of the noise multiplier for it. */
    noise_multiplier: number;
    /** Its two-sided p-value. */
    p_value: number;
    /** Units of the clipping norm per declared unit. */
    slope: number;
    /** Its standard error. */
    standard_error: number;
    /** The stated one. */
    stated: number;
  };
} | {
  code: "scores_follow_class";
  data: {
    /** What was declared. */
    class: CanaryClass;
    /** Its two-sided p-value. */
    p_value: number;
    /** Normal score per declared unit. */
    slope: number;
    /** Its standard error. */
    standard_error: number;
  };
} | {
  code: "participation_above_claimed";
  data: {
    /** The largest one with the claimed participation. */
    claimed: number;
    /** The mean normal score. */
    mean_score: number;
    /** Claimed server rounds of each client. */
    participations: number;
  };
} | {
  code: "control_not_seen";
  data: {
    /** Its p-value. */
    p_value: number;
  };
} | {
  code: "control_seen";
  data: {
    /** Logarithm of its p-value; −∞ (null in JSON) where the update is the direction of the control. */
    ln_p: number;
  };
} | {
  code: "canaries_in_base_data";
  data: {
    /** All canaries. */
    canaries: number;
    /** Number of canaries that equal a record. */
    copies: number;
  };
});

/** The result of an audit of one run, with what it rests on. */
export interface OneRunReport {
  /** What the report says, in the form that all kinds have in common. */
  answer: Answer;
  /**
   * Share of the pairs of an included and another canary in which the included one has the larger
   * score; none without scores.
   */
  auc: number | null;
  /** ε for each δ. */
  bounds: OneRunBound[];
  /** The claim that was tested. */
  claim: ClaimRecord | null;
  /** The training that was tested as a whole; none where none was described. */
  claimed_training?: ClaimedTraining;
  /** How the canaries were included and guessed. */
  design: OneRunDesign;
  /** Wall-clock time of this audit. */
  elapsed_ms: number;
  /** The largest acceptable bound on ε, and whether it is exceeded. */
  fail_above: LimitRecord | null;
  /** What the data indicate about protocol and code. */
  findings: OneRunFindingRecord[];
  /**
   * Lower bound on μ if the trade-off curve of the training is Gaussian; none where the number of
   * guesses was not fixed.
   */
  gdp_mu: number | null;
  /** Whether the guesses are better than chance. */
  has_arrived: boolean;
  /** The result in one line. */
  headline: string;
  /** Probability of inclusion of each canary; none where coins are fair. */
  inclusion_probability?: number;
  /** What published tools report that treat canaries as independent: an estimate. */
  independent_canaries: IndependentCanaries | null;
  /** What pairs of canaries show if they do not influence each other; none without scores. */
  independent_pairs?: IndependentPairs;
  /** The files that were read, and how. */
  input?: unknown;
  /** Whether the values of ε have coverage. */
  kind: OutcomeKind;
  /** How scores follow from projections of the releases; none where scores were read. */
  projections?: ProjectionsRecord;
  /** Correct guesses among the first of the ranking. */
  ranking: RankingStep[];
  /** Trainings of the plan; none where it allows one. */
  runs?: PlannedRunsRecord;
  /** Name and version of this document. */
  schema: "dpscope.one_run/1";
  /** What redrawn coins show; none where it was not asked for. */
  self_test?: RedrawnCoins;
  /** Chance that a bound is wrong. */
  significance: number;
  /** Share of it that each δ has. */
  significance_per_delta: number;
  /** The trainings behind the guesses, if the program trained. */
  training?: OneRunTrainings;
  /** On the claim and the limit together; none where nothing was tested. */
  verdict: ClaimVerdict | null;
  /** Version of the program. */
  version: string;
}

/** Trainings with canaries, and what an accountant claims of each of them. */
export interface OneRunTrainings {
  /** Predictions on held-out examples, over all audited models. */
  asked: number;
  /** Canaries of each training. */
  canaries: number;
  /** Share of held-out examples that audited models classify correctly. */
  correct_share: number | null;
  /** Model, data, canaries and settings. */
  description: unknown;
  /** Devices that trained. */
  device: string;
  /** Trainings that diverged. */
  failed: number;
  /**
   * Median ε of an ideal attack on a Gaussian mechanism with the accounted ε, with these canaries and
   * the best number of guesses; none where nothing finite is accounted.
   */
  ideal_attack_epsilon: number | null;
  /** Noise, batches and length of a training. */
  mechanism: BatchedGaussian;
  /** Further trainings, with coins of their own, that calibrate the scores. */
  reference_models: number;
  /**
   * Each audited training alone. No statement is made about them: the bounds of the report are
   * about all of them together.
   */
  repeats: RepeatRecord[];
  /** Trainings in the state that was resumed. */
  resumed_from: number | null;
  /** The score by which canaries are ranked. */
  score: CanaryScoreKind;
  /** Seed of every random word, a decimal number below 2⁵³. */
  seed: string;
  /** Where the seed comes from. */
  seed_source: SeedSource;
  /** The ε of the repeats; none where there is only one. */
  summary: RepeatSummary | null;
  /** What theory says of a training at the first δ. */
  theory: TheoryComparison;
}

/** What the attacker sees. */
export type OneShotAttacker = "final_model" | "all_updates" | "sum_of_updates" | "known_server_rounds" | "noisy_sum" | "scores";

/**
 * Lower bounds of one run, each with its own assumption and with the whole significance: choose one
 * before the training.
 */
export interface OneShotBounds {
  /** ε, for any training algorithm. */
  epsilon: number;
  /** μ, for any training algorithm that is claimed to be μ-GDP. */
  gdp_mu: number;
  /** ε, if canaries do not influence each other. */
  independent_epsilon: number;
  /**
   * μ, if canaries do not influence each other and the training is claimed to be μ-GDP; none if a
   * canary has no score.
   */
  independent_gdp_mu: number | null;
}

/** Canaries, their null distribution, and who attacks. */
export interface OneShotDesign {
  /** What the bound certifies. */
  adjacency: Adjacency;
  /** What the attacker sees. */
  attacker: OneShotAttacker;
  /** Canaries that were inserted. */
  inserted: number;
  /** Whether the plan was committed before the training, and verified. */
  is_committed: boolean;
  /** Scores of canaries that are not in. */
  null: CanaryNull;
  /** How their number was drawn. */
  number: CanaryDesign;
  /** Whose participation is protected. */
  unit: PrivacyUnit;
}

/** An estimate beside its range without a leak. */
export interface OneShotEstimate {
  /** Estimated ε. */
  epsilon: number;
  /** How it is computed. */
  method: EpsilonEstimator;
  /** 90 % of runs without any leak have an estimate in this interval. */
  null_range: [number, number];
}

/**
 * What [`OneShotBounds`] follow from, other than that on ε for any training algorithm; with the number of
 * canaries.
 */
export interface OneShotEvidence {
  /** The cut that decides μ for any training algorithm; none where it is 0. */
  gdp_cut: CutHits | null;
  /** The canary that decides ε of independent canaries; none where it is 0. */
  independent: RankedCanary | null;
  /**
   * Mean of the normal scores, from which μ of independent canaries follows; none if a canary has no
   * score, or one that shows nothing.
   */
  mean_normal_score: number | null;
}

/** The files that were read. */
export interface OneShotFiles {
  /** The update of canary 0, as the audited code flattens it. */
  control: string | null;
  /** The model before the training. */
  initial_model: string | null;
  /** The final model. */
  model: string | null;
  /** The model after every server round. */
  models: string | null;
  /** The server rounds of each canary. */
  participation: string | null;
  /** The plan. */
  plan: string | null;
  /** The weights of the clients that replied. */
  replies: string | null;
  /** Cosines or other scores of the canaries. */
  scores: string | null;
  /** Scores of canaries that were not in. */
  unseen: string | null;
  /** The update of every server round. */
  updates: string | null;
}

/** A bound or an estimate. */
export type OneShotQuantity = "epsilon" | "independent_epsilon" | "gdp_mu" | "independent_gdp_mu" | "mean_estimate" | "two_gaussians_estimate";

/** Canaries of a Gaussian leak. */
export interface OneShotQuestion {
  /** Mean of their Poisson number. */
  canaries: number;
  /** Privacy parameter δ. */
  delta: number;
  /** ε of the leak at δ. */
  epsilon: number;
  /** Probability that the bound is wrong. */
  significance: number;
}

/** The result of an audit with canaries of a known null distribution, with what it rests on. */
export interface OneShotReport {
  /** What the report says, in the form that all kinds have in common. */
  answer: Answer;
  /** Lower bounds, each with its own assumption. */
  bounds: OneShotBounds;
  /** The smallest p-values that count for nothing, because of δ. */
  canaries_lost_to_delta: number;
  /**
   * The bound if all canaries scored above all null scores; none where the null distribution is exact
   * and continuous.
   */
  ceiling: number | null;
  /** The claim that was tested. */
  claim: ClaimRecord | null;
  /** The canary that decides the bound on ε for any training algorithm; none where it is 0. */
  deciding?: RankedCanary;
  /** δ of the statement. */
  delta: number;
  /** Canaries, their null distribution, and who attacks. */
  design: OneShotDesign;
  /**
   * ε of a Gaussian leak that these canaries show with probability 80 %; none if δ leaves no
   * significance, or is 0.
   */
  detectable_epsilon: number | null;
  /** Wall-clock time of this audit. */
  elapsed_ms: number;
  /**
   * ε of a Gaussian mechanism with the bound on μ of independent canaries: it refutes no (ε, δ)
   * claim.
   */
  epsilon_by_gaussian_curve: number | null;
  /** Estimates, without coverage; none where the null distribution is not that of cosines. */
  estimates: OneShotEstimate[];
  /** What the other bounds follow from; none of several runs that one bound covers. */
  evidence?: OneShotEvidence;
  /** The largest acceptable bound on ε, and whether it is exceeded. */
  fail_above: LimitRecord | null;
  /** What the data indicate about protocol and code. */
  findings: OneRunFindingRecord[];
  /** Whether a bound exceeds 0 or a control client was seen: canaries had an effect. */
  has_arrived: boolean;
  /** The bound for any training algorithm in one line. */
  headline: string;
  /** The files that were read. */
  input: OneShotFiles;
  /** Whether the values of ε have coverage. */
  kind: OutcomeKind;
  /** The part of the significance that null probabilities used up; 0 where they are exact. */
  null_significance: number;
  /** Name and version of this document. */
  schema: "dpscope.one_shot/1";
  /** Chance that a bound is wrong; each of the bounds has all of it. */
  significance: number;
  /** The simulated mechanism; none of a training. */
  simulation: OneShotSimulation | null;
  /**
   * Mean of the normal scores times √K, N(0, 1) if no canary arrived; none where null
   * probabilities are only limits.
   */
  standardised_mean: number | null;
  /** Federated trainings by the program; none of others. */
  training: FederatedTrainings | null;
  /** On the claim and the limit together; none where nothing was tested. */
  verdict: ClaimVerdict | null;
  /** Version of the program. */
  version: string;
}

/** A rule that a page shows for the canaries of one run. */
export type OneShotRule = "any_mechanism" | "independent" | "gaussian" | "published";

/** The simulated mechanism, and what all of its runs showed. */
export interface OneShotSimulation {
  /** Devices that computed. */
  device: string;
  /** ε of the mechanism at δ; none where it is not finite. */
  epsilon: number | null;
  /** μ of the mechanism, 1/σ; none without noise. */
  gdp_mu: number | null;
  /** Whether every coordinate was drawn, or the cosines by their joint distribution. */
  is_full_dimension: boolean;
  /** Standard deviation of the noise per coordinate over the norm of a canary. */
  noise_multiplier: number;
  /** Independent runs; bounds, estimates and verdict of the report are those of the first. */
  repeats: number;
  /** Runs in the state that was resumed. */
  resumed_from: number | null;
  /** Seed of every random word, a decimal number below 2⁵³. */
  seed: string;
  /** Where the seed comes from. */
  seed_source: SeedSource;
  /** All runs, by what each of them showed; none of a single run. */
  summaries: OneShotSummary[];
}

/** What the canaries of a Gaussian leak are expected to show. */
export interface OneShotSize {
  /** μ of the leak. */
  gdp_mu: number;
  /** The bound for any training algorithm is at least this with probability ½, or more. */
  median_epsilon: number;
  /** The most canaries at which δ costs nothing. */
  most_canaries: number;
  /** 90 % of runs without any leak have an estimate by the mean score in this interval. */
  null_range: [number, number];
}

/** One bound or estimate in many runs, beside the truth. */
export interface OneShotSummary {
  /** 5 % of the runs show more. */
  high: number;
  /** 5 % of the runs show less. */
  low: number;
  /** Median, the lower of two. */
  median: number;
  /** What was computed. */
  quantity: OneShotQuantity;
  /** Runs with a value. */
  runs: number;
  /** Runs with a value above the truth. */
  runs_above: number;
  /** ε or μ of the mechanism; none where it is not finite. */
  truth: number | null;
}

/**
 * The mean output of the batches without the target, by maximum likelihood of it and of the noise, with
 * the contrast and the uses of the threat model that fits.
 */
export interface OtherBatchMean {
  /** b, the mean that the threat model assumes. */
  expected: number;
  /** Lower confidence limit. */
  lower: number;
  /** Upper confidence limit. */
  upper: number;
  /** The mean found, clip norms. */
  value: number;
}

/**
 * Ways to form batches that are no [`SamplerKind`].
 *
 * | batches | lower bound | upper bound |
 * |---|---|---|
 * | `WithReplacement` | Poisson pair at q = 1 − (1 − 1/N)^B | unknown |
 * | `OncePerEpoch` | unknown | deterministic batches, under zero-out adjacency |
 * | `Unknown` | unknown | unknown |
 *
 * With replacement, and all other gradients zero, the target's gradient enters a sum once or
 * several times, which moves outputs further in the direction in which the likelihood ratio rises.
 */
export type OtherBatches = "with-replacement" | "once-per-epoch" | "unknown";

/** Whether a value of ε has coverage: it exceeds the true ε with a stated chance at most. */
export type OutcomeKind = "bound" | "estimate";

/**
 * Parameters of recorded outputs: a Gaussian mixture per step, on the scale of sums in clip norms.
 *
 * | world | an output's distribution, p = uses ÷ T |
 * |---|---|
 * | D | (1 − p) N(b, σ²) + p N(b + κ, σ²) |
 * | D′ | (1 − p) N(b, σ²) + p N(b + ρκ, σ²) |
 */
export interface OutputModel {
  /** κ: what the target's batch adds to it in D. */
  contrast: number;
  /** σ: standard deviation of the noise. */
  noise_multiplier: number;
  /** b: mean of the batches without the target. */
  other_mean: number;
  /** T p: batches of an epoch that contain the target, on average. */
  uses: number;
  /** ρ: what it adds in D′, as a share of κ. */
  zero_out_share: number;
}

/** A parameter of recorded outputs with an interval. */
export interface OutputParameter {
  /** Lower confidence limit. */
  lower: number;
  /** Upper confidence limit. */
  upper: number;
  /** The value of the largest likelihood. */
  value: number;
}

/** What the outputs of a phase show, with 95 % intervals. */
export interface OutputPhase {
  /** First and last epoch, from 0. */
  epochs: [number, number];
  /** Whether it was computed from recorded sums, for any sampler and threat model. */
  is_noise_exact: boolean;
  /** Standard deviation of the noise, clip norms. */
  noise: OutputParameter;
  /** Mean of the batches without the target. */
  other_mean: OutputParameter;
  /** Least p-value of the stated parameters, adjusted for all tests of all phases. */
  p_value: number;
  /** What the target adds to its batch, clip norms; none where the outputs show the product alone. */
  size: OutputParameter | null;
  /** Batches of an epoch that contain the target; none where the outputs show the product alone. */
  uses: OutputParameter | null;
  /** Uses times size: what the target adds in an epoch. */
  uses_times_size: number;
}

/** A claim of the reader, beside the bounds of a sampler. */
export interface OwnClaim {
  /** Adjacency of the claim. */
  adjacency: Adjacency;
  /** The claimed ε. */
  epsilon: number;
  /** For people. */
  sentence: string;
  /** What the bounds say of it. */
  verdict: CheckVerdict;
}

/** The exact pair, drawn. */
export interface Pair {
  /** Without coverage. */
  estimate: Cell;
  /** Rigorous; the closed form where nothing was drawn. */
  lower: Accounted;
  /** Draws for the lower limit. */
  observations: number;
  /** Decimal digits. */
  seed: string;
}

/** The exact pair from draws of one epoch. */
export interface PairEstimate {
  /** Without coverage. */
  estimate: Cell;
  /** Draws of one epoch. */
  observations: number;
  /** Decimal digits. */
  seed: string;
}

/** The calibrated parameter. */
export type Parameter = "noise" | "steps" | "epochs";

/** What a participant shows. */
export interface ParticipantEpsilon {
  /** ε, nats, rounded up. */
  epsilon: number;
  /** μ of Gaussian differential privacy, rounded up. */
  gdp_mu: number;
}

/** The audit of PATE-GAN. */
export interface PateGanAnswer {
  picture: PateGanPicture;
  report: PateGanReport;
  /** What the program prints. */
  text: string;
}

/** The user's data of an audit. */
export interface PateGanData {
  /** Runs of each world per candidate, which the audit does not use. */
  candidate_runs?: number;
  /** Rows that were tried, if it was searched for. */
  candidates?: number;
  /** Number of columns. */
  columns: number;
  /** SHA-256 of the file of rows, hexadecimal. */
  digest: string;
  /** How it was chosen. */
  target_choice: TargetChoice;
  /** Position of the target row in the file, from 0. */
  target_row: number;
}

/** What is known of the faults of PATE-GAN. */
export interface PateGanFacts {
  /** By where they were found. */
  groups: FaultGroup[];
  /** The faithful mechanism, then implementations that were audited. */
  implementations: ImplementationFacts[];
}

/** What a page draws of an audit of PATE-GAN beside its report. */
export interface PateGanPicture {
  /** Rows in each cell, and last those outside of the domain. */
  cells: DomainCell[];
  /** Scores of the evaluated runs. */
  scores: ScoreBin[];
}

/** An audit of PATE-GAN in the worst case; the flags of `dpscope audit pategan`. */
export interface PateGanQuestion {
  /** Rows per training step. */
  batch_size: number;
  /** Privacy parameter δ. */
  delta: number;
  /** ε at which training ends. */
  epsilon?: number;
  /** Names of the faults that are switched on, with commas between them. */
  faults: string;
  /** Inverse scale of the Laplace noise, γ. */
  gamma: number;
  /** Number of iterations; either this or `epsilon`. */
  iterations?: number;
  /** Runs of each world. */
  runs: number;
  /** Decimal digits. */
  seed: string;
  /** Probability that the bound is wrong. */
  significance: number;
  /** Number of teachers k. */
  teachers: number;
}

/** The document of `dpscope audit pategan`. */
export interface PateGanReport {
  /** ε that the accountant proves of the faithful mechanism. */
  accounted_epsilon: number;
  /** What the report says, in the form that all kinds have in common. */
  answer: Answer;
  /** Area under the curve of the attack on the released rows. */
  auc: Auc;
  /** Largest ε that this number of runs can show. */
  ceiling: number;
  /** What each check found. */
  checks: GeneratorCheck[];
  /** Chance that any check of a faithful mechanism reports a fault. */
  checks_significance: number;
  /** What the lower bound follows from. */
  counts: AttackCounts;
  /** The user's data, with which this report is private; absent for the worst case. */
  data?: PateGanData;
  /** Privacy parameter δ. */
  delta: number;
  /** Duration, milliseconds. */
  elapsed_ms: number;
  /** Lower bound on ε by the attack. */
  epsilon: number;
  /** Runs of each world that were evaluated. */
  evaluated: number;
  /** The largest acceptable bound on ε, and whether it is exceeded. */
  fail_above?: LimitRecord;
  /** Switches of faults that are on. */
  faults: GeneratorFault[];
  /** The result in one sentence. */
  headline: string;
  /** ε by the published moments. */
  moments_epsilon: number;
  /** Runs of each world. */
  runs: number;
  /** What the result means, and what could have been seen. */
  says: string;
  /** Name and version of this document. */
  schema: "dpscope.pategan/1";
  /** Random seed. */
  seed: string;
  /** Where it came from. */
  seed_source: SeedSource;
  /** What was run. */
  settings: PateGanSettings;
  /** Chance that the lower bound is wrong. */
  significance: number;
  /** Utility of the released rows, if it was tested. */
  utility?: Utility;
  /** Whether the accounted ε is refuted. */
  verdict: Verdict;
  /** Version of the program. */
  version: string;
}

/** Parameters of PATE-GAN. */
export interface PateGanSettings {
  /** Rows per training step. */
  batch_size: number;
  /** Inverse scale of the Laplace noise, γ. */
  gamma: number;
  /** Planned iterations. */
  iterations: number;
  /** Released rows, as stated. */
  rows: number;
  /** Number of teachers k. */
  teachers: number;
}

/** What the runs of an unfinished audit of PATE-GAN show: an estimate. */
export interface PateGanSoFar {
  /** Rows in each cell. */
  cells: DomainCell[];
  /** ε of the attack on them. */
  epsilon: number;
  /** Runs of each world that the attack used; 0 where there are too few for it. */
  runs: number;
}

/**
 * How the steps that contain the target are drawn, as far as one target shows it: batches of fixed
 * size are like Poisson batches, balls in bins like a shuffle.
 */
export type Placement = {
  kind: "poisson";
} | {
  kind: "shuffle";
} | {
  kind: "persistent-shuffle";
} | {
  kind: "fixed-step";
} | {
  /** Number of steps, from the first on. */
  batches: number;
  kind: "first-batches";
} | {
  kind: "buffer";
};

/** The likelihood of a placement. */
export interface PlacementLikelihood {
  /** ln of the likelihood ratio against outputs without the target, over all runs. */
  ln_likelihood: number;
  /** How the steps of the target are drawn. */
  placement: Placement;
}

/** A planned audit. */
export interface PlanQuestion {
  /** Privacy parameter δ. */
  delta: number;
  /** To be reached, nats; if omitted, there is only the table. */
  epsilon?: number;
  /** One size, even; if omitted, a table of sizes. */
  observations?: number;
  /** Probability that the bound is wrong. */
  significance: number;
  /** How the threshold is chosen. */
  threshold_rule: ThresholdRule;
}

/** The plan of a run that was counted. */
export interface PlanRecord {
  /** Most cuts of the simultaneous rule. */
  cuts: number;
  /** δ of the statement. */
  delta: number;
  /** The mechanism and its attacker. */
  mechanism: BatchedGaussian;
  /** Observations of both worlds together. */
  observations: number;
  /** Seed of every random word, a decimal number below 2⁵³. */
  seed: string;
  /** Chance that the bound is wrong. */
  significance: number;
  /** How the threshold is chosen. */
  threshold_rule: ThresholdRule;
  /** SHA-256 of the description of the trained models; none where the mechanism is simulated. */
  training?: string;
}

/** One size of an audit. */
export interface PlanRow {
  /** ε of an attack that never errs, nats. */
  ceiling: number;
  /** Observations of both worlds together. */
  observations: number;
}

/** The largest ε that audits of these sizes can show. */
export interface PlanTable {
  /** Cuts that share the significance. */
  cuts: number;
  /** Fewest of both worlds together, for an attack that never errs. */
  observations_for_ceiling: number | null;
  /** By size. */
  rows: PlanRow[];
  /** One-sided tail of each limit of a rate. */
  tail_per_rate: number;
}

/** Trainings of one plan. */
export interface PlannedRunsRecord {
  /** Trainings that were scored. */
  made: number;
  /** Trainings that the plan allows. */
  planned: number;
}

/**
 * The largest ratio of observed rates, with bootstrap quantiles: an estimate, never a bound.
 *
 * ε̂ = max over thresholds of ln((TPR − δ)/FPR) where FP ≥ 50 and ln((TNR − δ)/FNR) where FN ≥ 50,
 * at least 0; one error suffices at a single threshold. The quantiles describe how ε̂ varies from data set to data set, not where ε lies:
 * the maximum over thresholds is biased upward, the minimum of 50 errors downward, and a bootstrap
 * repeats both.
 */
export interface PlugInEpsilon {
  /** The 1 − significance/2 quantile of the resamples. */
  bootstrap_high: number;
  /** The significance/2 quantile of the resamples. */
  bootstrap_low: number;
  /** Errors that a rate in a denominator must have. */
  fewest_errors: number;
  /** Number of resamples. */
  resamples: number;
  /** Estimate of ε, in nats. */
  value: number;
}

/** Which error of prefix sums is minimised. */
export type PrefixObjective = "mean" | "largest";

/** Whose participation two neighbouring data sets differ in. */
export type PrivacyUnit = "record" | "user";

/** What the projections of one run say. */
export interface ProjectedRunRecord {
  /**
   * Median over the steps of the standard deviation of the noise, in clip norms: an estimate; none
   * without noise.
   */
  noise_estimate: number | null;
  /** Steps without noise, which calibrated scores leave out. */
  skipped_steps: number;
  /** Steps of the run. */
  steps: number;
}

/** Scores from projections of the releases on the canaries' directions. */
export interface ProjectionsRecord {
  /** The stated noise multiplier; none where none was stated. */
  noise_multiplier: number | null;
  /** What the projections of each run say. */
  runs: ProjectedRunRecord[];
  /** Probability that a step uses a record. */
  sampling_rate: number;
  /** How a score follows from the projections of all steps. */
  score: ScoreMethod;
}

/** What is bounded or estimated. */
export type Quantity = "epsilon" | "gdp_mu";

/** A bound from the first guesses of a ranking. */
export interface RankedBound {
  /** The value if all guesses were correct. */
  ceiling: number;
  /** Number of correct guesses. */
  correct: number;
  /** Nats. */
  epsilon: number;
  /** Number of guesses. */
  guesses: number;
}

/** A canary among all of a run. */
export interface RankedCanary {
  /** Logarithm of its p-value, ln p. */
  ln_p: number;
  /** Rank of its p-value, 1 for the smallest. */
  rank: number;
}

/** Runs in which nothing leaks, with the ranking of the last one. */
export interface RankedNull {
  /** A number of guesses that was fixed. */
  fixed: number;
  /** The largest value over numbers of guesses, without correction. */
  largest: number;
  /** Whether each guess is correct, most confident first. */
  ranking: Uint8Array;
  /** Simulated runs. */
  runs: number;
  /** The walk. */
  walk: number;
}

/** A simulated run, with its ranking. */
export interface RankedRun {
  /** Numbers of guesses of the walk, with its boundary at ε = 0. */
  boundary: BoundaryStep[];
  /** The bound of the number of guesses that was fixed. */
  fixed: RankedBound;
  /** The largest value of the path, which is no bound. */
  largest: RankedBound;
  /** By number of guesses, as if each had been fixed. */
  path: RankedBound[];
  /**
   * Whether each guess is correct, most confident first: the largest score, the smallest, the second
   * largest and so on.
   */
  ranking: Uint8Array;
  /** ε of the simulated training at δ, nats. */
  truth: number;
  /** The bound of a walk, which looks at several numbers at a joint level. */
  walk: RankedBound;
}

/** Correct guesses among the most confident ones. */
export interface RankingStep {
  /** Number of correct guesses. */
  correct: number;
  /** Number of guesses. */
  guesses: number;
}

/** Recorded uses of the target, compared with what Poisson batches would show. */
export interface RecordedUsesRecord {
  /** Numbers of uses of each epoch. */
  counts: UseCounts;
  /** Whether all runs used the same steps in all epochs. */
  is_same_in_all: boolean;
  /** Whether each run used the same steps in all its epochs, several of them. */
  is_same_in_run: boolean;
  /** The last step that was used, counted from 1. */
  last_step: number;
  /**
   * p-value of equal numbers of uses of each step, by χ² with T − 1 degrees of freedom; none with too
   * few uses.
   */
  place_p: number | null;
  /** q that the numbers are compared with. */
  rate: number;
  /**
   * Chance of as many uses in a step that the last epoch used, too, if epochs are independent; none
   * with one epoch.
   */
  repeats_p: number | null;
  /** The uses as a sentence. */
  says: string;
  /** Steps T in a run. */
  steps: number;
}

/**
 * How often redrawn coins, on which no score depends, show a leak.
 *
 * It tests this code and the guessing rule, not the user's files; to check those, audit scores
 * from before the training.
 */
export interface RedrawnCoins {
  /** Number of redraws. */
  redraws: number;
  /** Number of redraws that reject ε = 0 at the first δ. */
  rejections: number;
  /** Their largest expected share. */
  significance: number;
}

/** One audited training alone. */
export interface RepeatRecord {
  /**
   * Share of the pairs of an included and another canary in which the included one has the larger
   * score.
   */
  auc: number | null;
  /** Share of held-out examples classified correctly. */
  correct_share: number | null;
  /** Lower bound on ε at the first δ; none if the training diverged. */
  epsilon: number | null;
}

/** The lower bounds of single trainings. */
export interface RepeatSummary {
  /** Trainings whose bound is above the claim; none without a claim. */
  above_claim: number | null;
  /** The largest; not a bound at the stated confidence. */
  largest: number;
  /** Their median, the lower of two. */
  median: number;
  /** The smallest. */
  smallest: number;
}

/** Scores that occur several times. */
export type RepeatedScores = "canaries" | "null" | "canaries_in_null" | "cosines";

/** The result of an audit, with what it rests on. */
export interface Report {
  /** Neighbouring relation of the audited pair. */
  adjacency: Adjacency;
  /** What the report says, in the form that all kinds have in common. */
  answer: Answer;
  /** Values with coverage. */
  bounds: BoundRecord[];
  /**
   * Size of the canary in recorded outputs: the mean difference of the worlds, 1 if the canary is
   * what the threat model assumes.
   */
  canary?: CanarySize;
  /** The claim that was tested. */
  claim: ClaimRecord | null;
  /** A credible value of ε, without frequentist coverage. */
  credible?: Credible;
  /** Devices that counted. */
  device: string;
  /** Wall-clock time of this run. */
  elapsed_ms: number;
  /** Values without coverage. */
  estimates: EstimateRecord[];
  /** The largest acceptable bound on ε, and whether it is exceeded. */
  fail_above: LimitRecord | null;
  /** Waves that the CPU counted in place of the device. */
  fallback_shards: number;
  /** What the data indicate about code or protocol. */
  findings: FindingRecord[];
  /**
   * Step of an epoch, from 0, at which the deciding attack on recorded outputs takes the target to
   * be in every run; none if it is an attack on the sampler.
   */
  fixed_step?: number;
  /** Float modes of the counts. */
  float_mode: string;
  /** The result in one line. */
  headline: string;
  /** SHA-256 of the histograms. */
  histogram_digest: string | null;
  /** Tests of the independence of recorded runs. */
  independence?: IndependenceRecord;
  /** The files that were read, and how. */
  input?: unknown;
  /** What was assumed of the runs that were recorded. */
  mechanism?: BatchedGaussian;
  /** Metrics that papers report beside ε; none of them decides the verdict. */
  metrics: AttackMetrics | null;
  /**
   * The largest ratio below 1 of the noise to the stated one that recorded outputs find with
   * probability 0.9; none with too few outputs.
   */
  noise_ratio_found?: number;
  /**
   * Whether the deciding attack on recorded outputs looks only at steps without noise; none where every
   * step has noise.
   */
  noiseless_steps_decide?: boolean;
  /** Runs that failed, counted against the attack. */
  non_finite: Trials;
  /** Speed of the simulation. */
  normals_per_second: number | null;
  /** Numbers of runs. */
  observations: Observations;
  /** What recorded outputs show of each epoch, or of up to 16 groups of epochs. */
  phases?: OutputPhase[];
  /** The plan of a simulated run. */
  plan: PlanRecord | null;
  /** The result and the cut that decided it. */
  result: AuditResult;
  /** Observations that an earlier run had counted. */
  resumed_from: number | null;
  /** Samplers compared by the likelihoods of recorded outputs. */
  samplers?: SamplerEvidenceRecord;
  /** Scores outside the inner bins of the histograms. */
  saturated?: Trials;
  /** Name and version of this document. */
  schema: "dpscope.report/2";
  /** Slope of the log-odds of the worlds on the score; 1 for a log-likelihood ratio. */
  score_slope?: ScoreSlope;
  /** Seed of all random words, a decimal number below 2⁵³. */
  seed: string | null;
  /** Who chose the seed. */
  seed_source: SeedSource | null;
  /**
   * Which steps of an epoch are tested for noise that differs; none for one step, and where the noise was
   * not fitted.
   */
  step_comparison?: StepComparison;
  /** What was audited. */
  subject: Subject;
  /** None where nothing is known of the training. */
  theory: TheoryComparison | null;
  /** Facts about trained models. */
  training?: TrainingFacts;
  /** The largest value over all cuts: an estimate, as published audits report. */
  uncorrected_maximum: ValueAtCut | null;
  /** Recorded uses of the target. */
  uses?: RecordedUsesRecord;
  /** On the claim and the limit together; none where nothing was tested. */
  verdict: ClaimVerdict | null;
  /** Version of the program. */
  version: string;
}

/**
 * ε estimated from the canaries in each update and composed by the accountant, as if the noise of a
 * round were what its canaries show (CANIFE, arXiv:2210.02912). An estimate, which decides nothing.
 */
export interface RoundByRound {
  /**
   * The largest ε that the method can find with these canaries, whatever leaks; none where the
   * accountant has no finite value.
   */
  ceiling: number | null;
  /** ε of all server rounds at δ. */
  epsilon: number;
  /** μ of one server round. */
  gdp_mu: number;
  /** ε where the square of μ is two standard errors smaller and larger. */
  range: [number, number];
  /** Server rounds with two canaries or more. */
  server_rounds: number;
}

/** What a rule shows. */
export interface RuleValue {
  /** What it assumes. */
  assumption: string;
  /** Nats; of a bound on μ, that of the Gaussian curve. */
  epsilon: number;
  /** A bound on μ; none of rules for ε. */
  gdp_mu: number | null;
  /** Its name. */
  name: string;
  /** The rule. */
  rule: OneShotRule;
}

/** A recorded run. */
export interface RunIndex {
  /** Its place in the world's file, from 0. */
  run: number;
  /** Its world. */
  world: World;
}

/** A simulated training run with canaries, whose scores are N(±μ/2, 1). */
export interface RunSimulation {
  /** Number of canaries m. */
  canaries: number;
  /** Privacy parameter δ. */
  delta: number;
  /** Number of guesses k, fixed before the coins were drawn. */
  guesses: number;
  /** Distance μ between the means of the scores. */
  mu: number;
  /** Decimal digits. */
  seed: string;
  /** Probability that the bound is wrong. */
  significance: number;
}

/** Runs in which each rule exceeds the truth. */
export interface RunsAbove {
  /** For any training algorithm. */
  any_mechanism: number;
  /** For a Gaussian mechanism, by μ. */
  gaussian: number;
  /** For independent canaries. */
  independent: number;
  /** The published rule. */
  published: number;
}

/** How often rules exceed the truth. */
export interface RunsAboveTruth {
  /** Simulated runs. */
  runs: number;
  /** At the noise of the simulation. */
  with_leak: RunsAbove;
  /** Where no canary is in the sum: the truth is 0. */
  without_leak: RunsAbove;
}

/** What refutes a sampler. */
export type SamplerContradiction = {
  /**
   * Standard errors by which the variance of epoch sums exceeds the sampler's; none where
   * outputs drift.
   */
  epoch_sums_z: number | null;
  kind: "outputs";
  /** The value that it exceeds with probability at most 1/1000 under the sampler. */
  ln_needed: number;
  /**
   * ln of the likelihood ratio of the most likely way to draw the target's steps against the
   * sampler's.
   */
  ln_ratio: number;
} | {
  kind: "uses";
  /** Mean number of batches of an epoch that contain the target. */
  mean: number;
  /** Chance of such uses under the sampler. */
  p_value: number;
};

/** The samplers that were compared, and those that the outputs refute. */
export interface SamplerEvidenceRecord {
  /** The variance of epoch sums; none without two epochs of each world. */
  epoch_sums: EpochSums | null;
  /** Whether the parameters were fitted to the outputs, which are not as stated. */
  is_fitted: boolean;
  /** Whether the likelihoods are those of differences of both worlds. */
  is_of_differences: boolean;
  /** Log-likelihood ratio of two samplers at which the less likely one is refuted. */
  ln_needed: number;
  /** The parameters of the likelihoods. */
  model: OutputModel;
  /** The placements that were compared. */
  placements: PlacementLikelihood[];
  /** The refuted samplers. */
  refuted: Placement[];
  /** The finding as a sentence. */
  says: string;
  /** The only sampler that is not refuted; none if there are several. */
  shown: Placement | null;
  /** Largest probability that a correct sampler is refuted, if the parameters are the true ones. */
  significance: number;
}

/** How a training run forms its batches, without parameters. */
export type SamplerKind = "poisson" | "shuffle" | "persistent-shuffle" | "balls-in-bins" | "deterministic" | "partial-shuffle" | "sliding-buffer" | "batch-then-shuffle" | "truncated-poisson" | "fixed-size" | "random-allocation";

/** To which pairs of neighbours a statement about ε applies. */
export type Scope = "pair" | "mechanism";

/** Evaluated runs with a score in an interval. */
export interface ScoreBin {
  /** Its lower end. */
  from: number;
  /** With the target and without. */
  runs: [number, number];
  /** Its upper end. */
  to: number;
}

/** How the score of a canary follows from its projections a₁ … a_T on the releases of all steps. */
export type ScoreMethod = {
  method: "calibrated";
} | {
  method: "stated";
  /** Standard deviation σ of the noise, in clip norms. */
  noise_multiplier: number;
} | {
  method: "sum";
};

/** Logistic regression of the world on the score. */
export interface ScoreSlope {
  /** Number of bins with scores; of scores where they have no bins. */
  bins: number;
  /** Fitted slope; 1 for a log-likelihood ratio. */
  slope: number;
  /** Its standard error, from the Fisher information. */
  standard_error: number;
}

/** Scores of simulated observations, nats: those of an audit with the same seed. */
export interface Scores {
  target: Float64Array;
  zero_out: Float64Array;
}

/** What a part of a report is about, in the order of pages. */
export type Section = "verdict" | "meaning" | "subject" | "findings" | "evidence" | "theory" | "power" | "reproduction";

/** Who chose the seed. */
export type SeedSource = "given" | "entropy" | "content" | "checkpoint" | "artefact";

/** Severity of a finding for the claim. */
export type Severity = "refutes" | "warning" | "note";

/** A simulated noisy sum of canary directions, audited by several rules. */
export interface SimulatedSum {
  /** The cosines, by rising value. */
  bins: CosineBin[];
  /** Canaries of this run. */
  canaries: number;
  /** The smallest p-values that count for nothing, because of δ. */
  canaries_lost_to_delta: number;
  /** The estimate by the mean score; none of fewer than two canaries. */
  estimate: OneShotEstimate | null;
  /** μ of the sums. */
  gdp_mu: number;
  /** Noise multiplier of one sum with this μ, the reciprocal of μ. */
  noise_multiplier: number;
  /** Bounds, the rule that holds for any training first, then the rule that is not a bound. */
  rules: RuleValue[];
  /** ε of the sums at δ, nats. */
  truth: number;
}

/** The result of a simulation so far. */
export interface SimulationResult extends AuditResult {
  /** Devices that counted. */
  devices: string[];
  /** Ranges that a device failed to count. */
  fallback_shards: number;
  /** Float modes of the counts: `fast` or `exact`. */
  float_modes: string[];
  /** Equal for equal histograms. */
  histogram_digest: string;
  /** Observations of both worlds that are counted. */
  observations: number;
  /** Observations of both worlds that were planned. */
  planned: number;
  /** Decimal digits. */
  seed: string;
  /** Version of the program. */
  version: string;
}

/** A privacy statement in every format. */
export interface StatementTexts {
  /** A `description` environment. */
  latex: string;
  /** A list. */
  markdown: string;
  /** Lines. */
  plain: string;
}

/** Which steps of an epoch are tested for noise that differs from that of the others. */
export type StepComparison = {
  kind: "each-step";
} | {
  /** Number of groups in an epoch. */
  groups: number;
  kind: "groups";
} | {
  kind: "too-few-outputs";
  /** Runs of each world with enough outputs. */
  runs_needed: number;
};

/** Steps of an epoch whose noise differs from that of the others. */
export interface StepNoise {
  /** The last step that was tested together with it, from 0; itself where each step is tested. */
  last_step: number;
  /** Their noise, clip norms. */
  noise: OutputParameter;
  /** The median of the other steps. */
  other_noise: number;
  /** The step with the least noise, from 0, or the first of several that were tested together. */
  step: number;
  /** Number of steps that differ; 0 if only all steps together show that they do. */
  steps: number;
}

/** Explanation of a wrong number of steps. */
export type StepsReading = "last-batch-dropped" | "last-batch-kept" | "epochs-rounded" | "one-epoch" | "epochs";

/** What was audited. */
export type Subject = "simulated_mechanism" | "trained_models" | "recorded_outputs" | "scores" | "counts";

/** What calibration of uniform subsets depends on, beside the training. */
export interface SubsetOptions {
  /** What neighbours differ in, for batches of fixed size and truncated ones; zero-out if omitted. */
  adjacency?: Adjacency;
  /** Number of records and most of a batch, for truncated batches. */
  truncation?: Truncation;
}

/** How a target row was chosen. */
export type TargetChoice = "stated" | "searched";

/** On which side of a threshold the attack decides for the target's world. */
export type TargetSide = "above" | "below";

/** What was tested. */
export type TestKind = "claim" | "limit" | "training";

/** A claim or a limit that was tested. */
export interface TestedClaim {
  /** The ε that is claimed, or the largest acceptable one; none for a training as a whole. */
  epsilon: number | null;
  /** What it is. */
  kind: TestKind;
  /** Its numbers. */
  name: string;
  /** The verdict. */
  outcome: Verdict;
  /** Why, for a claim about ε that an audit tested. */
  reason: VerdictReason | null;
  /** What the verdict means. */
  sentence: string;
  /** The verdict in a few words. */
  verdict: string;
}

/** Theory beside an audit, at the audit's δ. */
export interface TheoryComparison {
  /** The audit's ε less Poisson's, nats; negative where the audit shows less. */
  gap: number | null;
  /** Proven of the sampler from below, where it has a closed form. */
  lower?: Cell;
  /** As if batches were Poisson sampled, at the same rate: what a user would have claimed. */
  poisson: Cell;
  /** Proven of the sampler from above. */
  upper?: Cell;
}

/** What the attacker controls. */
export type ThreatModel = "worst-case" | "partially-informed" | "target-canary";

/** How the threshold is chosen. */
export type ThresholdRule = "max-uncorrected" | "split" | "simultaneous" | "fixed";

/**
 * The true positive rate of the score's receiver operating characteristic at one false positive
 * rate.
 *
 * The characteristic at α is the highest P(S > τ) + c P(S = τ) over all τ and c in [0, 1] with
 * P(S′ > τ) + c P(S′ = τ) ≤ α, for scores S of D and S′ of D′.
 */
export interface TprAtFpr {
  /** α, the false positive rate. */
  fpr: number;
  /** Lower confidence limit. */
  lower: number;
  /** Upper confidence limit. */
  upper: number;
  /**
   * Observed share of D above the lowest threshold whose observed false positive rate is at most
   * α.
   */
  value: number;
}

/**
 * A training run as accountants see it: T noisy sums of clipped gradients in each of E epochs.
 *
 * | field | meaning | domain |
 * |---|---|---|
 * | `noise_multiplier` | σ, noise standard deviation divided by the clipping bound | see the accountant |
 * | `steps_per_epoch` | T | from 1 |
 * | `epochs` | E | from 1 |
 * | `sampling_rate` | q, the chance that a record is in a batch; 1/T if `None` | [1e-9, 1] |
 */
export interface Training {
  /** Number of epochs, E. */
  epochs: number;
  /** Noise multiplier σ. */
  noise_multiplier: number;
  /** Sampling rate q if each step is drawn anew, k/T if a record is used k times per epoch; 1/T if `None`. */
  sampling_rate?: number;
  /** Steps per epoch, T. */
  steps: number;
}

/** The audit of trained models. */
export interface TrainingAnswer {
  report: Report;
  /** What the program prints. */
  text: string;
}

/**
 * A training run and its claim; omitted fields are unknown.
 *
 * The options of `dpscope check`, the keys of its file and the object that a page passes.
 */
export interface TrainingDescription {
  /** Sampler that the accountant assumes. */
  accountant?: SamplerKind;
  /** Sampling rate configured in the accountant. */
  accounted_sampling_rate?: number;
  /** Total number of steps configured in the accountant. */
  accounted_steps?: number;
  /** Batch size configured in the data loader. */
  batch_size?: number;
  /** Records in the shuffle buffer (partial-shuffle and sliding-buffer only). */
  buffer_examples?: number;
  /** Claimed epsilon; without one, the check bounds epsilon. */
  claim?: number;
  /** Adjacency of the claim [default: add-remove]. */
  claim_adjacency?: Adjacency;
  /** Clip norm of one record's gradient, which goes with `noise_std`. */
  clip_norm?: number;
  /** Records in the training data. */
  dataset_size?: number;
  /** Claimed delta [default: 1e-5 without a claim]. */
  delta?: number;
  /** Whether the loader drops an incomplete last batch. */
  drop_last?: boolean;
  /** Passes over the data, possibly with a fraction. */
  epochs?: number;
  /** How the loader draws batches. */
  loader?: SamplerKind;
  /** Maximum batch size (truncated-poisson only). */
  max_batch_size?: number;
  /** Noise standard deviation divided by the clip norm, as configured in the accountant. */
  noise_multiplier?: number;
  /** What the noise is added to [default: sum]. */
  noise_on?: NoiseTarget;
  /** Standard deviation of the noise in the code, per coordinate. */
  noise_std?: number;
  /**
   * Probability with which the loader draws each record into each batch (poisson and
   * truncated-poisson only) [default: unknown: batch size over records, or one over the batches per
   * epoch].
   */
  sampling_rate?: number;
  /** Steps in all, in place of epochs. */
  total_steps?: number;
  /**
   * Steps per epoch that use each record (random-allocation only); an epoch then has K times as
   * many steps [default: 1].
   */
  uses_per_epoch?: number;
}

/** Models, and how far their outputs are from the idealised distribution. */
export interface TrainingFacts {
  /** Predictions on held-out examples, over all evaluated models. */
  asked: number;
  /** Mean of what outputs are above the mean of their batch, in noise standard deviations. */
  bias: number | null;
  /**
   * How far the outputs of the canary's batch lie above the mean, beside the others, in noise
   * standard deviations.
   */
  canary_shift: number | null;
  /** Its standard error if nothing but noise and runs differ. */
  canary_shift_error: number | null;
  /** Share of held-out examples that trained models classify correctly. */
  correct_share: number | null;
  /** Model, data and settings. */
  description: unknown;
  /** Runs whose outputs are not finite, counted against the attack. */
  failed: number;
  /**
   * ε of the idealised distribution at as many observations, by the same rule; none where that takes
   * long.
   */
  idealised: Idealised | null;
  /** Variance of the same about the mean, in noise variances. */
  residual_variance: number | null;
  /** Its standard error if only noise differs. */
  residual_variance_error: number | null;
}

/** A finding in words. */
export type TrainingFindingRecord = {
  /** For people. */
  says: string;
  /** What it means for the claim. */
  severity: Severity;
} & ({
  claim: number;
  code: "claim-below-bound";
  loader: LoaderKind;
  lower: number;
} | {
  accountant: SamplerKind;
  claim: number;
  code: "claim-below-accountant";
  lower: number;
} | {
  accountant: SamplerKind;
  code: "other-sampler";
  loader: LoaderKind;
} | {
  code: "sampling-rate-unknown";
  least: number;
  most: number;
} | {
  accounted: number;
  actual: number;
  code: "sampling-rate-differs";
} | {
  accounted: number;
  actual: number;
  code: "steps-differ";
  reading: StepsReading | null;
} | {
  accounted: number;
  batch_size: number;
  code: "noise-scaled-by-batch-size";
  drawn: number;
} | {
  accounted: number;
  code: "noise-differs";
  drawn: number;
} | {
  buffer_examples: number;
  code: "buffer-below-data";
  dataset_size: number;
} | {
  code: "delta-not-below-one-record";
  dataset_size: number;
  delta: number;
} | {
  code: "partial-last-batch";
  records: number;
  steps_per_epoch: number;
} | {
  batch_size: number;
  code: "noise-of-random-size";
} | {
  batch_size: number;
  code: "last-batch-has-less-noise";
  noise_multiplier: number;
  records: number;
} | {
  code: "records-left-out";
  records: number;
  steps_per_epoch: number;
} | {
  code: "accountant-unknown";
} | {
  code: "no-lower-bound";
  loader: LoaderKind;
} | {
  code: "no-upper-bound";
  loader: LoaderKind;
} | {
  adjacency: Adjacency;
  code: "upper-bound-for-zero-out";
  upper: number;
} | {
  claim: number;
  code: "claim-covered";
  upper: number;
});

/** What a training of a page is made of. */
export interface TrainingOverview {
  /** Classes. */
  classes: number;
  /** Name of the data set. */
  data: string;
  /** Features of a record. */
  features: number;
  /** Records that are held out. */
  held_out: number;
  /** Learning rate of the sum of a batch over its size. */
  learning_rate: number;
  /** What was dropped from a file, and how labels were read. */
  notes: string[];
  /** Parameters of the model. */
  parameters: number;
  /** Records that are trained on. */
  records: number;
}

/**
 * A training run as its author describes it.
 *
 * | field | meaning | domain |
 * |---|---|---|
 * | `dataset_size` | N | 1 to 2⁵³ |
 * | `batch_size` | B | 1 to N |
 * | `epochs` | E, whole epochs | up to 1e6 |
 * | `partial_epoch_steps` | steps of a further, incomplete epoch | up to T |
 * | `noise_multiplier` | σ that the accountant uses | [0.01, 1e4] |
 * | `drawn_noise` | the noise in the code, if known | σ in [1e-6, 1e4] |
 * | `loader` | how batches are drawn | buffers from 1 |
 * | `drop_last` | whether the last, smaller batch is left out | – |
 * | `drawn_rate` | q of Poisson batches, if known | within 1 % of B/N to 1/T |
 * | `draws_per_epoch` | records that an epoch draws, if not N | from 1 |
 */
export interface TrainingSetup {
  /** Records per batch, B. */
  batch_size: number;
  /** Number of records, N. */
  dataset_size: number;
  /** The noise in the code, if known; σ is then what follows from it. */
  drawn_noise: DrawnNoise | null;
  /** Sampling rate q of Poisson batches; if it is unknown, B/N or 1/T. */
  drawn_rate?: DrawnRate;
  /** Number of records drawn per epoch; N if `None`. */
  draws_per_epoch?: number;
  /** Whether the last, smaller batch of an epoch is left out. */
  drop_last: boolean;
  /** Number of whole epochs, E. */
  epochs: number;
  /** How batches are drawn. */
  loader: LoaderBatches;
  /** Noise multiplier σ that the accountant uses. */
  noise_multiplier: number;
  /** Steps of a further, incomplete epoch. */
  partial_epoch_steps?: number;
}

/** Observations of each world. */
export interface Trials {
  /** Observations of D. */
  target: number;
  /** Observations of D′. */
  zero_out: number;
}

/**
 * The parameters of truncated Poisson batches: of N records, each is drawn with the same
 * probability, and if there are more than B of them, a uniform subset of B is kept.
 */
export interface Truncation {
  /** N, the target among them, 1 to 10¹⁰. */
  dataset_size: number;
  /** B, the maximum batch size, 1 to N. */
  max_batch_size: number;
}

/**
 * The numbers of batches of an epoch that contain the target, compared with those of Poisson batches
 * at rate q.
 */
export interface UseCounts {
  /** n, the number of epochs. */
  epochs: number;
  /** Whether every number is 1. */
  is_once: boolean;
  /** ln of the chance under Poisson batches that every number is 1: n ln(Tq(1 − q)^{T−1}). */
  ln_poisson_all_once: number;
  /** K̄, the mean number. */
  mean: number;
  /** Dispersion Σ(K − K̄)²/(K̄(1 − K̄/T)) of the uses K over T steps. */
  poisson_dispersion: number;
  /** Two-sided p-value of the dispersion, by χ² with n − 1 degrees of freedom. */
  poisson_dispersion_p: number;
  /** Chance under Poisson batches of a total as unlikely as this one, exact. */
  poisson_total_p: number;
}

/** Classifiers trained on synthetic rows and tested on real ones. */
export interface Utility {
  /** One per generator. */
  generators: GeneratorUtility[];
  /** The column that they predict. */
  label: string;
  /** The positive class. */
  positive: string;
  /** Share of the category among these rows: AUPRC of constant scores. */
  positive_share: number;
  /** Figures of the classifiers when they are trained on real rows. */
  real?: UtilityFigures;
  /** Chance that a measured ε is wrong, for each. */
  significance: number;
  /** Real rows that they were tested on, which no generator saw. */
  tested_rows: number;
}

/** A mean, its standard error and the largest value. */
export interface UtilityFigure {
  /** The largest value, which published tables report: the best of many is biased upward. */
  largest: number;
  /** The mean. */
  mean: number;
  /** Its standard error between runs; absent for one run. */
  standard_error?: number;
}

/** Areas under the curves of classifiers. */
export interface UtilityFigures {
  /** Average precision, over classifiers and runs. */
  auprc: UtilityFigure;
  /** Area under the receiver operating characteristic, over classifiers and runs. */
  auroc: UtilityFigure;
  /** Both areas of each classifier, over runs. */
  classifiers: ClassifierFigures[];
}

/** An estimate and where it was found. */
export interface ValueAtCut {
  /** ε, nats. */
  epsilon: number;
  /** Number of false negatives FN. */
  false_negatives: number;
  /** Number of false positives FP. */
  false_positives: number;
  /** Whether the value has coverage. */
  kind: OutcomeKind;
  /** τ; none where it is not a finite number. */
  threshold: number | null;
}

/** The verdict of an audit on a claim. "Not refuted" is no proof of the claim. */
export type Verdict = "refuted" | "not-refuted" | "inconclusive";

/** The reason for a verdict. */
export type VerdictReason = "bound_exceeds_claim" | "proven_lower_bound" | "no_noise" | "bound_within_claim" | "ceiling_within_claim" | "estimate_only" | "coverage_lost" | "bound_assumes_more" | "attack_mismatch";

/** ε of noisy votes of teachers. */
export interface VotesAnswer {
  /**
   * By composition of a pair that dominates each vote: an upper bound, and how far it can be from
   * the smallest ε.
   */
  composed: EpsilonBracket;
  /** By moments, as published for PATE-GAN: an upper bound. */
  moments: MomentsEpsilon;
  /** The probability that a unanimous vote is released as it is; ½ is a coin. */
  unanimous: number;
  /** ε of a single vote, with δ = 0. */
  vote_epsilon: number;
  /** Number of votes. */
  votes: number;
}

/** Noisy votes of teachers, each of both counts. */
export interface VotesQuestion {
  /** Privacy parameter δ. */
  delta: number;
  /** Inverse scale of the Laplace noise. */
  gamma: number;
  /** Number of teachers. */
  teachers: number;
  /** Number of votes. */
  votes: number;
}

/** One run of a training, step by step. */
export interface WatchedTraining {
  /** Steps, from 0, whose batch contains the canary, or nothing in its place. */
  canary_steps: number[];
  /** What the model has learnt. */
  learned: LearnedAfter[];
  /** What the attacker sees of each step, in clip norms; null after a run that diverged. */
  outputs: (number | null)[];
  /** Score in nats; none of a run that diverged. */
  score: number | null;
}

/** The world an observation was drawn in. */
export type World = "target" | "zero-out";
