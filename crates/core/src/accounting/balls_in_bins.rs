//! Balls in bins: each record falls into one batch of each epoch, uniformly.

use super::bracket::Bracket;
use super::error::argument;
use super::pld::{LossCells, Masses, Rounding, Target, check_delta, check_epsilon};
use super::result::Account;
use super::{
    AccountingError, DeltaLowerBound, DeltaUpperBound, Directions, EpsilonLowerBound,
    EpsilonUpperBound, Method,
};
use crate::bound::Scope;
use crate::math;
use crate::special::normal;

/// Noisy sums of clipped gradients; of T batches an epoch the record's is drawn uniformly.
///
/// P = mean over t of N(e_t, σ²I), Q = N(0, σ²I), composed over the epochs;
/// e^L = (1/T) Σ_t W_t, W_t = e^{x_t/σ² − 1/(2σ²)}
///
/// # Reference
/// L. Chua and others (2024), "Balls-and-Bins Sampling for DP-SGD", for the dominating pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BallsInBins {
    /// σ, in [0.2, 100].
    pub noise_multiplier: f64,
    /// T, 1 … 10⁶.
    pub steps_per_epoch: u64,
    /// E, 1 … 10⁵.
    pub epochs: u64,
}

/// Finest grid of the sums.
const FINEST: f64 = 0.006;

const LEAST_DELTA: f64 = 1e-50;

impl BallsInBins {
    /// A value that ε does not exceed.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `delta` | δ | [1e-50, 1) |
    /// | `directions` | whose ε | – |
    /// | `error` | wanted distance of upper and lower value, nats | [1e-6, 1] |
    ///
    /// # Guarantee
    /// Not below ε (`tests/oracles/accounting.rs::balls_in_bins_agree_with_the_golden_intervals`).
    ///
    /// # Errors
    /// [`AccountingError`] outside the domain, and where the grid would be too large.
    ///
    /// # Numerics
    /// Under Q the W are independent with mean 1. A spread of each W that keeps its mean gives a
    /// pair that dominates, a merging of its values one that is dominated, and both survive sums:
    /// the law of ΣW is built by doubling, spread to or merged in cells after each sum. All sums
    /// are of positive terms. `numeric_error` is the distance of upper and lower value, which may
    /// exceed `error` where the finest grid does not suffice.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::accounting::{BallsInBins, Directions};
    /// let training = BallsInBins { noise_multiplier: 0.8, steps_per_epoch: 10, epochs: 1 };
    /// let bound = training.epsilon_upper(1e-8, Directions::Both, 1e-2)?;
    /// assert_eq!(format!("{:.1}", bound.value()), "5.1");
    /// # Ok::<(), dpscope_core::accounting::AccountingError>(())
    /// ```
    pub fn epsilon_upper(
        &self,
        delta: f64,
        directions: Directions,
        error: f64,
    ) -> Result<EpsilonUpperBound, AccountingError> {
        let bracket = self.bracket(Target::Delta(delta), directions, error)?;
        Ok(EpsilonUpperBound::new(bracket.upper, delta, account(directions, bracket)))
    }

    /// A value that ε exceeds; arguments as [`Self::epsilon_upper`].
    ///
    /// # Guarantee
    /// Not above ε (`tests/oracles/accounting.rs::balls_in_bins_agree_with_the_golden_intervals`).
    ///
    /// # Errors
    /// As [`Self::epsilon_upper`].
    pub fn epsilon_lower(
        &self,
        delta: f64,
        directions: Directions,
        error: f64,
    ) -> Result<EpsilonLowerBound, AccountingError> {
        let bracket = self.bracket(Target::Delta(delta), directions, error)?;
        Ok(EpsilonLowerBound::new(bracket.lower, 0.0, account(directions, bracket)))
    }

    /// A value that δ does not exceed.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `epsilon` | ε, nats | [0, ∞) |
    /// | `directions` | whose δ | – |
    /// | `error` | wanted relative distance of upper and lower value | [1e-6, 1] |
    ///
    /// # Guarantee
    /// Not below δ (`tests/oracles/accounting.rs::balls_in_bins_deltas_undo_epsilons`).
    ///
    /// # Errors
    /// As [`Self::epsilon_upper`].
    ///
    /// # Numerics
    /// As [`Self::epsilon_upper`]; below 1e-50 δ is rounded up to about that.
    pub fn delta_upper(
        &self,
        epsilon: f64,
        directions: Directions,
        error: f64,
    ) -> Result<DeltaUpperBound, AccountingError> {
        let bracket = self.bracket(Target::Epsilon(epsilon), directions, error)?;
        Ok(DeltaUpperBound::new(bracket.upper, epsilon, account(directions, bracket)))
    }

