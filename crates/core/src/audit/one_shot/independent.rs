//! Bounds that hold if canaries do not influence each other.

use super::tails::normal_score;
use super::{CumulativeBand, NullTails, OneShotError, RankedCanary, check_delta, rounded_down};
use crate::math;
use crate::special::{BetaDistribution, Tail, normal};

/// A fixed number of canaries whose scores are taken as independent draws.
///
/// Independence is an assumption about the training: other clients react to canaries, and by that
/// canaries to each other. For one Gaussian sum it is harmless up to k ≈ σ²d/5 canaries. A bound that
/// holds without it is [`super::AnyMechanism`].
///
/// # Example
/// ```
/// use dpscope_core::audit::one_shot::{IndependentCanaries, NullTails};
/// let canaries = IndependentCanaries::new(40, 0.05)?;
/// let tails = NullTails::new((0..40).map(|i| -12.0 + 0.1 * f64::from(i)).collect())?;
/// assert_eq!(format!("{:.3}", canaries.epsilon_lower(&tails, 1e-6)?), "8.911");
/// # Ok::<(), dpscope_core::audit::one_shot::OneShotError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct IndependentCanaries {
    canaries: u64,
    significance: f64,
    band: CumulativeBand,
}

/// What one cut shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CutBound {
    /// Lower limit of the share of canaries with p up to the cut.
    pub tpr_lower: f64,
    /// ε from many hits: ln((TPR − δ)/p_cut), at least 0.
    pub forward: f64,
    /// ε from few misses: ln((1 − δ − p_cut)/(1 − TPR)), at least 0.
    pub backward: f64,
}

impl CutBound {
    /// The larger of both; they hold together, as both follow from one limit.
    #[must_use]
    pub fn epsilon_lower(&self) -> f64 {
        self.forward.max(self.backward)
    }
}

impl IndependentCanaries {
    /// k canaries.
    ///
    /// # Errors
    /// [`OneShotError::Canaries`], [`OneShotError::Significance`].
    pub fn new(canaries: u64, significance: f64) -> Result<Self, OneShotError> {
        let band = CumulativeBand::of_uniforms(canaries, significance)?;
        Ok(Self { canaries, significance, band })
    }

    /// Lower limits b_j of the true positive rate at the j-th smallest p.
    #[must_use]
    pub const fn band(&self) -> &CumulativeBand {
        &self.band
    }

    /// Lower bound on ε from all canaries.
    ///
    /// The true positive rates at the sorted p-values are order statistics of k uniforms, or larger, so
    /// with b_j of [`CumulativeBand::of_uniforms`] all TPR(p_(j)) ≥ b_j hold together, and
    /// ε ≥ max_j max{ln((b_j − δ)/p_(j)), ln((1 − δ − p_(j))/(1 − b_j))}. At least 0. Canaries that are
    /// missing in `tails` count as canaries with p = 1.
    ///
    /// # Guarantee
    /// If training is (ε, δ)-DP and the scores of canaries are independent, the bound exceeds ε with
    /// probability at most `significance`
    /// (`tests/coverage/one_shot.rs::independent_canaries_cover_at_randomised_response`).
    ///
    /// # Errors
    /// [`OneShotError::Delta`], [`OneShotError::Observations`].
    pub fn epsilon_lower(&self, tails: &NullTails, delta: f64) -> Result<f64, OneShotError> {
        Ok(self.deciding(tails, delta)?.map_or(0.0, |(_, epsilon)| epsilon))
    }

    /// The canary that decides [`IndependentCanaries::epsilon_lower`], with the bound; none where it is 0.
    ///
    /// # Errors
    /// As [`IndependentCanaries::epsilon_lower`].
    pub fn deciding(
        &self,
        tails: &NullTails,
        delta: f64,
    ) -> Result<Option<(RankedCanary, f64)>, OneShotError> {
        check_delta(delta)?;
        tails.check_at_most(self.canaries)?;
        let ranks = self.band.ranks().iter().zip(self.band.limits());
        let bounds = ranks.filter_map(|(&rank, &limit)| {
            let canary = RankedCanary { rank, ln_p: tails.ranked(rank)? };
            Some((canary, at_rates(limit, canary.ln_p, delta).epsilon_lower()))
        });
        let positive = bounds.filter(|(_, epsilon)| *epsilon > 0.0);
        Ok(positive.max_by(|(_, one), (_, other)| one.total_cmp(other)))
    }

