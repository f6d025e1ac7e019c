//! How far one participant changes C·x.

use super::participation::{MatrixParticipation, Spread};
use super::strategy::{Form, MatrixStrategy};
use crate::accounting::AccountingError;
use crate::accounting::error::argument;

/// The most that participants change C·x, in units of the clipping norm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MatrixSensitivity {
    /// That of the worst participant: the exact value, or more.
    pub worst: f64,
    /// Whether some participant changes C·x as much.
    pub is_exact: bool,
    /// That of the participant whose steps are the latest.
    pub last: f64,
    /// Relative rounding error of each, at most.
    pub relative_error: f64,
}

/// max ‖Σ_{r∈R} C_r ⊗ u_r‖² over updates u_r of norm at most 1, for given steps R.
#[derive(Debug, Clone, Copy)]
struct PatternSquare {
    square: f64,
    is_exact: bool,
}

/// Most products of entries that are summed.
const MOST_PRODUCTS: f64 = 4e9;

impl MatrixStrategy {
    /// The most that one participant changes C·x, max ‖Σ_{r∈R} C_r ⊗ u_r‖ over its steps R and its
    /// updates u_r, vectors of norm at most 1.
    ///
    /// Its square is Σ_{r,s∈R} G_rs⟨u_r, u_s⟩ with G = CᵀC. If no such G_rs is negative, equal updates
    /// are the worst, with ‖C·1_R‖. If some are, other updates can be worse than equal ones, in two or more
    /// dimensions also than all signs ±1, and Σ|G_rs| is a bound.
    ///
    /// | participation | Toeplitz | other matrices |
    /// |---|---|---|
    /// | single | ‖c‖, exact | the largest norm of a column, exact |
    /// | epochs | C·1 of the steps 0, T/E, …, exact for c ≥ 0 | maximum over first steps, exact for G ≥ 0 |
    /// | minimum separation b | steps 0, b, …: exact for decreasing c ≥ 0, and for at most b bands | bound by dynamic programming, exact if columns b apart are orthogonal |
    /// | shuffled | Σ over epochs of the largest possible term | the same bound |
    /// | cyclic Poisson | ‖c‖: that of one step | the largest norm of a column |
    ///
    /// Decreasing c ≥ 0: G_rs with r < s is Σ_i c_i c_{i+s−r} over i < T − s, which does not grow with s
    /// nor with s − r. The j-th of steps R that are b apart is at least jb, and two of them, j and l, are at
    /// least |j − l|b apart. So no term exceeds that of the steps 0, b, 2b, …, and no further step
    /// makes the sum smaller. At most b bands: columns have disjoint rows, so that the sum has the squares
    /// of the norms alone, which are largest for early columns.
    ///
    /// Any other Toeplitz matrix: |G_rs| ≤ m(|r − s|) with m(d) = max_{e≥d} Σ_i |c_i c_{i+e}|, hence
    /// Σ_{j,l<k} m(|j − l|b). Other matrices: for each r the largest Σ|G_rs| over steps s that are b
    /// apart from it and from each other, of which again those of steps that are b apart are summed; both
    /// maxima by dynamic programming.
    ///
    /// # Guarantee
    /// No participant of up to 10 steps changes C·x more, whatever its updates, and exact values are
    /// attained (`crates/core/src/accounting/matrix/tests.rs::sensitivities_are_those_of_every_participation`); columns of the wrong
    /// steps, and sums without their square root, are rejected there.
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain of
    /// [`MatrixParticipation::check`]; for groups of [`MatrixParticipation::CyclicPoisson`] fewer than the
    /// bands; for too many products.
    ///
    /// # Reference
    /// Choquette-Choo et al., arXiv 2211.06530, for equal updates; arXiv 2306.08153, algorithms 3 and 4, for
    /// dynamic programming (there with columns that are closer than b to r as well); Kalinin and
    /// Lampert, arXiv 2405.13763, theorem 2, for decreasing coefficients.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::accounting::matrix::{MatrixParticipation, MatrixStrategy};
    /// let strategy = MatrixStrategy::banded_square_root(100, 10);
    /// let epochs = MatrixParticipation::Epochs { epochs: 5 };
    /// let found = strategy.l2_sensitivity(&epochs)?;
    /// assert_eq!(format!("{:.6} {}", found.worst, found.is_exact), "2.236068 true"); // √5
    /// # Ok::<(), dpscope_core::accounting::AccountingError>(())
    /// ```
    pub fn l2_sensitivity(
        &self,
        participation: &MatrixParticipation,
    ) -> Result<MatrixSensitivity, AccountingError> {
        participation.check(u32::try_from(self.steps()).unwrap_or(u32::MAX))?;
        let spread = participation.spread(self.steps());
        let products = spread.participations as f64 * self.column_length() as f64;
        check_products(self, products)?;
        let PatternSquare { square, is_exact } = match *participation {
            MatrixParticipation::Single => self.largest_column(),
            MatrixParticipation::CyclicPoisson { groups, .. } => {
                if (groups as usize) < self.bands() {
                    let allowed = "at least the number of bands: steps of a group must not overlap";
                    return Err(argument("groups", f64::from(groups), allowed));
                }
                self.largest_column()
            }
            MatrixParticipation::Epochs { .. } => self.square_of_one_order(spread)?,
            MatrixParticipation::Shuffled { epochs } => PatternSquare {
                square: self.square_of_epochs(spread.separation),
                is_exact: epochs == 1
                    || self.bands() == 1
                    || (spread.separation == 1 && self.is_non_negative()),
            },
            MatrixParticipation::MinSeparation { .. } => self.square_of_separated(spread)?,
        };
        let last = match participation {
            MatrixParticipation::CyclicPoisson { .. } => self.pattern(&[self.steps() - 1]),
            _ => self.pattern(&spread.to_last(self.steps()).collect::<Vec<_>>()),
        };
        Ok(MatrixSensitivity {
            worst: square.sqrt(),
            is_exact,
            last: last.square.sqrt(),
            relative_error: (products + 2.0 * self.steps() as f64 + 16.0) * f64::EPSILON,
        })
    }