    /// A value that δ exceeds; arguments as [`Self::delta_upper`].
    ///
    /// # Guarantee
    /// Not above δ (`tests/oracles/accounting.rs::balls_in_bins_deltas_undo_epsilons`).
    ///
    /// # Errors
    /// As [`Self::epsilon_upper`].
    pub fn delta_lower(
        &self,
        epsilon: f64,
        directions: Directions,
        error: f64,
    ) -> Result<DeltaLowerBound, AccountingError> {
        let bracket = self.bracket(Target::Epsilon(epsilon), directions, error)?;
        Ok(DeltaLowerBound::new(bracket.lower, 0.0, account(directions, bracket)))
    }

    fn check(&self, target: Target, error: f64) -> Result<(), AccountingError> {
        match target {
            Target::Epsilon(epsilon) => check_epsilon(epsilon)?,
            Target::Delta(delta) => {
                check_delta(delta)?;
                if !(delta >= LEAST_DELTA) {
                    return Err(argument("delta", delta, "at least 1e-50"));
                }
            }
        }
        if !(0.2..=100.0).contains(&self.noise_multiplier) {
            return Err(argument("noise_multiplier", self.noise_multiplier, "in [0.2, 100]"));
        }
        if !(1..=1_000_000).contains(&self.steps_per_epoch) {
            return Err(argument("steps_per_epoch", self.steps_per_epoch as f64, "in 1 to 10^6"));
        }
        if !(1..=100_000).contains(&self.epochs) {
            return Err(argument("epochs", self.epochs as f64, "in 1 to 100000"));
        }
        if !(1e-6..=1.0).contains(&error) {
            return Err(argument("error", error, "in [1e-6, 1]"));
        }
        Ok(())
    }

    /// Lower and upper value.
    fn bracket(
        &self,
        target: Target,
        directions: Directions,
        error: f64,
    ) -> Result<Bracket, AccountingError> {
        self.check(target, error)?;
        let mut width = 0.048;
        let step = |width: f64| (0.05 * width).min((error / self.epochs as f64).sqrt());
        let grid = |width: f64, delta: f64| Fineness { width, step: step(width), delta };
        let delta = match target {
            Target::Delta(delta) => delta,
            Target::Epsilon(_) => {
                let coarse = grid(width, LEAST_DELTA);
                let value = self.value(target, directions, coarse, Rounding::Pessimistic)?;
                value.clamp(LEAST_DELTA, 0.5)
            }
        };
        let mut best = Bracket { lower: 0.0, upper: f64::INFINITY };
        while width >= FINEST {
            let grid = grid(width, delta);
            best = best.tighter(Bracket {
                lower: self.value(target, directions, grid, Rounding::Optimistic)?,
                upper: self.value(target, directions, grid, Rounding::Pessimistic)?,
            });
            if best.is_near(target, error) {
                break;
            }
            width *= 0.5;
        }
        Ok(best)
    }

    fn value(
        &self,
        target: Target,
        directions: Directions,
        grid: Fineness,
        rounding: Rounding,
    ) -> Result<f64, AccountingError> {
        let Fineness { width, step, delta } = grid;
        let (steps, epochs) = (self.steps_per_epoch as f64, self.epochs as f64);
        let cut = -normal::quantile(1e-8 * delta / (steps * epochs));
        let law = SumLaw::of_one(self.noise_multiplier, cut, width, rounding);
        let law = law.of_many(self.steps_per_epoch);
        let atoms: Vec<(f64, f64)> =
            law.points.iter().map(|&(value, mass)| (value / steps, mass)).collect();
        let mut cells = LossCells::of_atoms(step, &atoms, 1e-8 * delta / epochs);
        // an output beyond the cut: P has one with mean 1 among those with mean 0
        let sigma = self.noise_multiplier;
        let without = normal::normal_survival(cut + 1.0 / sigma);
        let with = normal::normal_survival(cut);
        cells.above = Masses { mass: with + steps * without, other_mass: steps * without };
        let of = |cells: &LossCells| -> Result<f64, AccountingError> {
            let law = cells.law(rounding)?.self_composed_near(self.epochs, target)?;
            match target {
                Target::Delta(delta) => law.epsilon_at(delta),
                Target::Epsilon(epsilon) => law.delta_at(epsilon),
            }
        };
        Ok(match directions {
            Directions::Remove => of(&cells)?,
            Directions::Add => of(&cells.reversed())?,
            Directions::Both => of(&cells)?.max(of(&cells.reversed())?),
        })
    }
}