    /// What one canary shows; none at a rank that is not tested.
    #[must_use]
    pub fn epsilon_of(&self, canary: RankedCanary, delta: f64) -> Option<f64> {
        let mut ranks = self.band.ranks().iter().zip(self.band.limits());
        let (_, limit) = ranks.find(|(rank, _)| **rank == canary.rank)?;
        Some(at_rates(*limit, canary.ln_p, delta).epsilon_lower())
    }

    /// Lower bound on ε at a cut on p that was fixed in the plan.
    ///
    /// The false positive rate is known: only the true positive rate has a limit, that of Clopper and
    /// Pearson at the full significance.
    ///
    /// # Guarantee
    /// The coverage is that of [`IndependentCanaries::epsilon_lower`]
    /// (`tests/coverage/one_shot.rs::independent_canaries_cover_at_randomised_response`).
    ///
    /// # Errors
    /// [`OneShotError::Cut`], [`OneShotError::Delta`], [`OneShotError::Observations`].
    pub fn at_cut(
        &self,
        tails: &NullTails,
        p_cut: f64,
        delta: f64,
    ) -> Result<CutBound, OneShotError> {
        check_delta(delta)?;
        tails.check_at_most(self.canaries)?;
        let hits = tails.hits(p_cut)? as f64;
        if hits == 0.0 {
            return Ok(CutBound { tpr_lower: 0.0, forward: 0.0, backward: 0.0 });
        }
        let statistic = BetaDistribution::with_shapes(hits, self.canaries as f64 + 1.0 - hits);
        let tpr = statistic.quantile_at(Tail::Lower, self.significance);
        Ok(at_rates(tpr.value(), math::ln(p_cut), delta))
    }
}

fn at_rates(tpr_lower: f64, ln_p: f64, delta: f64) -> CutBound {
    let ln_ratio = |above: f64, ln_below: f64| {
        if above > 0.0 { rounded_down(math::ln(above) - ln_below) } else { 0.0 }
    };
    CutBound {
        tpr_lower,
        forward: ln_ratio(tpr_lower - delta, ln_p),
        backward: ln_ratio(-math::exp_m1(ln_p) - delta, math::ln_1p(-tpr_lower)),
    }
}

/// Canaries of a mechanism that is claimed to be Gaussian, for bounds on its μ.
///
/// The attacker knows when the canaries took part. A bound refutes that the training is μ-GDP; it
/// refutes no (ε, δ) claim of an algorithm whose curve is not Gaussian, such as one with secret
/// sampling: randomised response with ε = 1 reads as ε = 4.3 by the Gaussian curve, in every run
/// (`tests/coverage/one_shot.rs::gaussian_claims_are_not_epsilon_claims`). So no method here returns
/// an ε.
///
/// # Example
/// ```
/// use dpscope_core::audit::one_shot::{Gdp, IndependentCanaries, NullTails};
/// let canaries = IndependentCanaries::new(40, 0.05)?;
/// let tails = NullTails::new((0..40).map(|i| -12.0 + 0.1 * f64::from(i)).collect())?;
/// assert_eq!(format!("{:.3}", Gdp::new(&canaries).mu_lower(&tails)?), "3.657");
/// # Ok::<(), dpscope_core::audit::one_shot::OneShotError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gdp<'a>(&'a IndependentCanaries);

impl<'a> Gdp<'a> {
    /// The canaries of a claim about a Gaussian mechanism.
    #[must_use]
    pub const fn new(canaries: &'a IndependentCanaries) -> Self {
        Self(canaries)
    }

    /// Lower bound on μ from the mean of the normal scores: z̄ − Φ⁻¹(1 − α)/√k, at least 0.
    ///
    /// Under μ-GDP the normal score of a seen canary is at most a draw of N(μ, 1), whatever its
    /// distribution is. 0 if a canary is missing in `tails`.
    ///
    /// # Guarantee
    /// If training is μ-GDP and the scores of canaries are independent, the bound exceeds μ with
    /// probability at most `significance`
    /// (`tests/coverage/one_shot.rs::gaussian_bounds_cover_gaussian_canaries`).
    ///
    /// # Errors
    /// [`OneShotError::Observations`].
    pub fn mu_lower(&self, tails: &NullTails) -> Result<f64, OneShotError> {
        tails.check_at_most(self.0.canaries)?;
        Ok(self.mean_score(tails).map_or(0.0, |mean| self.mu_of_mean(mean)))
    }

