//! Matrix mechanisms (DP-FTRL): trainings whose noise is correlated between steps.
//!
//! | what | item |
//! |---|---|
//! | the matrix C | [`StrategyDesign`] describes it, [`MatrixStrategy`] is it |
//! | who takes part when | [`MatrixParticipation`] |
//! | max ‖Σ C_r ⊗ u_r‖ | [`MatrixStrategy::l2_sensitivity`] |
//! | ε of the worst and the last participant, σ for an ε | [`MatrixMechanism`] |
//! | noise in prefix sums | [`MatrixStrategy::prefix_error`] |
//!
//! # Example
//! ```
//! use dpscope_core::accounting::matrix::{
//!     MatrixMechanism, MatrixParticipation, PrefixObjective, StrategyDesign,
//! };
//! let (steps, epochs) = (1000, MatrixParticipation::Epochs { epochs: 10 });
//! let design = StrategyDesign::BandedOptimised { bands: 16, objective: PrefixObjective::Mean };
//! let strategy = design.build(steps, &epochs)?;
//! let mechanism = MatrixMechanism::new(&strategy, epochs)?;
//! let noise_multiplier = mechanism.noise_for(4.0, 1e-5)?;
//! let error = noise_multiplier * strategy.prefix_error()?.root_mean_square;
//! println!("noise multiplier {noise_multiplier:.3}, error {error:.2}");
//! # Ok::<(), dpscope_core::accounting::AccountingError>(())
//! ```

mod banded;
mod buffered;
mod design;
mod mechanism;
mod minimum;
mod participation;
mod prefix;
mod sensitivity;
mod strategy;
#[cfg(test)]
mod tests;

pub use buffered::LinearBuffers;
pub use design::StrategyDesign;
pub use mechanism::{MatrixAccount, MatrixMechanism, ParticipantEpsilon};
pub use participation::MatrixParticipation;
pub use prefix::{PrefixError, PrefixObjective};
pub use sensitivity::MatrixSensitivity;
pub use strategy::{MOST_ROWS, MatrixStrategy, StrategyMatrixError};
