//! Bounds that hold for every training algorithm.

use super::{
    CanaryDesign, CumulativeBand, DeltaAllowance, NullTails, OneShotError, check_delta,
    check_significance, rounded_down,
};
use crate::math;
use crate::special::arrival::arrival_quantile;
use crate::special::{BetaDistribution, Tail, normal};

/// Cuts 10⁻¹, …, 10⁻⁶ of [`AnyMechanism::mu_lower`].
const CUTS: i32 = 6;

/// Canaries whose number is drawn by a [`CanaryDesign`], for bounds that hold for every training
/// algorithm.
///
/// # What the bounds need
/// Canaries are clients, or examples, that are *added*: none replaces or displaces another. Each is
/// drawn from one stated distribution, and so are its weight, loudness and time of participation, never
/// by index or cohort. p is the probability that a fresh draw scores at least as high, given what the
/// attacker sees, or an upper limit of it. The score is fixed in the plan. Nothing is assumed about the
/// training, its noise or sampling, or about independence of canaries.
///
/// # The theorem
/// If training is (ε, δ)-DP for one added client, then all but a few flagged canaries have p-values
/// that a Poisson process of rate k̄e^ε on (0, 1] dominates, and more than j₀ are flagged with
/// probability at most k̄δ/(j₀ + 1).
///
/// # Proof
/// Fill each of m slots with probability q = k̄/m, independently, and show the slots one by one to an
/// observer who has the output a already. Fix a slot, and average over the slots not shown yet: the
/// output has a distribution ν_c if the slot holds the canary c, and ν₀ if it is empty. Flag a filled
/// slot with probability 1 − min(1, e^ε ν₀(a)/ν_c(a)); by (ε, δ)-DP a slot is filled and flagged with
/// probability at most qδ, so m slots have k̄δ flags on average, and Markov's inequality bounds their
/// number. The chance that the slot is filled, not flagged and holds a canary near c, given a and the
/// slots before, is at most q/(1 − q) · e^ε times the probability of c under its distribution: the
/// density of filled slots has been capped at e^ε times that of empty ones, and given that the slot is
/// empty, a says nothing about c. Under this distribution p is uniform, or larger. Hence the slots add
/// points to the p-axis at a rate of at most q/(1 − q) · e^ε, whatever was seen before, and m → ∞
/// makes this the Poisson process. A finite m is the Bernoulli design. ∎
///
/// The argument is that of Steinke et al. (2023) with an inclusion probability of 0: the known null
/// distribution replaces the canaries that are left out.
///
/// # Monte Carlo nulls
/// Where the null distribution is only sampled, p are upper limits that hold together with probability
/// 1 − α₁. Pass α − α₁ as `significance`.
///
/// # Example
/// ```
/// use dpscope_core::audit::one_shot::{AnyMechanism, CanaryDesign, NullTails};
/// let canaries = AnyMechanism::new(CanaryDesign::Poisson { mean: 40.0 })?;
/// let tails = NullTails::new((0..40).map(|i| -12.0 + 0.1 * f64::from(i)).collect())?;
/// assert_eq!(format!("{:.3}", canaries.epsilon_lower(&tails, 1e-6, 0.05)?), "8.885");
/// # Ok::<(), dpscope_core::audit::one_shot::OneShotError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnyMechanism {
    design: CanaryDesign,
}

/// A canary among all of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankedCanary {
    /// Rank of its p-value, 1 for the smallest.
    pub rank: u64,
    /// Logarithm of its p-value, ln p.
    pub ln_p: f64,
}

/// Canaries with a p-value up to a cut.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CutHits {
    /// The cut.
    pub p_cut: f64,
    /// Their number.
    pub hits: u64,
}

/// The rule of [`AnyMechanism::epsilon_lower`], which depends on the plan alone: for many runs of one
/// plan.
#[derive(Debug, Clone, PartialEq)]
pub struct SimultaneousRule {
    design: CanaryDesign,
    allowance: DeltaAllowance,
    /// None where δ leaves no significance.
    band: Option<CumulativeBand>,
    ln_rate: f64,
}

impl SimultaneousRule {
    /// What δ costs.
    #[must_use]
    pub const fn allowance(&self) -> DeltaAllowance {
        self.allowance
    }

