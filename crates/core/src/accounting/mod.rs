//! What theory says of ε: what an accountant claims, what is proven, and the pair's own value.
//!
//! Lower and upper bounds here are proven, not counted; what runs show is in
//! [`bound`](crate::audit::bound).

mod balls_in_bins;
mod bracket;
mod calibration;
mod deterministic;
mod error;
mod fft;
pub mod pair;
mod pld;
mod poisson;
mod result;
pub mod shuffle;

pub use balls_in_bins::BallsInBins;
pub use calibration::{
    Calibrated, PrivacyTarget, balls_in_bins_epochs, balls_in_bins_noise, deterministic_epochs,
    deterministic_noise, poisson_epochs, poisson_noise, poisson_steps,
};
pub use deterministic::DeterministicBatches;
pub use error::AccountingError;
pub use pld::{PrivacyLossDistribution, Rounding, Target, TradeOffPoint};
pub use poisson::PoissonSampling;
pub use result::{
    Account, DeltaEstimate, DeltaLowerBound, DeltaUpperBound, Directions, EpsilonEstimate,
    EpsilonLowerBound, EpsilonUpperBound, Method,
};