    /// The mean z̄ of the normal scores; none if a canary is missing in `tails`.
    #[must_use]
    pub fn mean_score(&self, tails: &NullTails) -> Option<f64> {
        let is_whole = tails.len() as u64 == self.0.canaries;
        is_whole.then(|| tails.normal_scores().sum::<f64>() / self.0.canaries as f64)
    }

    /// [`Gdp::mu_lower`] of canaries with this mean.
    #[must_use]
    pub fn mu_of_mean(&self, mean_score: f64) -> f64 {
        let margin = -normal::quantile(self.0.significance) / (self.0.canaries as f64).sqrt();
        rounded_down((mean_score - margin).max(0.0))
    }

    /// Lower bound on μ from all ranks: max_j Φ⁻¹(b_j) + z_(j), z_(j) the j-th largest score.
    ///
    /// Choose this or the mean in the plan; the larger of both is no bound.
    ///
    /// # Guarantee
    /// The coverage is that of [`Gdp::mu_lower`]
    /// (`tests/coverage/one_shot.rs::gaussian_bounds_cover_gaussian_canaries`).
    ///
    /// # Errors
    /// [`OneShotError::Observations`].
    pub fn mu_lower_by_band(&self, tails: &NullTails) -> Result<f64, OneShotError> {
        tails.check_at_most(self.0.canaries)?;
        let band = &self.0.band;
        let ranks = band.ranks().iter().zip(band.limits());
        let bounds = ranks.filter_map(|(&rank, &limit)| {
            let score = normal_score(tails.ranked(rank)?);
            Some(rounded_down((normal::quantile(limit) + score).max(0.0)))
        });
        Ok(bounds.fold(0.0, f64::max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_canaries_never_raise_a_bound() {
        let all: Vec<f64> = (0..30).map(|index| -9.0 + 0.2 * f64::from(index)).collect();
        let (whole, part) =
            (NullTails::new(all.clone()).unwrap(), NullTails::new(all[1..].to_vec()).unwrap());
        let canaries = IndependentCanaries::new(30, 0.05).unwrap();
        let epsilon = |tails| canaries.epsilon_lower(tails, 1e-6).unwrap();
        assert!(epsilon(&part) <= epsilon(&whole) && epsilon(&part) > 0.0);
        let gdp = Gdp::new(&canaries);
        assert!(gdp.mu_lower(&whole).unwrap() > 0.0);
        assert_eq!(gdp.mu_lower(&part).unwrap(), 0.0);
        assert!(gdp.mu_lower_by_band(&part).unwrap() <= gdp.mu_lower_by_band(&whole).unwrap());
    }

    #[test]
    fn few_misses_bound_epsilon_as_well() {
        let canaries = IndependentCanaries::new(1_000, 0.05).unwrap();
        let tails = NullTails::new(vec![-1.0; 1_000]).unwrap();
        let bound = canaries.at_cut(&tails, 0.5, 1e-6).unwrap();
        assert!(bound.backward > 4.0 && bound.forward < 0.7, "{bound:?}");
        assert_eq!(bound.epsilon_lower(), bound.backward);
        assert_eq!(canaries.at_cut(&NullTails::default(), 0.5, 0.0).unwrap().tpr_lower, 0.0);
    }

    #[test]
    fn bad_arguments_are_refused() {
        let tails = NullTails::new(vec![-1.0; 5]).unwrap();
        let canaries = IndependentCanaries::new(4, 0.05).unwrap();
        assert!(Gdp::new(&canaries).mu_lower(&tails).is_err());
        assert!(Gdp::new(&canaries).mu_lower_by_band(&tails).is_err());
        assert!(canaries.epsilon_lower(&tails, 0.0).is_err());
        assert!(canaries.at_cut(&tails, 0.1, 0.0).is_err());
        assert!(canaries.epsilon_lower(&NullTails::default(), f64::NAN).is_err());
        assert!(IndependentCanaries::new(0, 0.05).is_err());
        assert!(IndependentCanaries::new(5, 0.0).is_err());
    }
}
