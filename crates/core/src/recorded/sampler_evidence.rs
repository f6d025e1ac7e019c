//! What recorded outputs show of the sampler.

use super::epoch_sums::EpochSums;
use super::independence::RecordedRuns;
use super::output_model::OutputModel;
use super::placement::{Placement, PlacementLikelihoods, StepRatios};
use crate::math;
use crate::special::chi_square;

/// Chance at which outputs of correct code are taken for drifting.
const DRIFT: f64 = 1e-3;

/// Likelihoods of the ways to draw the steps that contain the target.
///
/// With l_t = (κ(o_t − b) − κ²/2)/σ², and ρκ in the place of κ in D′, the likelihood ratios against
/// outputs without the target are
///
/// | placement | ln of the likelihood ratio |
/// |---|---|
/// | shuffle | Σ over epochs of ln Σ_t e^{l_t} − ln T |
/// | Poisson | Σ_t ln(1 − q + q e^{l_t}) |
/// | persistent shuffle | Σ over runs of ln Σ_t e^{Σ over epochs of l_t} − ln T |
/// | fixed step | ln Σ_t e^{Σ over runs and epochs of l_t} − ln T |
/// | first k batches | Σ over epochs of ln Σ_{t ≤ k} e^{l_t} − ln k |
///
/// # Guarantee
/// For independent runs whose outputs have the model's distribution and one of the n placements, that
/// one is refuted with probability at most `significance`: each of the n − 1 likelihood ratios against
/// it has mean 1, and must exceed (n − 1)/`significance` (Markov and Bonferroni;
/// `unit::a_correct_sampler_is_rarely_refuted`). With fitted parameters this is not proven.
///
/// Where the outputs drift, so that a step has another mean than b in all runs of both worlds, the
/// differences of a run of D and one of D′ take their place: they cancel what both worlds share, and
/// have twice the variance (`unit::a_drift_of_both_worlds_refutes_nothing`).
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SamplerEvidence {
    /// The placements that were compared.
    pub placements: Vec<PlacementLikelihood>,
    /// The parameters of the likelihoods.
    pub model: OutputModel,
    /// Whether the parameters were fitted to the outputs, which are not as stated.
    pub is_fitted: bool,
    /// Whether the likelihoods are those of differences of both worlds.
    pub is_of_differences: bool,
    /// The variance of epoch sums; none without two epochs of each world.
    pub epoch_sums: Option<EpochSums>,
}

/// What refutes a sampler.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "kebab-case"))]
pub enum SamplerContradiction {
    /// Recorded outputs.
    Outputs {
        /// ln of the likelihood ratio of the most likely way to draw the target's steps against the
        /// sampler's.
        ln_ratio: f64,
        /// The value that it exceeds with probability at most 1/1000 under the sampler.
        ln_needed: f64,
        /// Standard errors by which the variance of epoch sums exceeds the sampler's; none where
        /// outputs drift.
        epoch_sums_z: Option<f64>,
    },
    /// Recorded uses of the target.
    Uses {
        /// Chance of such uses under the sampler.
        p_value: f64,
        /// Mean number of batches of an epoch that contain the target.
        mean: f64,
    },
}

/// The likelihood of a placement.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacementLikelihood {
    /// How the steps of the target are drawn.
    pub placement: Placement,
    /// ln of the likelihood ratio against outputs without the target, over all runs.
    pub ln_likelihood: f64,
}

/// The placements to compare.
#[derive(Debug, Clone, Copy)]
pub struct PlacementCandidates<'a> {
    /// Each once.
    pub placements: &'a [Placement],
    /// q, the chance of a step under Poisson batches, in (0, 1).
    pub rate: f64,
    /// Chances of the first steps under [`Placement::Buffer`].
    pub weights: &'a [f64],
}

impl SamplerEvidence {
    /// Chance at which a correct sampler is refuted at most.
    pub const SIGNIFICANCE: f64 = 1e-3;

