//! A lower bound on what k uses in T steps leak: a statistic that is a sum over the steps.
//!
//! Under Q the outputs x_t are N(0, σ²), under P those of a uniform set of k steps have mean 1. For
//! every function f, the distribution of Σ_t f(x_t) is a T-fold convolution under Q, and under P, where
//! it does not depend on the set, one of T − k and of k factors. It leaks at most what the outputs do.
//! With q = k/T, the sum of f(x) = ln(1 − q + q e^{(x − ½)/σ²}), the loss of Poisson batches, is
//! nearly sufficient; f is rounded down to a grid, which is a function of x as well.

use crate::accounting::error::argument;
use crate::accounting::pld::{LossCells, PrivacyLossDistribution, Rounding};
use crate::accounting::poisson::OneStep;
use crate::accounting::{AccountingError, Given};
use crate::adjacency::Directions;
use crate::special::normal;

/// Steps of f in units of q/σ, about its standard deviation.
const STEP: f64 = 0.1;

/// Grid of the loss of an epoch, relative to the standard deviation of f in all steps.
const LOSS_STEP: f64 = 5e-3;

/// Maximum number of values of f.
const MOST_VALUES: f64 = 4e6;

/// Covers the rounding of ratios of masses.
const RELATIVE: f64 = 1e-12;

/// Covers the rounding of a sum of masses.
const SUM_ERROR: f64 = 1e-14;

/// k uses in the T steps of an epoch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Epoch {
    pub(super) noise_multiplier: f64,
    pub(super) steps: u64,
    pub(super) uses: u64,
}

impl Epoch {
    fn rate(&self) -> f64 {
        self.uses as f64 / self.steps as f64
    }

    /// f is the loss of this pair.
    fn poisson(&self) -> OneStep {
        OneStep { noise_multiplier: self.noise_multiplier, sampling_rate: self.rate() }
    }

    /// Distributions of f for the means 0 and 1, rounded to multiples of the step.
    fn values(&self, rounding: Rounding) -> Result<[PrivacyLossDistribution; 2], AccountingError> {
        let sigma = self.noise_multiplier;
        let step = STEP * self.rate() / sigma;
        let index = |x: f64| (self.poisson().loss_at(x) / step).floor();
        // beyond, f is constant
        let (lowest, highest) = (index(-9.0 * sigma), index(1.0 + 9.0 * sigma));
        if !(highest - lowest < MOST_VALUES) {
            let allowed = "larger, or the record in more of the steps: the grid would be too large";
            return Err(argument("noise_multiplier", sigma, allowed));
        }
        let count = (highest - lowest) as usize + 1;
        let outward = match rounding {
            Rounding::Pessimistic => 1.0 + RELATIVE,
            Rounding::Optimistic => 1.0 - RELATIVE,
        };
        let of = |mean: f64| {
            let below = |place: usize| match place {
                0 => f64::NEG_INFINITY,
                _ if place == count => f64::INFINITY,
                _ => (self.poisson().output_at((lowest + place as f64) * step) - mean) / sigma,
            };
            let mass = |place: usize| {
                let (low, high) = (below(place), below(place + 1));
                let mass = if low > 0.0 {
                    normal::normal_survival(low) - normal::normal_survival(high)
                } else {
                    normal::normal_cdf(high) - normal::normal_cdf(low)
                };
                mass.max(0.0) * outward
            };
            let masses = (0..count).map(mass).collect();
            let found = PrivacyLossDistribution::from_masses(step, lowest as i64, masses, 0.0)?;
            Ok(found.with_rounding(rounding))
        };
        Ok([of(0.0)?, of(1.0)?])
    }

    /// Distributions of the statistic under Q and under P: each mass above or below the exact one.
    fn statistic(
        &self,
        rounding: Rounding,
    ) -> Result<[PrivacyLossDistribution; 2], AccountingError> {
        let [without, with] = self.values(rounding)?;
        let of_all = without.self_composed(self.steps)?;
        let uses = with.self_composed(self.uses)?;
        let of_uses = if self.uses == self.steps {
            uses
        } else {
            without.self_composed(self.steps - self.uses)?.composed(&uses)?
        };
        Ok([of_all, of_uses])
    }

