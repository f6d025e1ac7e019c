//! Descriptions of strategies.

use super::banded::optimised_bands;
use super::buffered::{LinearBuffers, MOST_OPTIMISED_BUFFERS};
use super::minimum::Minimum;
use super::participation::{MatrixParticipation, check_steps};
use super::prefix::PrefixObjective;
use super::strategy::{MatrixStrategy, check_bands};
use crate::accounting::AccountingError;
use crate::accounting::error::argument;

/// How a strategy is built from the number of steps and the participation.
#[derive(Debug, Clone, PartialEq)]
pub enum StrategyDesign {
    /// Independent noise.
    Identity,
    /// Tree aggregation without restarts.
    Tree,
    /// The first coefficients of (1 − x)^−½, of norm 1.
    BandedSquareRoot {
        /// Number of bands, 1 to T.
        bands: u32,
    },
    /// Bands c of norm 1 that minimise the error of prefix sums, the product of ‖c‖ and the error.
    BandedOptimised {
        /// Number of bands, 1 to T; times T at most 2·10⁷.
        bands: u32,
        /// The error that is minimised.
        objective: PrefixObjective,
    },
    /// Buffers that minimise the product of the error of prefix sums and of the norm that the worst
    /// participant shows: of steps 0, b, 2b, …, as for [`MatrixParticipation::MinSeparation`].
    BufferedOptimised {
        /// Number of buffers, 1 to 8; times T at most 10⁷.
        buffers: u32,
        /// The error that is minimised.
        objective: PrefixObjective,
    },
    /// Given buffers.
    Buffered(LinearBuffers),
}

/// Most products of T and bands, or buffers, in an optimisation.
const MOST_OPTIMISED: f64 = 2e7;

impl StrategyDesign {
    /// Builds the matrix.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `steps` | T | 1 to 10⁶ |
    /// | `participation` | for which buffers are optimised | see [`MatrixParticipation::check`] |
    ///
    /// # Guarantee
    /// Optimised strategies have no more error than published optima
    /// (`tests/oracles/matrix.rs::optimised_errors_are_those_of_jax_privacy`), no smaller one is found near
    /// them (`crates/core/src/accounting/matrix/tests.rs::no_smaller_error_is_near_an_optimum`), and that of the largest error with T bands is
    /// the square root (`crates/core/src/accounting/matrix/tests.rs::all_bands_of_the_least_largest_error_are_the_square_root`).
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain.
    ///
    /// # Numerics
    /// An optimisation ends where the quadratic model of the squared error predicts a relative decrease of
    /// less than 1e-11, and fails if 500 steps leave more than 1e-6. The search is local: the error is that
    /// of the result, whether or not another one is better. Deterministic.
    pub fn build(
        &self,
        steps: u32,
        participation: &MatrixParticipation,
    ) -> Result<MatrixStrategy, AccountingError> {
        check_steps(steps)?;
        participation.check(steps)?;
        let size = steps as usize;
        let check_size = |name, count: u32| {
            if f64::from(steps) * f64::from(count) <= MOST_OPTIMISED {
                return Ok(());
            }
            Err(argument(name, f64::from(count), "at most 2e7 over the number of steps"))
        };
        Ok(match self {
            StrategyDesign::Identity => MatrixStrategy::identity(steps),
            StrategyDesign::Tree => MatrixStrategy::tree(steps),
            StrategyDesign::BandedSquareRoot { bands } => {
                check_bands(steps, u64::from(*bands))?;
                MatrixStrategy::banded_square_root(steps, *bands)
            }
            StrategyDesign::BandedOptimised { bands, objective } => {
                check_bands(steps, u64::from(*bands))?;
                check_size("bands", *bands)?;
                let (coefficients, minimum) = optimised_bands(*bands, &objective.weights(size));
                check_end("bands", *bands, &minimum)?;
                MatrixStrategy::of_bands(steps, coefficients)
            }
            StrategyDesign::BufferedOptimised { buffers, objective } => {
                if !(1..=MOST_OPTIMISED_BUFFERS).contains(&(*buffers as usize)) {
                    return Err(argument("buffers", f64::from(*buffers), "in 1 to 8"));
                }
                check_size("buffers", *buffers)?;
                let spread = match participation {
                    MatrixParticipation::CyclicPoisson { .. } => {
                        MatrixParticipation::Single.spread(size)
                    }
                    _ => participation.spread(size),
                };
                let weights = objective.weights(size);
                let count = *buffers as usize;
                let (found, minimum) = LinearBuffers::optimised(count, &weights, spread);
                check_end("buffers", *buffers, &minimum)?;
                MatrixStrategy::buffered(steps, found)?
            }
            StrategyDesign::Buffered(buffers) => MatrixStrategy::buffered(steps, buffers.clone())?,
        })
    }
}

/// Rejects the end of a search that did not converge.
fn check_end(name: &'static str, count: u32, minimum: &Minimum) -> Result<(), AccountingError> {
    if minimum.decrease <= 1e-6 {
        return Ok(());
    }
    let allowed = "another number: the optimisation did not converge";
    Err(argument(name, f64::from(count), allowed))
}
