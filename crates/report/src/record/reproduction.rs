//! Published audits beside ours.

use dpscope_core::accounting::{Accounted, Cell};
use dpscope_core::mechanism::SamplerKind;
use serde::Serialize;

/// The document of `dpscope reproduce` for simulated mechanisms.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReproductionReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.reproduction/2")))]
    pub schema: &'static str,
    /// The figure or table.
    pub what: &'static str,
    /// δ of all values.
    pub delta: f64,
    /// Chance that a bound is wrong.
    pub significance: f64,
    /// Observations per setting, both worlds together.
    pub observations: u64,
    /// Observations in the paper.
    pub published_observations: u64,
    /// Decimal digits.
    pub seed: String,
    /// The device that counted.
    pub device: String,
    /// Ceiling of the estimates, computed by the paper's rule.
    pub ceiling: f64,
    /// One per setting.
    pub rows: Vec<ReproductionRow>,
}

/// A setting of a published table.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReproductionRow {
    /// The setting, as the paper names it.
    pub name: String,
    /// Noise multiplier σ.
    pub noise_multiplier: f64,
    /// Batches per epoch.
    pub steps: u32,
    /// Passes over the data.
    pub epochs: u32,
    /// Printed in the paper.
    pub claimed_epsilon: Option<f64>,
    /// Our Poisson accounting.
    pub poisson: Cell,
    /// Printed minus ours.
    pub claimed_difference: Option<f64>,
    /// Printed in the paper.
    pub published_estimate: Option<f64>,
    /// Our results.
    #[serde(flatten)]
    pub ours: OurResult,
    /// Gain in ε if ten times the observations showed the same rates.
    pub gain_at_10x: f64,
    /// ε of the pair itself, which no number of observations exceeds.
    pub pair: PairRange,
    /// Each with a sentence in the text.
    pub why_they_differ: Vec<DifferenceReason>,
    /// Time of this row.
    pub elapsed_ms: f64,
}

/// The exact pair from below, and an estimate.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairRange {
    /// Rigorous; the closed form where nothing was drawn.
    pub lower: Accounted,
    /// Without coverage.
    pub estimate: Cell,
    /// Draws for the lower limit.
    pub observations: u64,
}

/// Our results for a published setting.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OurResult {
    /// By the paper's rule: the largest value over all cuts, uncorrected.
    pub our_estimate: f64,
    /// From the errors at the selected cut; none if the estimate is 0.
    pub standard_error: Option<f64>,
    /// Ours minus the paper's.
    pub difference: Option<f64>,
    /// By the simultaneous rule, with coverage.
    pub our_bound: f64,
}

/// Why our number differs from the printed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DifferenceReason {
    /// The printed ε is the upper end of an accountant's error interval.
    UpperEnd,
    /// The printed ε was copied from the model's own paper.
    CopiedClaim,
    /// Another number of observations, which changes the ceiling and the estimate.
    Observations,
    /// Within three standard errors of two such runs.
    Chance,
    /// None of these.
    Unexplained,
}

impl DifferenceReason {
    /// A letter for a column of a table.
    #[must_use]
    pub fn mark(self) -> char {
        match self {
            DifferenceReason::UpperEnd => 'u',
            DifferenceReason::CopiedClaim => 'c',
            DifferenceReason::Observations => 'n',
            DifferenceReason::Chance => 'v',
            DifferenceReason::Unexplained => '!',
        }
    }

    /// The reason as a sentence.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            DifferenceReason::UpperEnd => {
                "the printed claim is the upper end of an accountant's error interval; ours is accurate to 1e-4"
            }
            DifferenceReason::CopiedClaim => {
                "the printed claim was copied from the model's own paper, which used another accountant"
            }
            DifferenceReason::Observations => {
                "another number of observations: more of them raise the estimate towards the pair's ε"
            }
            DifferenceReason::Chance => {
                "an uncorrected maximum varies between runs; the difference is within three standard errors"
            }
            DifferenceReason::Unexplained => "unexplained: more than three standard errors apart",
        }
    }
}

/// The document of `dpscope reproduce` for trained models.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrainingReproductionReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.training_reproduction/1")))]
    pub schema: &'static str,
    /// The experiment.
    pub what: String,
    /// δ of all values.
    pub delta: f64,
    /// Chance that a bound is wrong.
    pub significance: f64,
    /// Models per setting in the paper.
    pub published_runs: u64,
    /// Decimal digits.
    pub seed: String,
    /// The device that trained.
    pub device: String,
    /// Settings of the experiment; there are fewer rows after an interruption.
    pub settings: usize,
    /// One per finished setting.
    pub rows: Vec<TrainingReproductionRow>,
    /// What the comparison can show.
    pub can_show: String,
    /// What it cannot show.
    pub cannot_show: String,
}

/// A setting of a published experiment with trained models.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrainingReproductionRow {
    /// The setting, as the paper names it.
    pub name: String,
    /// None if no model is trained.
    pub model: Option<String>,
    /// How batches are drawn.
    pub sampler: SamplerKind,
    /// Records per batch.
    pub batch_size: u32,
    /// Whether all runs share one canary gradient; none if no model is trained.
    pub fixed_canary: Option<bool>,
    /// Models, both worlds together.
    pub runs: u64,
    /// Noise multiplier σ.
    pub noise_multiplier: f64,
    /// By Poisson accounting, as in the paper.
    pub claimed_epsilon: f64,
    /// Printed in the paper.
    pub published_estimate: Option<f64>,
    /// Published as below the claim, without a number.
    pub published_below_claim: bool,
    /// As printed: ratio to the estimate of the full shuffle.
    pub published_times: Option<f64>,
    /// Ratio of our estimate to that of the full shuffle at this claim.
    pub our_times: Option<f64>,
    /// Our results.
    #[serde(flatten)]
    pub ours: OurResult,
    /// The estimate for the batched Gaussian mechanism at the same number of observations; none if
    /// that takes long or no model is trained.
    pub idealised_estimate: Option<f64>,
    /// The largest possible estimate at this number of runs.
    pub ceiling: f64,
    /// Variance of the outputs about their idealised mean, in noise variances.
    pub residual_variance: Option<f64>,
    /// Share of held-out examples classified correctly.
    pub correct_share: Option<f64>,
    /// Each with a sentence in the text.
    pub why_they_differ: Vec<DifferenceReason>,
    /// Time of this row.
    pub elapsed_ms: f64,
    /// The device that trained; the document names that of its last row.
    #[serde(skip)]
    pub device: String,
}