/// How fine the grids of one value are.
#[derive(Clone, Copy)]
struct Fineness {
    /// Of the sums, relative.
    width: f64,
    /// Of the loss, nats.
    step: f64,
    /// About the δ; what is cut off is far less.
    delta: f64,
}

fn account(directions: Directions, bracket: Bracket) -> Account {
    Account {
        scope: Scope::Mechanism,
        directions,
        method: Method::PrivacyLossDistribution,
        numeric_error: bracket.gap(),
    }
}

/// The law of a sum of W under Q, on points in rising order.
#[derive(Debug, Clone)]
struct SumLaw {
    points: Vec<(f64, f64)>,
    /// Where the bulk lies, and how wide it is: the grid is fine there.
    centre: f64,
    spread: f64,
    /// Where it may be coarse.
    lowest: f64,
    width: f64,
    rounding: Rounding,
}

impl SumLaw {
    /// One W, cut into cells whose width is `width` times √(s² + (v − c)²).
    fn of_one(sigma: f64, cut: f64, width: f64, rounding: Rounding) -> Self {
        let centre = math::exp(-0.5 / (sigma * sigma));
        let spread = centre * math::sinh(1.0 / sigma);
        let end = |x: f64| math::exp((x - 0.5) / (sigma * sigma));
        let lowest = end(-cut * sigma);
        let grid = grid(centre, spread, width, lowest, end(1.0 + cut * sigma));
        let tails = |value: f64| {
            let x = sigma * sigma * math::ln(value) + 0.5;
            let tail =
                |z: f64| if x < 0.5 { normal::normal_cdf(z) } else { normal::normal_cdf(-z) };
            (x < 0.5, tail(x / sigma), tail((x - 1.0) / sigma))
        };
        let mut cells = Cells::new(grid, rounding);
        let mut low = (true, 0.0, 0.0);
        for place in 0..cells.grid.len() - 1 {
            let high = tails(cells.grid[place + 1]);
            let between = |low_tail: f64, high_tail: f64| match (low.0, high.0) {
                (true, true) => high_tail - low_tail,
                (true, false) => 1.0 - low_tail - high_tail,
                _ => low_tail - high_tail,
            };
            let (mass, moment) = (between(low.1, high.1), between(low.2, high.2));
            if mass > 0.0 {
                // the mean of W in a cell is its mass under P over that under Q
                let value = math::clamp(moment / mass, cells.grid[place], cells.grid[place + 1]);
                cells.add(place, value, mass);
            }
            low = high;
        }
        SumLaw { points: cells.points(), centre, spread, lowest, width, rounding }
    }

    /// The sum of independent copies.
    fn of_many(&self, count: u64) -> Self {
        let (mut power, mut left) = (self.clone(), count);
        let mut sum: Option<SumLaw> = None;
        loop {
            if left & 1 == 1 {
                sum = Some(match &sum {
                    Some(sum) => sum.plus(&power),
                    None => power.clone(),
                });
            }
            left >>= 1;
            if left == 0 {
                break;
            }
            power = power.plus(&power);
        }
        sum.unwrap_or(power)
    }

    fn plus(&self, other: &Self) -> Self {
        let centre = self.centre + other.centre;
        let spread = (self.spread * self.spread + other.spread * other.spread).sqrt();
        let end = |points: &[(f64, f64)]| points.last().map_or(0.0, |point| point.0);
        let lowest = self.lowest + other.lowest;
        let highest = end(&self.points) + end(&other.points);
        let grid = grid(centre, spread, self.width, lowest, highest);
        let mut cells = Cells::new(grid, self.rounding);
        for &(value, mass) in &self.points {
            let mut place = 0;
            for &(other_value, other_mass) in &other.points {
                let sum = value + other_value;
                while place + 2 < cells.grid.len() && cells.grid[place + 1] <= sum {
                    place += 1;
                }
                cells.add(place, sum, mass * other_mass);
            }
        }
        SumLaw { points: cells.points(), centre, spread, lowest, ..*self }
    }
}

/// Values from 0 to the highest, dense near the centre; geometric towards 0, down to `lowest`.
fn grid(centre: f64, spread: f64, width: f64, lowest: f64, highest: f64) -> Vec<f64> {
    let dense = |value: f64| {
        let off = value - centre;
        width * (spread * spread + off * off).sqrt()
    };
    let mut grid = vec![];
    let mut value = centre;
    while value > lowest {
        grid.push(value);
        value -= dense(value).min(4.0 * width * value);
    }
    grid.push(0.0);
    grid.reverse();
    let mut value = centre;
    while value < highest {
        value += dense(value);
        grid.push(value);
    }
    grid
}

