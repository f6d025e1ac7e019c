//! Audits of two worlds that may be looked at after every run.

use super::one_run::{check_delta, check_epsilon, check_significance, largest_of_grid};
use crate::audit::one_run::OneRunError;
use crate::math;

/// Shares of the largest bet that are mixed with equal weights.
const FRACTIONS: [f64; 7] = [0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 0.95];
/// Cuts of the mixture: quantiles of a pilot.
const CUTS: usize = 33;

/// Bets on pairs of runs, one of each world, that refute an ε as soon as their wealth reaches 1/τ.
///
/// With f_t in \[0, 1\] fixed before pair t, Z_t = f_t(X) − e^ε f_t(Y) − δ has a mean of at most 0 under
/// (ε, δ)-DP and is at least −(e^ε + δ), so Π(1 + λZ_t) with 0 ≤ λ ≤ 1/(e^ε + δ), and any mixture of such
/// products, exceeds 1/τ at some time with probability at most τ (Ville). It may be looked at after every pair.
///
/// The mixture has both directions, {s > c} for X and {s ≤ c} for Y; cuts c; and bets λ(e^ε + δ) in
/// {.02, .05, .1, .2, .4, .8, .95}. It needs 1.3 to 2 times the runs of a test with a fixed number of runs. A run
/// that failed counts as f = 0; leaving it out is not allowed.
///
/// # Reference
/// J. Ville (1939); A. Ramdas et al. (2023), Statistical Science 38(4), for betting.
#[derive(Debug, Clone, PartialEq)]
pub struct AnytimeTest {
    cuts: Vec<f64>,
    fractions: Vec<f64>,
}

/// The wealth of bets over time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wealth {
    /// ln of the wealth after the last pair.
    pub ln_last: f64,
    /// The largest.
    pub ln_largest: f64,
    /// Pairs after which it was largest.
    pub pairs_at_largest: u64,
}

impl AnytimeTest {
    /// Pairs of runs that choose the cuts and do not bet.
    pub const PILOT: usize = 20;

    /// The usual test: 33 quantiles of the first 20 pairs, which do not bet.
    #[must_use]
    pub fn of_pilot(pairs: &[[f64; 2]]) -> Self {
        let pilot =
            pairs.iter().take(Self::PILOT).flatten().copied().filter(|score| score.is_finite());
        let mut scores: Vec<f64> = pilot.collect();
        scores.sort_unstable_by(f64::total_cmp);
        let last = scores.len().saturating_sub(1) as f64;
        let place = |cut: usize| (last * (cut as f64 + 0.5) / CUTS as f64).floor() as usize;
        let cuts = (0..CUTS).filter_map(|cut| scores.get(place(cut)).copied()).collect();
        Self { cuts, fractions: FRACTIONS.to_vec() }
    }

    /// A test with these cuts and fractions of the largest bet, fixed beforehand.
    #[must_use]
    pub const fn new(cuts: Vec<f64>, fractions: Vec<f64>) -> Self {
        Self { cuts, fractions }
    }

    /// The bound of the usual test on these pairs, pilot first, and the pairs of bets after which its wealth was
    /// largest; none if nothing is shown.
    ///
    /// # Errors
    /// [`OneRunError::Delta`], [`OneRunError::Significance`].
    pub fn bound(
        pairs: &[[f64; 2]],
        delta: f64,
        significance: f64,
    ) -> Result<(f64, Option<u64>), OneRunError> {
        let (test, bets) = (Self::of_pilot(pairs), Self::after_pilot(pairs));
        let epsilon = test.epsilon_lower(bets, delta, significance)?;
        let wealth = test.at(bets, epsilon, delta);
        Ok((epsilon, (epsilon > 0.0).then_some(wealth.pairs_at_largest)))
    }

    /// The pairs after those of the pilot.
    #[must_use]
    pub fn after_pilot(pairs: &[[f64; 2]]) -> &[[f64; 2]] {
        pairs.get(Self::PILOT..).unwrap_or_default()
    }

