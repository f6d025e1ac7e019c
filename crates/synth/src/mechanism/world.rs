//! What runs of one world share.

use crate::accountant::{MomentTable, VoteAccountant, accounted_vote};
use crate::fault::{Fault, FaultSet};
use crate::mechanism::output::Release;
use crate::mechanism::real_rows::RealRows;
use crate::settings::{Settings, SettingsError, Stop};
use crate::table::{Encoding, Rows, Scaling, Table};

/// Largest batch of E12.
const LARGEST_BATCH: u32 = 64;

/// The rows of a world, encoded, and the settings that faults make depend on them.
#[derive(Debug, Clone)]
pub(super) struct WorldData {
    table: Table,
    pub(super) encoding: Encoding,
    pub(super) rows: RealRows,
    /// Settings of this world: batch size, δ and number of rows may depend on the data.
    pub(super) settings: Settings,
    /// Largest number of iterations.
    pub(super) iterations: u32,
    pub(super) moments: MomentTable,
    /// Standard deviation of the noise of training labels.
    pub(super) label_noise: Option<f64>,
    conditioned: bool,
}

impl WorldData {
    pub(super) fn new(
        table: &Table,
        settings: &Settings,
        faults: FaultSet,
    ) -> Result<Self, SettingsError> {
        let encoding = match () {
            () if faults.has(Fault::O3) => Encoding::fitted_to_extremes(table),
            () if faults.has(Fault::S3) => Encoding::fitted_mixtures(table),
            () => Encoding::public(table.schema()),
        };
        let count = table.rows().len() as u32;
        let mut settings = settings.clone();
        if faults.has(Fault::E1) {
            settings.rows = count.max(1);
        }
        if faults.has(Fault::E9) {
            settings.delta = 1.0 / f64::from(count.max(2));
        }
        if faults.has(Fault::E12) {
            settings.batch_size = count.clamp(1, LARGEST_BATCH);
        }
        let spending = settings.plan()?;
        let iterations = match settings.stop {
            Stop::Epsilon { at_most, .. } if faults.has(Fault::E8) => at_most,
            _ if faults.has(Fault::E6) => spending.iterations + 1,
            _ => spending.iterations,
        };
        let vote = accounted_vote(settings.teachers, settings.inverse_scale)?;
        let moments = MomentTable::new(VoteAccountant::of(faults), &vote, settings.orders)?;
        let width = table.schema().width();
        Ok(WorldData {
            rows: RealRows::new(width, encoding.encode(table.rows())),
            label_noise: label_noise(&settings, faults, spending.epsilon),
            conditioned: faults.has(Fault::O6),
            table: table.clone(),
            encoding,
            settings,
            iterations,
            moments,
        })
    }

    pub(super) fn ids(&self) -> &[u64] {
        self.table.ids()
    }

    /// Number of encoded columns.
    pub(super) fn width(&self) -> usize {
        self.table.schema().width()
    }

    /// Position of the label and its value in a row, for what is conditioned on labels.
    pub(super) fn label_of(&self, row: usize) -> Option<(usize, f64)> {
        let label = self.table.schema().label().filter(|_| self.conditioned)?;
        let columns = self.table.rows().columns;
        self.table.rows().values.get(row * columns + label).map(|value| (label, *value))
    }

    /// A label between −1 and 1.
    pub(super) fn label_code(&self, row: usize) -> f64 {
        let Some((label, value)) = self.label_of(row) else { return 0.0 };
        let names = self.table.schema().columns()[label].kind.width();
        2.0 * value / (names.max(2) - 1) as f64 - 1.0
    }

    pub(super) fn public_scalings(&self) -> Vec<Scaling> {
        Encoding::public(self.table.schema()).scalings().to_vec()
    }

    pub(super) fn label_noise_of(&self, faults: FaultSet) -> Option<f64> {
        let spent = self.settings.plan().ok()?.epsilon;
        label_noise(&self.settings, faults, spent)
    }

    /// Encoded rows between −1 and 1, and whether any column has numbers.
    pub(super) fn points(&self) -> (Vec<f64>, bool) {
        let width = self.width();
        let codes = (-8..=8).map(|at| f64::from(at) / 8.0);
        let kinds = self.table.schema().columns().iter().map(|column| &column.kind);
        let has_numbers = kinds.into_iter().any(|kind| kind.bounds().is_some());
        (codes.flat_map(|code| vec![code; width]).collect(), has_numbers)
    }

    /// Rows whose label is 0.
    pub(super) fn without_label(&self, mut rows: Rows) -> Rows {
        let label = self.table.schema().label();
        for row in rows.values.chunks_exact_mut(rows.columns.max(1)) {
            label.iter().for_each(|label| row[*label] = 0.0);
        }
        rows
    }

    pub(super) fn release(&self) -> Release {
        let label_counts = self.conditioned.then(|| {
            let mut counts = vec![0; self.table.label_counts().len()];
            let count = self.ids().len().max(1);
            let labels = (0..self.settings.rows as usize).map(|row| self.label_of(row % count));
            for (_, value) in labels.flatten() {
                counts[value as usize] += 1;
            }
            counts
        });
        Release {
            rows: self.settings.rows,
            batch_size: self.settings.batch_size,
            delta: self.settings.delta,
            scalings: self.encoding.scalings().to_vec(),
            label_counts,
        }
    }
}

/// √(2 ln(1.25/δ))/ε, and what was written in its place.
fn label_noise(settings: &Settings, faults: FaultSet, spent: f64) -> Option<f64> {
    use dpscope_core::math;
    let epsilon = match settings.stop {
        Stop::Epsilon { epsilon, .. } => epsilon,
        Stop::Iterations(_) => spent,
    };
    let exponent = (-math::log10(settings.delta)).round() as u32;
    let factor = match () {
        () if faults.has(Fault::T4) => math::powf(10.0, settings.delta),
        () if faults.has(Fault::O5) => f64::from(10 ^ exponent),
        () if faults.has(Fault::O4) => 1.0 / settings.delta,
        () => return None,
    };
    Some((2.0 * math::ln(1.25 * factor)).sqrt() / epsilon)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_of_training_labels_is_that_of_the_published_code() {
        let noise = |faults: &str| {
            label_noise(&Settings::default(), faults.parse().unwrap(), 0.0)
                .map(|noise| format!("{noise:.3}"))
        };
        assert_eq!(noise(""), None);
        assert_eq!(noise("O4").as_deref(), Some("4.845"));
        assert_eq!(noise("O5").as_deref(), Some("2.421"));
        assert_eq!(noise("T4").as_deref(), Some("0.668"));
    }
}