    /// A lower value of ε or δ of all epochs.
    pub(super) fn lower(
        &self,
        epochs: u64,
        given: Given,
        directions: Directions,
    ) -> Result<f64, AccountingError> {
        let [without_below, with_below] = self.statistic(Rounding::Optimistic)?;
        let [without_above, with_above] = self.statistic(Rounding::Pessimistic)?;
        let remove = || self.lower_of(&with_below, (&without_above, 0.0), epochs, given);
        let add = || {
            let missing = self.missing()?;
            self.lower_of(&without_below, (&with_above, missing), epochs, given)
        };
        Ok(match directions {
            Directions::Remove => remove()?,
            Directions::Add => add()?,
            Directions::Both => remove()?.max(add()?),
        })
    }

    /// Mass of the factors of the statistic under P that their pessimistic lists lack.
    ///
    /// A list ends where its rounded masses sum to 1: above its lowest place each is an upper bound, and
    /// what lies from there on down is not in it. Convolved with the other factor, it adds at most itself
    /// to a mass.
    fn missing(&self) -> Result<f64, AccountingError> {
        let [without_above, with_above] = self.values(Rounding::Pessimistic)?;
        let [without_below, with_below] = self.values(Rounding::Optimistic)?;
        let of = |above: &PrivacyLossDistribution, below: &PrivacyLossDistribution, count: u64| {
            if count == 0 {
                return Ok(0.0);
            }
            let (above, below) = (above.self_composed(count)?, below.self_composed(count)?);
            let lowest = place_of(&above) + 1 - place_of(&below);
            let known = below.masses().iter().skip(usize::try_from(lowest).unwrap_or(0));
            Ok((1.0 - known.sum::<f64>() + SUM_ERROR).clamp(0.0, 1.0))
        };
        Ok(of(&without_above, &without_below, self.steps - self.uses)?
            + of(&with_above, &with_below, self.uses)?)
    }

    /// The value of masses below those of one distribution against masses above those of another one, in
    /// which some may be missing.
    fn lower_of(
        &self,
        below: &PrivacyLossDistribution,
        (above, missing): (&PrivacyLossDistribution, f64),
        epochs: u64,
        given: Given,
    ) -> Result<f64, AccountingError> {
        let (first, other) = (place_of(below), place_of(above));
        let lost = above.infinite_mass() + missing;
        // the lowest place of a pessimistic distribution may have lost mass to the others
        let known = above.masses().iter().enumerate().skip(1);
        let atom = |(place, mass): (usize, &f64)| {
            let own = usize::try_from(other + place as i64 - first).ok()?;
            let (own, mass) = (below.masses().get(own)?, mass + lost);
            let ratio = own / mass * (1.0 - RELATIVE);
            (ratio > 0.0 && ratio.is_finite()).then_some((ratio, mass))
        };
        let mut atoms: Vec<(f64, f64)> = known.filter_map(atom).collect();
        atoms.sort_by(|a, b| a.0.total_cmp(&b.0));
        let spread = self.rate() / self.noise_multiplier * (self.steps as f64).sqrt();
        let step = (LOSS_STEP * spread).min(1e-2);
        let cells = LossCells::of_atoms(step, &atoms, 0.0);
        let composed =
            cells.distribution(Rounding::Optimistic)?.composed_to(epochs, given, 1e-3)?;
        match given {
            Given::Delta(delta) => composed.epsilon_at(delta),
            Given::Epsilon(epsilon) => composed.delta_at(epsilon),
        }
    }
}

/// Index of the lowest value.
fn place_of(distribution: &PrivacyLossDistribution) -> i64 {
    (distribution.lowest_loss() / distribution.step()).round() as i64
}