    /// The likelihoods; none if one is not finite. Runs that are not finite are left out.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `target`, `zero_out` | outputs of D and of D′ in clip norms | the same shape |
    /// | `model` | b, κ, ρ and σ | σ > 0 |
    /// | `candidates` | the placements to compare | two or more |
    #[must_use]
    pub fn of(
        target: RecordedRuns<'_>,
        zero_out: RecordedRuns<'_>,
        model: &OutputModel,
        candidates: PlacementCandidates<'_>,
    ) -> Option<Self> {
        let PlacementCandidates { placements, rate, weights } = candidates;
        let steps = target.steps();
        let mut likelihoods = PlacementLikelihoods::new(placements, steps, rate, weights);
        let is_of_differences = drifts(target, zero_out, model);
        let OutputModel { other_mean, contrast, zero_out_share, noise_multiplier, .. } = *model;
        let other_contrast = zero_out_share * contrast;
        let noise = noise_multiplier * noise_multiplier;
        let ratio = |contrast: f64, change: f64, variance: f64| {
            contrast * (change - 0.5 * contrast) / variance
        };
        if is_of_differences {
            let variance = 2.0 * noise;
            let overlap = contrast * other_contrast / variance;
            for (run, other) in target.finite_runs().zip(zero_out.finite_runs()) {
                let changes = || run.iter().zip(other).map(|(o, o_zero)| o - o_zero);
                let own: Vec<f64> = changes().map(|y| ratio(contrast, y, variance)).collect();
                let others: Vec<f64> =
                    changes().map(|y| ratio(-other_contrast, y, variance)).collect();
                likelihoods.add(StepRatios { ratios: &own, other: Some((&others, overlap)) });
            }
        } else {
            for (runs, contrast) in [(target, contrast), (zero_out, other_contrast)] {
                // without a contribution every likelihood ratio is 1
                for run in runs.finite_runs().filter(|_| contrast != 0.0) {
                    let own: Vec<f64> =
                        run.iter().map(|o| ratio(contrast, o - other_mean, noise)).collect();
                    likelihoods.add(StepRatios { ratios: &own, other: None });
                }
            }
        }
        let values = likelihoods.values();
        let pairs = placements.iter().zip(&values);
        let placements = pairs
            .map(|(&placement, &ln_likelihood)| PlacementLikelihood { placement, ln_likelihood })
            .collect();
        let epoch_sums = EpochSums::of(target, zero_out);
        values.iter().all(|value| value.is_finite()).then_some(SamplerEvidence {
            placements,
            model: *model,
            is_fitted: false,
            is_of_differences,
            epoch_sums,
        })
    }

    /// The ln of the likelihood ratio that refutes the smaller of two placements.
    #[must_use]
    pub fn ln_needed(&self, significance: f64) -> f64 {
        math::ln((self.placements.len() as f64 - 1.0) / significance)
    }

    /// ln of the likelihood ratio of the most likely placement against this one; none if it was not
    /// compared.
    #[must_use]
    pub fn ln_against(&self, placement: Placement) -> Option<f64> {
        let of = |candidate: &&PlacementLikelihood| candidate.placement == placement;
        let own = self.placements.iter().find(of)?.ln_likelihood;
        let largest = self.placements.iter().map(|candidate| candidate.ln_likelihood);
        Some(largest.fold(f64::NEG_INFINITY, f64::max) - own)
    }

    /// The placements that the outputs refute, or that they leave, in the order of comparison.
    pub fn placements(
        &self,
        are_refuted: bool,
        significance: f64,
    ) -> impl Iterator<Item = Placement> {
        let needed = self.ln_needed(significance);
        self.placements.iter().map(|candidate| candidate.placement).filter(move |&placement| {
            self.ln_against(placement).is_some_and(|ratio| (ratio > needed) == are_refuted)
        })
    }

    /// The only placement that is left; none if there are several.
    #[must_use]
    pub fn shown(&self, significance: f64) -> Option<Placement> {
        let mut left = self.placements(false, significance);
        let first = left.next();
        first.filter(|_| left.next().is_none())
    }
}

/// Whether the mean of some step is not b, in a way that both worlds share.
///
/// (d′_t − ρ d_t)/(1 − ρ) has mean b for the means d and d′ of a step's outputs in D and D′, however
/// the target is placed.
fn drifts(target: RecordedRuns<'_>, zero_out: RecordedRuns<'_>, model: &OutputModel) -> bool {
    let share = model.zero_out_share;
    let (Some(own), Some(others)) = (StepMeans::of(target), StepMeans::of(zero_out)) else {
        return false;
    };
    let variance = others.squared_error + share * share * own.squared_error;
    let squares: f64 = own
        .means
        .iter()
        .zip(&others.means)
        .map(|(d, d_zero)| d_zero - share * d - (1.0 - share) * model.other_mean)
        .map(|deviation| deviation * deviation)
        .sum();
    chi_square::tails(own.means.len() as f64, squares / variance)[1] < DRIFT
}

/// Mean outputs of the steps of a run, and their mean squared standard error.
struct StepMeans {
    means: Vec<f64>,
    squared_error: f64,
}

impl StepMeans {
    /// None with fewer than two finite runs, or without noise.
    fn of(runs: RecordedRuns<'_>) -> Option<Self> {
        let mut means: Vec<f64> = Vec::new();
        let (mut squares, mut count) = (0.0, 0.0);
        for run in runs.finite_runs() {
            means.resize(run.len(), 0.0);
            count += 1.0;
            // Welford's update
            for (mean, output) in means.iter_mut().zip(run) {
                let change = output - *mean;
                *mean += change / count;
                squares += change * (output - *mean);
            }
        }
        let squared_error = squares / (means.len() as f64 * (count - 1.0) * count);
        (squared_error > 0.0 && squared_error.is_finite())
            .then_some(StepMeans { means, squared_error })
    }
}

#[cfg(test)]
mod tests;