    /// Lower bound on ε of one run.
    ///
    /// # Errors
    /// [`OneShotError::Observations`].
    pub fn epsilon_lower(&self, tails: &NullTails) -> Result<f64, OneShotError> {
        self.design.check_observations(tails)?;
        Ok(self.shown(tails).map(|(_, epsilon)| epsilon).fold(0.0, f64::max))
    }

    /// The canary that decides [`SimultaneousRule::epsilon_lower`]; none where it is 0.
    ///
    /// # Errors
    /// [`OneShotError::Observations`].
    pub fn deciding(&self, tails: &NullTails) -> Result<Option<RankedCanary>, OneShotError> {
        self.design.check_observations(tails)?;
        let positive = self.shown(tails).filter(|(_, epsilon)| *epsilon > 0.0);
        let largest = positive.max_by(|(_, one), (_, other)| one.total_cmp(other));
        Ok(largest.map(|(canary, _)| canary))
    }

    /// ε ≥ ln q_j − ln k̄ − ln p_(j + j₀) of one canary; none at a rank that the rule does not test.
    #[must_use]
    pub fn epsilon_of(&self, canary: RankedCanary) -> Option<f64> {
        let (_, limit) = self.limits().find(|(rank, _)| *rank == canary.rank)?;
        Some(self.epsilon_at(limit, canary.ln_p))
    }

    /// The tested ranks of p-values, with their limits q_j.
    fn limits(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        let limits = self.band.iter().flat_map(|band| band.ranks().iter().zip(band.limits()));
        limits.filter_map(|(rank, limit)| {
            Some((rank.checked_add(self.allowance.canaries())?, *limit))
        })
    }

    fn epsilon_at(&self, limit: f64, ln_p: f64) -> f64 {
        rounded_down(math::ln(limit) - self.ln_rate - ln_p)
    }

    /// What the canary of each rank shows.
    fn shown(&self, tails: &NullTails) -> impl Iterator<Item = (RankedCanary, f64)> {
        self.limits().filter_map(|(rank, limit)| {
            let ln_p = tails.ranked(rank)?;
            Some((RankedCanary { rank, ln_p }, self.epsilon_at(limit, ln_p)))
        })
    }
}

impl SimultaneousRule {
    /// Each rank of a p-value, and the ln p up to which it shows `epsilon`.
    pub(super) fn ln_p_needed(&self, epsilon: f64) -> impl Iterator<Item = (u64, f64)> + '_ {
        self.limits().map(move |(rank, limit)| (rank, math::ln(limit) - self.ln_rate - epsilon))
    }
}

impl AnyMechanism {
    /// Canaries of a plan.
    ///
    /// # Errors
    /// [`OneShotError::Canaries`], [`OneShotError::Inclusion`].
    pub fn new(design: CanaryDesign) -> Result<Self, OneShotError> {
        design.check()?;
        Ok(Self { design })
    }

    /// Lower bound on ε, from p-values of several ranks at once.
    ///
    /// ε ≥ max_j ln q_j − ln k̄ − ln p_(j + j₀), with q_j of [`CumulativeBand::of_arrivals`] at the
    /// significance that [`CanaryDesign::delta_allowance`] leaves; for the Bernoulli design
    /// ε ≥ max_j ln b_j − ln(q/(1 − q)) − ln p_(j + j₀), with b_j the limits of m uniforms at the
    /// same ranks. At least 0. It has no ceiling: it grows with −ln p. Canaries that are missing in
    /// `tails` count as canaries with p = 1.
    ///
    /// # Guarantee
    /// If training is (ε, δ)-DP, the bound exceeds ε with probability at most `significance`; at the
    /// least favourable distribution, with this probability
    /// (`tests/coverage/one_shot.rs::any_mechanism_is_exact_at_the_least_favourable_distribution`).
    ///
    /// # Errors
    /// [`OneShotError::Delta`], [`OneShotError::Significance`], [`OneShotError::Observations`].
    pub fn epsilon_lower(
        &self,
        tails: &NullTails,
        delta: f64,
        significance: f64,
    ) -> Result<f64, OneShotError> {
        self.simultaneous_rule(delta, significance)?.epsilon_lower(tails)
    }

