//! ε of many training runs, given as columns of numbers.

use dpscope_core::accounting::{Accounted, Given, Training};

use crate::failure::Failure;
use crate::input::integer;

/// A training run per row. The sampling rate is `uses_per_epoch` over the steps, 1 over them if it is
/// `None`.
pub(crate) struct TrainingColumns<'a> {
    pub(crate) noise_multipliers: &'a [f64],
    pub(crate) steps: &'a [f64],
    pub(crate) epochs: &'a [f64],
    pub(crate) deltas: &'a [f64],
    pub(crate) uses_per_epoch: Option<f64>,
}

impl TrainingColumns<'_> {
    /// ε of each row; NaN where there is none.
    ///
    /// # Errors
    /// Columns of different lengths, or of more than `most` rows.
    pub(crate) fn epsilons(
        &self,
        most: usize,
        proven: impl Fn(Training, Given) -> Result<Accounted, Failure>,
    ) -> Result<Vec<f64>, Failure> {
        let TrainingColumns { noise_multipliers, steps, epochs, deltas, .. } = *self;
        let rows = noise_multipliers.len();
        for (name, column) in [("steps", steps), ("epochs", epochs), ("deltas", deltas)] {
            if column.len() != rows {
                return Err(Failure::input(name, &["must be as long as noise_multipliers"]));
            }
        }
        if rows > most {
            let allowed = format!("a column of at most {most} numbers");
            return Err(Failure::outside("noise_multipliers", rows as f64, &allowed));
        }
        let epsilon = |index| Some(proven(self.training(index)?, self.given(index)?).ok()?.epsilon);
        Ok((0..rows).map(|index| epsilon(index).unwrap_or(f64::NAN)).collect())
    }

    fn training(&self, index: usize) -> Option<Training> {
        let steps_per_epoch = integer("steps", *self.steps.get(index)?, 1).ok()?;
        Some(Training {
            noise_multiplier: *self.noise_multipliers.get(index)?,
            steps_per_epoch,
            epochs: integer("epochs", *self.epochs.get(index)?, 1).ok()?,
            sampling_rate: self.uses_per_epoch.map(|uses| uses / steps_per_epoch as f64),
        })
    }

    fn given(&self, index: usize) -> Option<Given> {
        Some(Given::Delta(*self.deltas.get(index)?))
    }
}