    /// The most that a participant in given steps changes C·x, and whether it is the exact value.
    ///
    /// Steps are counted from 0; those beyond the last one show nothing.
    #[must_use]
    pub fn pattern_sensitivity(&self, steps: &[u32]) -> (f64, bool) {
        let steps: Vec<usize> = steps.iter().map(|&step| step as usize).collect();
        let PatternSquare { square, is_exact } = self.pattern(&steps);
        (square.sqrt(), is_exact)
    }

    fn pattern(&self, steps: &[usize]) -> PatternSquare {
        if steps.len() == 1 || self.is_non_negative() {
            let square = self.square(steps.iter().copied(), &mut vec![0.0; self.steps()]);
            return PatternSquare { square, is_exact: true };
        }
        let mut pattern = PatternSquare { square: 0.0, is_exact: true };
        for (at, &step) in steps.iter().enumerate() {
            for &other in &steps[..=at] {
                let product = self.product(other, step);
                pattern.is_exact &= product >= 0.0;
                pattern.square += product.abs() * if other == step { 1.0 } else { 2.0 };
            }
        }
        pattern
    }

    /// G_rs for r ≤ s.
    fn product(&self, first: usize, second: usize) -> f64 {
        let from = self.column(first).skip_while(|&(row, _)| row < second);
        from.zip(self.column(second)).map(|((_, a), (_, b))| a * b).sum()
    }

    /// The largest ‖C_r‖².
    fn largest_column(&self) -> PatternSquare {
        let columns = if self.coefficients().is_some() { 1 } else { self.steps() };
        let norm = |step| self.column(step).map(|(_, entry)| entry * entry).sum();
        PatternSquare { square: (0..columns).map(norm).fold(0.0, f64::max), is_exact: true }
    }

    /// Steps r, r + b, r + 2b, … for some r < b.
    fn square_of_one_order(&self, spread: Spread) -> Result<PatternSquare, AccountingError> {
        let is_toeplitz = self.coefficients().is_some();
        if is_toeplitz && !self.is_non_negative() {
            return Ok(self.majorant(spread));
        }
        // later first steps of a Toeplitz matrix show the same rows, and fewer of them
        let firsts = if is_toeplitz { 1 } else { spread.separation };
        if self.is_non_negative() {
            let mut seen = vec![0.0; self.steps()];
            let of = |first| self.square(spread.from(first), &mut seen);
            let square = (0..firsts).map(of).fold(0.0, f64::max);
            return Ok(PatternSquare { square, is_exact: true });
        }
        let (steps, count) = (self.steps() as f64, spread.participations as f64);
        check_products(self, 0.5 * steps * steps * count)?;
        let of = |first| self.pattern(&spread.from(first).collect::<Vec<_>>());
        let larger = |a: PatternSquare, b: PatternSquare| if b.square > a.square { b } else { a };
        Ok((0..firsts).map(of).fold(PatternSquare { square: 0.0, is_exact: true }, larger))
    }

    /// Any steps that are b apart.
    fn square_of_separated(&self, spread: Spread) -> Result<PatternSquare, AccountingError> {
        if let Some(coefficients) = self.coefficients() {
            let is_decreasing =
                coefficients.windows(2).all(|pair| pair[1] <= pair[0]) && self.is_non_negative();
            if is_decreasing || coefficients.len() <= spread.separation {
                let square = self.square(spread.from(0), &mut vec![0.0; self.steps()]);
                return Ok(PatternSquare { square, is_exact: true });
            }
            return Ok(self.majorant(spread));
        }
        self.square_by_programming(spread)
    }

    /// Σ_{j,l<k} m(|j − l|b) of a Toeplitz matrix.
    fn majorant(&self, spread: Spread) -> PatternSquare {
        let coefficients = self.coefficients().unwrap_or_default();
        let product = |lag: usize| {
            let pairs = coefficients.iter().zip(&coefficients[lag..]);
            pairs.map(|(a, b)| (a * b).abs()).sum::<f64>()
        };
        let products: Vec<f64> = (0..coefficients.len()).map(product).collect();
        let mut square = spread.participations as f64 * products[0];
        let mut most = 0.0_f64;
        for lag in (1..products.len()).rev() {
            most = most.max(products[lag]);
            let apart = lag / spread.separation;
            if lag.is_multiple_of(spread.separation) && apart < spread.participations {
                square += 2.0 * (spread.participations - apart) as f64 * most;
            }
        }
        PatternSquare { square, is_exact: spread.participations == 1 }
    }