    /// The rule of [`AnyMechanism::epsilon_lower`].
    ///
    /// # Errors
    /// [`OneShotError::Delta`], [`OneShotError::Significance`].
    pub fn simultaneous_rule(
        &self,
        delta: f64,
        significance: f64,
    ) -> Result<SimultaneousRule, OneShotError> {
        let design = self.design;
        let allowance = design.delta_allowance(delta, significance)?;
        let (level, mean) = (allowance.significance(), design.mean());
        let ln_rate = match design {
            CanaryDesign::Bernoulli { inclusion, .. } => {
                math::ln(inclusion) - math::ln_1p(-inclusion)
            }
            _ => math::ln(mean),
        };
        let band = match design {
            _ if level < f64::MIN_POSITIVE => None,
            CanaryDesign::Bernoulli { slots, .. } => {
                Some(CumulativeBand::of_few_uniforms(slots, mean, level))
            }
            _ => Some(CumulativeBand::of_arrivals(mean, level)?),
        };
        Ok(SimultaneousRule { design, allowance, band, ln_rate })
    }

    /// Lower bound on ε from the number w of p-values up to a cut that was fixed in the plan.
    ///
    /// ε ≥ ln(g/(k̄ p_cut)), g the lower limit of a Poisson mean after w events at significance
    /// α − k̄δ; for the Bernoulli design ε ≥ ln(b/p_cut) − ln(q/(1 − q)), b that of a proportion. At
    /// least 0.
    ///
    /// # Guarantee
    /// If training is (ε, δ)-DP, the bound exceeds ε with probability at most `significance`
    /// (`tests/coverage/one_shot.rs::one_cut_covers`).
    ///
    /// # Errors
    /// [`OneShotError::Cut`], [`OneShotError::Delta`], [`OneShotError::Significance`],
    /// [`OneShotError::Observations`].
    ///
    /// # Reference
    /// F. Garwood (1936) for the Poisson limit, C. Clopper and E. Pearson (1934) for the proportion.
    pub fn epsilon_lower_at_cut(
        &self,
        tails: &NullTails,
        p_cut: f64,
        delta: f64,
        significance: f64,
    ) -> Result<f64, OneShotError> {
        check_delta(delta)?;
        check_significance(significance)?;
        self.design.check_observations(tails)?;
        let hits = tails.hits(p_cut)? as f64;
        let level = significance * self.design.significance_factor() - self.design.mean() * delta;
        if hits == 0.0 || level < f64::MIN_POSITIVE {
            return Ok(0.0);
        }
        let ln_rate = match self.design {
            CanaryDesign::Bernoulli { slots, inclusion } => {
                let statistic = BetaDistribution::with_shapes(hits, slots as f64 + 1.0 - hits);
                let limit = statistic.quantile_at(Tail::Lower, level).value();
                math::ln(limit) - math::ln(inclusion) + math::ln_1p(-inclusion)
            }
            _ => math::ln(arrival_quantile(hits, level) / self.design.mean()),
        };
        Ok(rounded_down(ln_rate - math::ln(p_cut)))
    }

    /// Lower bound on μ, for claims that the training is μ-GDP: the largest of those at the cuts
    /// 10⁻¹, …, 10⁻⁶, each at a sixth of the significance.
    ///
    /// # Guarantee
    /// If training is μ-GDP, the bound exceeds μ with probability at most `significance`
    /// (`tests/coverage/one_shot.rs::bounds_cover_gaussian_canaries`). It says nothing about an
    /// (ε, δ) claim: a mechanism that is (ε, δ)-DP need not be GDP.
    ///
    /// # Errors
    /// [`OneShotError::Significance`], [`OneShotError::Observations`].
    pub fn mu_lower(&self, tails: &NullTails, significance: f64) -> Result<f64, OneShotError> {
        Ok(self.deciding_cut(tails, significance)?.map_or(0.0, |(_, mu)| mu))
    }

    /// The cut that decides [`AnyMechanism::mu_lower`], with the bound; none where it is 0.
    ///
    /// # Errors
    /// As [`AnyMechanism::mu_lower`].
    pub fn deciding_cut(
        &self,
        tails: &NullTails,
        significance: f64,
    ) -> Result<Option<(CutHits, f64)>, OneShotError> {
        check_significance(significance)?;
        self.design.check_observations(tails)?;
        let mut largest: Option<(CutHits, f64)> = None;
        for exponent in 1..=CUTS {
            let p_cut = math::powi(10.0, -exponent);
            let cut = CutHits { p_cut, hits: tails.hits(p_cut)? };
            let mu = self.mu_of(cut, significance)?;
            if mu > largest.map_or(0.0, |(_, mu)| mu) {
                largest = Some((cut, mu));
            }
        }
        Ok(largest)
    }

