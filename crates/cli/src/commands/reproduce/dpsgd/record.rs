//! The result of a reproduced experiment with DP-SGD.

use dpscope_core::mechanism::SamplerKind;
use serde::Serialize;

use crate::commands::reproduce::record::{Ours, Reason};

#[derive(Serialize)]
pub(super) struct Reproduced {
    pub(super) schema: &'static str,
    pub(super) what: String,
    /// The caveat about figure numbers, if one was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) numbering: Option<&'static str>,
    pub(super) delta: f64,
    pub(super) significance: f64,
    pub(super) published_runs: u64,
    pub(super) seed: String,
    pub(super) device: String,
    /// Settings of the experiment; there are fewer rows after an interruption.
    pub(super) settings: usize,
    pub(super) rows: Vec<Row>,
    pub(super) can_show: String,
    pub(super) cannot_show: String,
}

#[derive(Serialize)]
pub(super) struct Row {
    pub(super) name: String,
    /// None if no model is trained.
    pub(super) model: Option<String>,
    pub(super) sampler: SamplerKind,
    pub(super) batch_size: u32,
    /// Whether all runs share one canary gradient; none if no model is trained.
    pub(super) fixed_canary: Option<bool>,
    pub(super) runs: u64,
    pub(super) noise_multiplier: f64,
    /// By Poisson accounting, as in the paper.
    pub(super) claimed_epsilon: f64,
    pub(super) published_estimate: Option<f64>,
    /// Published as below the claim, without a number.
    pub(super) published_below_claim: bool,
    /// As printed: ratio to the estimate of the full shuffle.
    pub(super) published_times: Option<f64>,
    /// Ratio of our estimate to that of the full shuffle at this claim.
    pub(super) our_times: Option<f64>,
    #[serde(flatten)]
    pub(super) ours: Ours,
    /// The estimate for the batched Gaussian mechanism at the same number of observations; none if
    /// that takes long or no model is trained.
    pub(super) idealised_estimate: Option<f64>,
    /// The largest possible estimate at this number of runs.
    pub(super) ceiling: f64,
    /// Variance of the outputs about their idealised mean, in noise variances.
    pub(super) residual_variance: Option<f64>,
    /// Share of held-out examples classified correctly.
    pub(super) correct_share: Option<f64>,
    pub(super) why_they_differ: Vec<Reason>,
    pub(super) elapsed_ms: f64,
    #[serde(skip)]
    pub(super) device: String,
}
