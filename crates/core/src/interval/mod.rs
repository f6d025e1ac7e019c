//! Confidence and credible limits of a rate from a count.
//!
//! `tail` is one-sided throughout: the probability that the limit misses on its side.

mod clopper_pearson;
mod error;
mod jeffreys;
mod outward;

pub use clopper_pearson::{clopper_pearson_lower, clopper_pearson_upper};
pub use error::IntervalError;
pub use jeffreys::{jeffreys_lower, jeffreys_upper};
pub(crate) use outward::{rounded_down, rounded_up};

fn check(events: u64, trials: u64, tail: f64) -> Result<(), IntervalError> {
    if trials == 0 {
        return Err(IntervalError::NoTrials);
    }
    if events > trials {
        return Err(IntervalError::Events { events, trials });
    }
    if !(tail > 0.0 && tail < 1.0) {
        return Err(IntervalError::Tail { tail });
    }
    Ok(())
}