    /// What one of the cuts of [`AnyMechanism::mu_lower`] shows.
    ///
    /// # Errors
    /// [`OneShotError::Cut`], [`OneShotError::Significance`].
    pub fn mu_of(&self, cut: CutHits, significance: f64) -> Result<f64, OneShotError> {
        if !(1..=CUTS).any(|exponent| math::powi(10.0, -exponent) == cut.p_cut) {
            return Err(OneShotError::Cut { p_cut: cut.p_cut });
        }
        check_significance(significance)?;
        Ok(self.mu_of_hits(cut, significance / f64::from(CUTS)))
    }

    /// Lower bound on μ from the number w of p-values up to a cut that was fixed in the plan.
    ///
    /// μ is rejected if P\[w or more hits\] = τ is impossible. With P_v = P\[W ≥ v\] and
    /// A_v = E\[W; W ≥ v\], start at P_w = τ, A_w = wτ and lower v to 1:
    /// P_{v−1} = max(P_v, Φ(Φ⁻¹(A_v/k̄) − μ)/p_cut), A_{v−1} = A_v + (v − 1)(P_{v−1} − P_v);
    /// τ is impossible if some A_v ≥ k̄ or P_v > 1.
    ///
    /// # Proof
    /// E\[W; W ≥ v\] counts hits, each while v − 1 others hit. For one canary, compare with the same
    /// training without it: its p is then uniform and independent of the others, so both happen with
    /// probability p_cut P\[W ≥ v − 1\], and μ-GDP turns this x into at most Φ(Φ⁻¹(x) + μ), a concave
    /// function. Summed over canaries A_v/k̄ ≤ Φ(Φ⁻¹(p_cut P_{v−1}) + μ), which is solved for P_{v−1};
    /// A_{v−1} follows from P_{v−1}, as P falls in v. In the Bernoulli design the slot is empty with
    /// probability 1 − q only, and p_cut becomes p_cut/(1 − q). ∎
    ///
    /// # Errors
    /// [`OneShotError::Cut`], [`OneShotError::Significance`], [`OneShotError::Observations`].
    pub fn mu_lower_at_cut(
        &self,
        tails: &NullTails,
        p_cut: f64,
        significance: f64,
    ) -> Result<f64, OneShotError> {
        check_significance(significance)?;
        self.design.check_observations(tails)?;
        Ok(self.mu_of_hits(CutHits { p_cut, hits: tails.hits(p_cut)? }, significance))
    }

