//! Kinds of canaries compared, beside published figures.

use serde::Serialize;

/// The document of `dpscope reproduce metagradient-canaries`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetagradientCanariesReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.metagradient_canaries/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// The model: mlp, lenet or cnn.
    pub model: String,
    /// Its number of parameters.
    pub parameters: u64,
    /// Built-in data or the file of the data.
    pub data: String,
    /// Records that models are trained on besides canaries.
    pub records: u64,
    /// Canaries of each training: m.
    pub canaries: u64,
    /// Metasteps of each optimisation.
    pub metasteps: u64,
    /// Repeats: pairs of SGD trainings, and audits of DP-SGD.
    pub runs: u64,
    /// Settings of the SGD trainings.
    pub sgd: SgdSettings,
    /// Settings of the DP-SGD trainings.
    pub dpsgd: DpSgdSettings,
    /// Decimal digits.
    pub seed: String,
    /// One per kind of canaries.
    pub sets: Vec<CanarySetResult>,
    /// Results with redrawn coins, where nothing leaks.
    pub null: NullCanaries,
    /// Optimised canaries against the others.
    pub comparisons: Vec<CanarySetComparison>,
    /// Published figures.
    pub published: Vec<PublishedCanaryFigure>,
}

/// Trainings by SGD, in which canaries are optimised and compared.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SgdSettings {
    /// Steps of a training: T.
    pub steps: u64,
    /// Records per batch: B.
    pub batch_size: u64,
    /// Learning rate.
    pub learning_rate: f64,
    /// Momentum.
    pub momentum: f64,
}

/// Trainings by DP-SGD with Poisson batches and a fair coin per canary.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DpSgdSettings {
    /// Noise standard deviation ÷ clip norm: σ.
    pub noise_multiplier: f64,
    /// Probability that a record is in a batch: q.
    pub sampling_rate: f64,
    /// Steps of a training.
    pub steps: u64,
    /// Clipping norm: C.
    pub clip_norm: f64,
    /// Learning rate.
    pub learning_rate: f64,
    /// ε of Poisson accounting at δ, an upper bound.
    pub claimed_epsilon: f64,
    /// δ of all statements.
    pub delta: f64,
    /// Chance that a bound is wrong.
    pub significance: f64,
    /// Guesses of the bound per repeat: k.
    pub guesses: u64,
    /// Reference models, whose coins are spent on calibration.
    pub references: u64,
}

/// A kind of canaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CanarySetKind {
    /// Records with their own labels.
    Random,
    /// The records of `random` with other labels.
    Mislabelled,
    /// Optimised along the direct part of the metagradient alone.
    DirectOnly,
    /// Optimised along metagradients.
    Optimised,
    /// Optimised along metagradients, then rounded to binary features.
    OptimisedRounded,
}

impl CanarySetKind {
    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            CanarySetKind::Random => "random",
            CanarySetKind::Mislabelled => "mislabelled",
            CanarySetKind::DirectOnly => "direct part only",
            CanarySetKind::Optimised => "optimised",
            CanarySetKind::OptimisedRounded => "optimised, rounded",
        }
    }
}

/// A mean, an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeanEstimate {
    /// The mean.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl MeanEstimate {
    /// The mean of independent values; its standard error is 0 for a single one.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let count = values.len().max(1) as f64;
        let value = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|one| (one - value) * (one - value)).sum();
        let standard_error = (squares / (count - 1.0).max(1.0) / count).sqrt();
        Self { value, standard_error }
    }

    /// The difference of two independent means.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        let squares =
            self.standard_error * self.standard_error + other.standard_error * other.standard_error;
        Self { value: self.value - other.value, standard_error: squares.sqrt() }
    }
}

/// How well models reveal canaries of a kind.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanarySetResult {
    /// The kind.
    pub set: CanarySetKind,
    /// Metasteps before these canaries; none where nothing was optimised.
    pub best_metasteps: Option<u64>,
    /// Metasteps without effect, because a training diverged.
    pub skipped: u64,
    /// AUC after SGD, by the loss of the final model.
    pub sgd_raw: MeanEstimate,
    /// AUC after SGD, by the loss less the canary's mean loss in other trainings without it.
    pub sgd_calibrated: MeanEstimate,
    /// After DP-SGD, by the loss of the final model.
    pub dpsgd_raw: AuditedCanaries,
    /// Audits after DP-SGD, by the loss less the canary's mean loss in reference models without it.
    pub dpsgd_calibrated: AuditedCanaries,
}

/// Repeated audits of one run with canaries of a kind.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditedCanaries {
    /// AUC; mean over repeats.
    pub auc: MeanEstimate,
    /// Largest bound over the number of guesses, uncorrected, as published; mean over repeats. No
    /// bound.
    pub estimate: MeanEstimate,
    /// Largest bound over the number of guesses, uncorrected, of each repeat. No bound.
    pub estimates: Vec<f64>,
    /// Lower bound on ε of each repeat, with k fixed before the coins are drawn.
    pub bounds: Vec<f64>,
    /// Their median.
    pub median_bound: f64,
    /// Lower bound on ε from the canaries of all repeats as one game.
    pub joint_bound: f64,
}

/// Coins that were redrawn after the trainings of optimised canaries: nothing leaks.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NullCanaries {
    /// AUC after SGD, by the loss.
    pub sgd_raw: MeanEstimate,
    /// AUC after SGD, calibrated.
    pub sgd_calibrated: MeanEstimate,
    /// AUC after DP-SGD, by the loss.
    pub dpsgd_raw: MeanEstimate,
    /// AUC after DP-SGD, calibrated.
    pub dpsgd_calibrated: MeanEstimate,
    /// Redrawn games: redraws of each repeat, calibrated scores.
    pub games: u64,
    /// Largest bound over the number of guesses, uncorrected; mean over games.
    pub estimate: MeanEstimate,
    /// The value that 95 % of these do not exceed.
    pub estimate_quantile_95: f64,
    /// Games whose estimate is above 0.
    pub estimates_above_zero: u64,
    /// Games whose bound is above 0.
    pub bounds_above_zero: u64,
}

/// What is compared between kinds of canaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CanaryMeasure {
    /// Calibrated AUC after SGD.
    SgdCalibratedAuc,
    /// Estimate by the published rule after DP-SGD, by the loss.
    DpsgdEstimate,
    /// Estimate by the published rule after DP-SGD, by calibrated scores.
    DpsgdCalibratedEstimate,
}

/// Optimised canaries against another kind.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanarySetComparison {
    /// What is compared.
    pub measure: CanaryMeasure,
    /// The other kind.
    pub other: CanarySetKind,
    /// Optimised less other.
    pub change: f64,
    /// Standard error of the change.
    pub standard_error: f64,
    /// Whether optimised canaries have the larger value; none where the ranges of three standard
    /// errors overlap, or after fewer than five repeats.
    pub is_larger: Option<bool>,
}

/// Published figures of a kind of canaries: largest bounds over the number of guesses, uncorrected;
/// means of five runs. The first number of each pair is of arXiv:2507.15836, the second of the
/// submission to a conference.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedCanaryFigure {
    /// The kind.
    pub set: CanarySetKind,
    /// Trained from scratch, a coin per canary.
    pub scratch_coins: [f64; 2],
    /// Trained from scratch, one canary of each pair.
    pub scratch_pairs: [f64; 2],
    /// Fine-tuned, a coin per canary.
    pub finetuned_coins: [f64; 2],
    /// Fine-tuned, one canary of each pair.
    pub finetuned_pairs: [f64; 2],
}