    /// Two maxima by dynamic programming, from CᵀC row by row.
    fn square_by_programming(&self, spread: Spread) -> Result<PatternSquare, AccountingError> {
        let steps = self.steps();
        let passes = if spread.participations < steps.div_ceil(spread.separation) {
            spread.participations as f64
        } else {
            1.0
        };
        let row_cost = match self.form() {
            Form::Tree => 4.0,
            Form::Toeplitz(..) | Form::LowerTriangular(_) => 0.25 * steps as f64,
        };
        check_products(self, steps as f64 * steps as f64 * (passes + row_cost))?;
        let mut is_exact = true;
        let mut best = vec![0.0; steps + 1];
        let mut row = vec![0.0; steps];
        let mut rows = Vec::with_capacity(steps);
        for step in 0..steps {
            self.gram_row(step, &mut row);
            for (other, value) in row.iter_mut().enumerate() {
                if other != step && other.abs_diff(step) < spread.separation {
                    *value = 0.0;
                }
                *value = value.abs();
                is_exact &= *value == 0.0 || other == step;
            }
            rows.push(most_of_separated(&row, spread, &mut best));
        }
        let square = most_of_separated(&rows, spread, &mut best);
        Ok(PatternSquare { square, is_exact: is_exact || spread.participations == 1 })
    }

    /// A row of CᵀC.
    fn gram_row(&self, step: usize, row: &mut [f64]) {
        row.fill(0.0);
        for (below, entry) in self.column(step) {
            match self.form() {
                Form::Tree => {
                    let first = (below + 1) & below;
                    row[first..=below].iter_mut().for_each(|sum| *sum += 1.0);
                }
                Form::LowerTriangular(entries) => {
                    let values = &entries[below * (below + 1) / 2..][..=below];
                    row.iter_mut().zip(values).for_each(|(sum, value)| *sum += entry * value);
                }
                Form::Toeplitz(coefficients, _) => {
                    for (lag, value) in coefficients.iter().enumerate().take(below + 1) {
                        row[below - lag] += entry * value;
                    }
                }
            }
        }
    }

    /// An upper limit of ‖C·1_R‖² over all R with one step of each epoch, by absolute values:
    /// Σ_e max_{r∈e} Σ_t C_tr·(C_tr + Σ_{f≠e} max_{q∈f} C_tq).
    fn square_of_epochs(&self, per_epoch: usize) -> f64 {
        let entries = |first| {
            let columns = (first..first + per_epoch).flat_map(|step| self.column(step));
            columns.map(|(row, entry)| (row, entry.abs()))
        };
        let raise = |most: &mut [f64], first| {
            entries(first).for_each(|(row, entry)| most[row] = entry.max(most[row]));
        };
        let epochs = || (0..self.steps()).step_by(per_epoch);
        let (mut all, mut most) = (vec![0.0; self.steps()], vec![0.0; self.steps()]);
        for first in epochs() {
            raise(&mut most, first);
            entries(first).for_each(|(row, _)| all[row] += std::mem::take(&mut most[row]));
        }
        let of_epoch = |first| {
            raise(&mut most, first);
            let shown = |(row, entry): (usize, f64)| {
                let entry = entry.abs();
                entry * (entry + all[row] - most[row])
            };
            let of_step = |step| self.column(step).map(shown).sum::<f64>();
            let square = (first..first + per_epoch).map(of_step).fold(0.0, f64::max);
            entries(first).for_each(|(row, _)| most[row] = 0.0);
            square
        };
        epochs().map(of_epoch).sum()
    }
}

/// The largest sum of values ≥ 0 at places that are b apart, at most k of them; `best` is scratch memory.
fn most_of_separated(values: &[f64], spread: Spread, best: &mut [f64]) -> f64 {
    let Spread { separation, participations } = spread;
    let last = values.len();
    best.fill(0.0);
    if participations >= last.div_ceil(separation) {
        for place in (0..last).rev() {
            let chosen = values[place] + best[(place + separation).min(last)];
            best[place] = chosen.max(best[place + 1]);
        }
        return best[0];
    }
    for _ in 0..participations {
        // in ascending order, places behind still have the sums of one fewer
        for place in 0..last {
            best[place] = values[place] + best[(place + separation).min(last)];
        }
        for place in (0..last).rev() {
            best[place] = best[place].max(best[place + 1]);
        }
    }
    best[0]
}

fn check_products(strategy: &MatrixStrategy, products: f64) -> Result<(), AccountingError> {
    if products <= MOST_PRODUCTS {
        return Ok(());
    }
    let allowed = "fewer for this strategy and participation, which need more than 4e9 products";
    Err(argument("steps", strategy.steps() as f64, allowed))
}