/// Masses that are spread to the ends of cells, or merged to their means.
struct Cells {
    grid: Vec<f64>,
    /// 1 over the width of each cell.
    inverse: Vec<f64>,
    masses: Vec<f64>,
    moments: Vec<f64>,
    rounding: Rounding,
}

impl Cells {
    fn new(grid: Vec<f64>, rounding: Rounding) -> Self {
        let inverse = grid.windows(2).map(|ends| 1.0 / (ends[1] - ends[0])).collect();
        let zeros = vec![0.0; grid.len()];
        Cells { grid, inverse, masses: zeros.clone(), moments: zeros, rounding }
    }

    fn add(&mut self, place: usize, value: f64, mass: f64) {
        match self.rounding {
            Rounding::Pessimistic => {
                let share = (value - self.grid[place]) * self.inverse[place];
                self.masses[place] += mass * (1.0 - share);
                self.masses[place + 1] += mass * share;
            }
            Rounding::Optimistic => {
                self.masses[place] += mass;
                self.moments[place] += mass * value;
            }
        }
    }

    /// Points with mass; values are moved outward by more than their rounding.
    fn points(&self) -> Vec<(f64, f64)> {
        let filled = (0..self.grid.len()).filter(|place| self.masses[*place] > 0.0);
        filled
            .map(|place| match self.rounding {
                Rounding::Pessimistic => {
                    (self.grid[place] * (1.0 + 1e-13), self.masses[place] * (1.0 + 1e-12))
                }
                Rounding::Optimistic => {
                    let mean = self.moments[place] / self.masses[place];
                    (mean * (1.0 - 1e-13), self.masses[place] * (1.0 - 1e-12))
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::DeterministicBatches;

    /// Upper less exact, exact less lower, for one batch an epoch: the Gaussian mechanism.
    fn distances(sigma: f64, of: f64, epochs: u64, directions: Directions) -> (f64, f64) {
        let training = BallsInBins { noise_multiplier: sigma, steps_per_epoch: 1, epochs };
        let exact = DeterministicBatches { noise_multiplier: of, epochs };
        let exact = exact.epsilon_upper(1e-5).unwrap().value();
        let bracket = training.bracket(Target::Delta(1e-5), directions, 1e-3).unwrap();
        (bracket.upper - exact, exact - bracket.lower)
    }

    #[test]
    fn one_batch_is_the_gaussian_mechanism() {
        for (sigma, epochs) in [(1.0, 1), (0.5, 1), (3.0, 1), (2.0, 7)] {
            for directions in [Directions::Remove, Directions::Add, Directions::Both] {
                let (above, below) = distances(sigma, sigma, epochs, directions);
                assert!(above >= 0.0 && below >= -1e-9, "{sigma} {epochs}: {above} {below}");
                assert!(above + below < 3e-3, "{sigma} {epochs}: {above} {below}");
            }
        }
    }

    #[test]
    fn grids_whose_ends_are_empty_have_an_answer() {
        let of = |noise_multiplier, epochs, directions| {
            let training = BallsInBins { noise_multiplier, steps_per_epoch: 533, epochs };
            training.bracket(Target::Delta(1e-5), directions, 0.1).unwrap()
        };
        let mut last = 0.0;
        for epochs in 1..=8 {
            let (add, remove) =
                (of(1.466, epochs, Directions::Add), of(1.466, epochs, Directions::Remove));
            assert!(add.lower <= remove.upper && remove.lower <= add.upper, "{add:?} {remove:?}");
            assert!(add.upper > last && add.gap() < 0.02, "{epochs}: {add:?}");
            assert!(of(1.2, epochs, Directions::Add).lower > remove.upper, "{epochs}");
            last = add.lower;
        }
    }

    #[test]
    fn slightly_more_noise_is_seen() {
        let (above, _) = distances(1.002, 1.0, 1, Directions::Both);
        assert!(above < 0.0, "{above}");
    }

    #[test]
    fn refuses_bad_arguments() {
        let good = BallsInBins { noise_multiplier: 1.0, steps_per_epoch: 10, epochs: 1 };
        let value = |training: BallsInBins, delta, error| {
            training.epsilon_upper(delta, Directions::Both, error)
        };
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(value(BallsInBins { noise_multiplier: bad, ..good }, 1e-5, 1e-2).is_err());
            assert!(value(good, bad, 1e-2).is_err() && value(good, 1e-5, bad).is_err());
        }
        assert!(value(BallsInBins { steps_per_epoch: 0, ..good }, 1e-5, 1e-2).is_err());
        assert!(value(BallsInBins { epochs: 0, ..good }, 1e-5, 1e-2).is_err());
    }
}