    fn mu_of_hits(&self, CutHits { p_cut, hits }: CutHits, significance: f64) -> f64 {
        let hits = hits as f64;
        if hits == 0.0 {
            return 0.0;
        }
        let share = match self.design {
            CanaryDesign::Bernoulli { inclusion, .. } => p_cut / (1.0 - inclusion),
            _ => p_cut,
        };
        let level = significance * self.design.significance_factor();
        let mean = self.design.mean();
        let is_rejected = |mu: f64| is_impossible(hits, level, mean, share, mu);
        if !is_rejected(0.0) {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, 1.0);
        while is_rejected(high) && high < 1e4 {
            (low, high) = (high, 2.0 * high);
        }
        while high - low > 1e-11 * (1.0 + high) {
            let middle = 0.5 * (low + high);
            if is_rejected(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        rounded_down(low)
    }
}

/// Whether no μ-GDP training has `hits` or more hits with probability `level`.
fn is_impossible(hits: f64, level: f64, mean: f64, share: f64, mu: f64) -> bool {
    let (mut probability, mut expected) = (level, hits * level);
    let mut v = hits;
    while v >= 1.0 {
        if expected >= mean || probability > 1.0 {
            return true;
        }
        let least = normal::normal_cdf(normal::quantile(expected / mean) - mu) / share;
        if least <= probability {
            return false; // nothing moves from here on
        }
        v -= 1.0;
        expected += v * (least - probability);
        probability = least;
    }
    expected >= mean || probability > 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tails(count: u32, ln_p: impl Fn(f64) -> f64) -> NullTails {
        NullTails::new((0..count).map(|index| ln_p(f64::from(index))).collect()).unwrap()
    }

    const DESIGNS: [CanaryDesign; 3] = [
        CanaryDesign::Poisson { mean: 100.0 },
        CanaryDesign::Bernoulli { slots: 200, inclusion: 0.5 },
        CanaryDesign::Fixed { canaries: 100 },
    ];

    fn canaries(design: CanaryDesign) -> AnyMechanism {
        AnyMechanism::new(design).unwrap()
    }

    #[test]
    fn cuts_that_were_not_tested_show_nothing() {
        let canaries = canaries(CanaryDesign::Fixed { canaries: 100 });
        let mu_of = |p_cut: f64| canaries.mu_of(CutHits { p_cut, hits: 60 }, 0.05);
        assert!(mu_of(math::powi(10.0, -2)).unwrap() > 0.0);
        for p_cut in [0.03, 1e-7, 0.5, 1.0, f64::NAN] {
            assert!(matches!(mu_of(p_cut), Err(OneShotError::Cut { .. })), "{p_cut}");
        }
    }

    #[test]
    fn bounds_have_no_ceiling_and_shift_with_ln_p() {
        for design in DESIGNS {
            let bound = |shift: f64| {
                let tails = tails(100, |index| -20.0 - shift - 0.05 * index);
                canaries(design).epsilon_lower(&tails, 1e-6, 0.05).unwrap()
            };
            assert!((bound(900.0) - bound(0.0) - 900.0).abs() < 1e-8, "{design:?}");
        }
    }

    #[test]
    fn no_canary_shows_nothing() {
        let none = NullTails::default();
        for design in DESIGNS {
            let canaries = canaries(design);
            assert_eq!(canaries.epsilon_lower(&none, 1e-6, 0.05).unwrap(), 0.0);
            assert_eq!(canaries.epsilon_lower_at_cut(&none, 0.01, 1e-6, 0.05).unwrap(), 0.0);
            assert_eq!(canaries.mu_lower(&none, 0.05).unwrap(), 0.0);
        }
    }

    #[test]
    fn coins_lose_about_the_odds_of_an_empty_slot() {
        let tails = tails(100, |_| -30.0);
        let bound = |design| canaries(design).epsilon_lower(&tails, 0.0, 0.05).unwrap();
        let poisson = bound(CanaryDesign::Poisson { mean: 100.0 });
        let lost = poisson - bound(CanaryDesign::Bernoulli { slots: 200, inclusion: 0.5 });
        assert!(lost > 0.5 && lost < 0.7, "{lost}");
        let rare = CanaryDesign::Bernoulli { slots: 1_000_000, inclusion: 1e-4 };
        assert!((poisson - bound(rare)).abs() < 1e-3);
    }

    #[test]
    fn too_large_a_delta_leaves_nothing() {
        let tails = tails(100, |_| -30.0);
        for design in DESIGNS {
            let canaries = canaries(design);
            assert_eq!(canaries.epsilon_lower(&tails, 0.5, 0.05).unwrap(), 0.0);
            assert_eq!(canaries.epsilon_lower_at_cut(&tails, 1e-6, 0.5, 0.05).unwrap(), 0.0);
        }
    }

    #[test]
    fn more_observations_than_canaries_are_refused() {
        let tails = tails(201, |_| -1.0);
        let is_refused = DESIGNS.map(|design| {
            let canaries = canaries(design);
            let cut = canaries.epsilon_lower_at_cut(&tails, 0.1, 0.0, 0.05).is_err();
            assert_eq!(cut, canaries.mu_lower(&tails, 0.05).is_err());
            assert_eq!(cut, canaries.epsilon_lower(&tails, 0.0, 0.05).is_err());
            cut
        });
        assert_eq!(is_refused, [false, true, true]);
    }

    #[test]
    fn bad_arguments_are_refused() {
        let tails = tails(10, |_| -9.0);
        let canaries = canaries(DESIGNS[0]);
        for bad in [-0.1, 1.0, f64::NAN] {
            assert!(canaries.epsilon_lower(&tails, bad, 0.05).is_err());
            assert!(canaries.epsilon_lower(&tails, 0.0, bad).is_err());
            assert!(canaries.epsilon_lower_at_cut(&tails, bad, 0.0, 0.05).is_err());
            assert!(canaries.mu_lower(&tails, bad).is_err());
            assert!(canaries.mu_lower_at_cut(&tails, bad, 0.05).is_err());
        }
        assert!(AnyMechanism::new(CanaryDesign::Fixed { canaries: 0 }).is_err());
    }
}
