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

/// Covers the rounding of masses, of their ratios and of their sums.
const RELATIVE: f64 = 1e-12;

/// Masses that are added one after another: a sum of up to 2²³ has a relative error below 7e-13.
const CHUNK: usize = 2_048;

/// Distributions of the statistic and its factors under P.
struct Statistic {
    /// Under Q.
    zero_out: PrivacyLossDistribution,
    /// Under P.
    target: PrivacyLossDistribution,
    /// The T − k factors; none where every step is used.
    unused: Option<PrivacyLossDistribution>,
    /// The k factors.
    used: PrivacyLossDistribution,
}

impl Statistic {
    /// Mass of the factors under P that these pessimistic lists lack, from the optimistic ones.
    ///
    /// A list ends where its rounded masses sum to 1: above its lowest place each is an upper bound, and
    /// what lies from there on down is not in it. Convolved with the other factor, it adds at most itself
    /// to a mass.
    fn missing(&self, below: &Statistic) -> f64 {
        let of = |(above, below): (&PrivacyLossDistribution, &PrivacyLossDistribution)| {
            let lowest = (place_of(above) + 1 - place_of(below)).max(0);
            let known = below.masses().get(lowest as usize..).unwrap_or_default();
            let sums = known.chunks(CHUNK).map(|masses| masses.iter().sum::<f64>());
            (1.0 - sums.sum::<f64>()).clamp(0.0, 1.0)
        };
        let unused = self.unused.iter().zip(&below.unused).map(of).sum::<f64>();
        unused + of((&self.used, &below.used))
    }
}

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

    /// Distributions of the statistic: each mass above or below the exact one.
    fn statistic(&self, rounding: Rounding) -> Result<Statistic, AccountingError> {
        let [without, with] = self.values(rounding)?;
        let unused = self.steps - self.uses;
        let unused = (unused > 0).then(|| without.self_composed(unused)).transpose()?;
        let used = with.self_composed(self.uses)?;
        let target = match &unused {
            None => used.clone(),
            Some(unused) => unused.clone().composed(&used)?,
        };
        Ok(Statistic { zero_out: without.self_composed(self.steps)?, target, unused, used })
    }

    /// A lower value of ε or δ of all epochs.
    pub(super) fn lower(
        &self,
        epochs: u64,
        given: Given,
        directions: Directions,
    ) -> Result<f64, AccountingError> {
        let below = self.statistic(Rounding::Optimistic)?;
        let above = self.statistic(Rounding::Pessimistic)?;
        let remove = || self.lower_of(&below.target, (&above.zero_out, 0.0), epochs, given);
        let add = || {
            let missing = above.missing(&below);
            self.lower_of(&below.zero_out, (&above.target, missing), epochs, given)
        };
        Ok(match directions {
            Directions::Remove => remove()?,
            Directions::Add => add()?,
            Directions::Both => remove()?.max(add()?),
        })
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
