//! A run in which the target is in one of several outputs of an epoch, or in none.

use crate::accounting::error::argument;
use crate::accounting::{AccountingError, Training};

/// A run in which, with probability w, one of T outputs per epoch has mean g with the target and g
/// − 1 without; all other outputs have mean 0. The position may have any distribution.
///
/// A shuffle has w = 1, g = 2. Records that are left out of an epoch reduce w, and so does using
/// only part of the outputs.
///
/// | field | meaning | domain |
/// |---|---|---|
/// | `noise_multiplier` | σ | [0.01, 1e6] |
/// | `slots` | T | 1 to 1e9 |
/// | `presence` | w | (0, 1] |
/// | `gap` | g | [1, 1e10] |
/// | `epochs` | E, drawn independently | 1 to 1e6 |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TargetSlots {
    /// Noise multiplier σ.
    pub noise_multiplier: f64,
    /// Outputs per epoch, T.
    pub slots: u64,
    /// Probability w that an epoch uses the target.
    pub presence: f64,
    /// Mean g of the output with the target.
    pub gap: f64,
    /// Number of epochs, E.
    pub epochs: u64,
}

impl From<Training> for TargetSlots {
    fn from(run: Training) -> Self {
        let Training { noise_multiplier, steps_per_epoch, epochs, .. } = run;
        TargetSlots { noise_multiplier, slots: steps_per_epoch, presence: 1.0, gap: 2.0, epochs }
    }
}

impl TargetSlots {
    /// The shuffle with the same number of slots.
    pub(super) fn as_shuffle(&self) -> Training {
        let TargetSlots { noise_multiplier, slots, epochs, .. } = *self;
        Training { noise_multiplier, steps_per_epoch: slots, epochs, sampling_rate: None }
    }

    pub(super) fn check(&self) -> Result<(), AccountingError> {
        self.as_shuffle().check_shuffle()?;
        if !(self.presence > 0.0 && self.presence <= 1.0) {
            return Err(argument("presence", self.presence, "above 0 and at most 1"));
        }
        if !(1.0..=1e10).contains(&self.gap) {
            return Err(argument("gap", self.gap, "between 1 and 1e10"));
        }
        Ok(())
    }

    /// The run in which a record with the opposed gradient replaces the target.
    ///
    /// The output has mean g with the target and g − 2 with the substitute: in units of 2, means g/2 and
    /// g/2 − 1 at half the noise. Its position does not depend on the records.
    #[must_use]
    pub fn replaced(self) -> Self {
        let (noise_multiplier, gap) = (0.5 * self.noise_multiplier, 0.5 * self.gap);
        TargetSlots { noise_multiplier, gap, ..self }
    }
}