    /// The wealth of bets against (ε, δ)-DP on these pairs, target first.
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`], [`OneRunError::Delta`].
    pub fn wealth(
        &self,
        pairs: &[[f64; 2]],
        epsilon: f64,
        delta: f64,
    ) -> Result<Wealth, OneRunError> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        Ok(self.at(pairs, epsilon, delta))
    }

    /// Lower bound on ε: the largest of 0, 0.005, 0.010, … against which the wealth reached 1/τ at some time,
    /// together with all smaller ones.
    ///
    /// With δ > 0 the wealth can rise with ε where neither run of a pair counts; the search begins where a smaller
    /// wealth, which falls with ε, rejects, and scans the grid from there.
    ///
    /// # Errors
    /// [`OneRunError::Delta`], [`OneRunError::Significance`].
    pub fn epsilon_lower(
        &self,
        pairs: &[[f64; 2]],
        delta: f64,
        significance: f64,
    ) -> Result<f64, OneRunError> {
        check_delta(delta)?;
        check_significance(significance)?;
        let needed = -math::ln(significance);
        let surely = |epsilon| self.wealth_at(pairs, epsilon, delta, true).ln_largest >= needed;
        let rejects = |epsilon| self.at(pairs, epsilon, delta).ln_largest >= needed;
        Ok(largest_of_grid(surely, rejects))
    }

    /// The largest bound that so many pairs could show: every bet wins.
    ///
    /// # Errors
    /// [`OneRunError::Delta`], [`OneRunError::Significance`].
    pub fn ceiling(bets: u64, delta: f64, significance: f64) -> Result<f64, OneRunError> {
        check_delta(delta)?;
        check_significance(significance)?;
        let needed = -math::ln(significance);
        let rejects = |epsilon: f64| {
            let odds = math::exp(epsilon);
            let win =
                |share: &f64| bets as f64 * math::ln_1p(share / (odds + delta) * (1.0 - delta));
            ln_mean(&FRACTIONS.each_ref().map(win)) >= needed
        };
        Ok(largest_of_grid(rejects, rejects))
    }

    fn at(&self, pairs: &[[f64; 2]], epsilon: f64, delta: f64) -> Wealth {
        self.wealth_at(pairs, epsilon, delta, false)
    }

    /// The wealth, or one that is at most as large and falls with ε: a bet on a pair of which neither run counts
    /// loses λδ, which is less for larger ε.
    fn wealth_at(&self, pairs: &[[f64; 2]], epsilon: f64, delta: f64, falls: bool) -> Wealth {
        let odds = math::exp(epsilon);
        let stakes: Vec<f64> = self.fractions.iter().map(|share| share / (odds + delta)).collect();
        // ln of the rise by each bet, if f is 0 or 1 for the world that it bets on, and for the other one
        let rise = |own: f64, other: f64| -> Vec<f64> {
            let gain = own - odds * other - delta;
            stakes.iter().map(|stake| math::ln_1p(stake * gain)).collect()
        };
        let neither = match falls {
            true => {
                let loses = |share: &f64| math::ln_1p(-share * delta / (1.0 + delta));
                self.fractions.iter().map(loses).collect()
            }
            false => rise(0.0, 0.0),
        };
        let rises = [[neither, rise(0.0, 1.0)], [rise(1.0, 0.0), rise(1.0, 1.0)]];
        let mut ln_each = vec![0.0; 2 * self.cuts.len() * stakes.len()];
        let mut wealth = Wealth { ln_last: 0.0, ln_largest: 0.0, pairs_at_largest: 0 };
        for (index, &[target, other]) in pairs.iter().enumerate() {
            let directions = self.cuts.iter().flat_map(|&cut| {
                let above = |score: f64| usize::from(score > cut);
                let not_above = |score: f64| usize::from(score <= cut);
                [&rises[above(target)][above(other)], &rises[not_above(other)][not_above(target)]]
            });
            for (ln_wealth, rise) in ln_each.iter_mut().zip(directions.flatten()) {
                *ln_wealth += rise;
            }
            wealth.ln_last = ln_mean(&ln_each);
            if wealth.ln_last > wealth.ln_largest {
                wealth.ln_largest = wealth.ln_last;
                wealth.pairs_at_largest = index as u64 + 1;
            }
        }
        wealth
    }
}

/// ln of the mean of e^x.
fn ln_mean(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = values.iter().map(|value| math::exp(value - largest)).sum();
    largest + math::ln(sum / values.len().max(1) as f64)
}
