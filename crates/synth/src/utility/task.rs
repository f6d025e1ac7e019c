//! What classifiers predict, and how rows become features.

use dpscope_core::ranking::RankingQuality;

use super::{Classifier, UtilityError};
use crate::table::{ColumnKind, Encoding, Rows, Schema};

/// Most rows that classifiers learn from, and most that they are tested on: the first of them.
const MOST_ROWS: usize = 10_000;

/// A category of the label, predicted from the other columns.
///
/// Columns are encoded by their public description ([`Encoding::public`]) and standardised: mean 0 and
/// variance 1 of the rows that classifiers learn from, which are synthetic. Real rows change nothing
/// (`unit::real_rows_do_not_change_the_scaling`).
///
/// # Example
/// ```
/// use dpscope_synth::table::{Column, ColumnKind, Rows, Schema};
/// use dpscope_synth::utility::UtilityTask;
/// let names = ["no", "yes"].map(String::from).to_vec();
/// let columns = [("x", ColumnKind::Number { low: 0.0, high: 9.0 }), ("ill", ColumnKind::Category { names })];
/// let columns = columns.map(|(name, kind)| Column { name: name.to_string(), kind });
/// let schema = Schema::new(columns.to_vec())?.with_label("ill")?;
/// let rows = |values: &[f64]| Rows { columns: 2, values: values.to_vec() };
/// let synthetic = rows(&[0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 7.0, 1.0, 8.0, 1.0, 9.0, 1.0]);
/// let real = rows(&[0.5, 0.0, 1.5, 0.0, 7.5, 1.0]);
/// let found = UtilityTask::new(&schema, None)?.qualities(&synthetic, &real, 1)?;
/// assert!(found.iter().all(|quality| quality.auroc == 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct UtilityTask {
    label: usize,
    /// Position of the category among the names.
    category: f64,
    label_name: String,
    category_name: String,
    features: Encoding,
}

impl UtilityTask {
    /// Task of a schema with a label.
    ///
    /// | argument | meaning |
    /// |---|---|
    /// | `schema` | columns, with a label |
    /// | `positive` | the category; the last one if none is named |
    ///
    /// # Errors
    /// No label, no such category, or no other column.
    pub fn new(schema: &Schema, positive: Option<&str>) -> Result<Self, UtilityError> {
        let label = schema.label().ok_or(UtilityError::NoLabel)?;
        let column = &schema.columns()[label];
        let ColumnKind::Category { names } = &column.kind else {
            return Err(UtilityError::NoLabel);
        };
        let category = match positive {
            None => names.len().saturating_sub(1),
            Some(name) => names
                .iter()
                .position(|other| other == name)
                .ok_or_else(|| UtilityError::NoCategory { name: name.to_owned() })?,
        };
        let mut others = schema.columns().to_vec();
        others.remove(label);
        Ok(UtilityTask {
            label,
            category: category as f64,
            label_name: column.name.clone(),
            category_name: names.get(category).cloned().unwrap_or_default(),
            features: Encoding::public(&Schema::new(others)?),
        })
    }

    /// Name of the label.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label_name
    }

    /// Name of the category.
    #[must_use]
    pub fn positive(&self) -> &str {
        &self.category_name
    }

    /// Number of these rows that are tested on, and the share of the category among them.
    ///
    /// # Errors
    /// [`UtilityError::Test`]: all are of one class.
    pub fn tested(&self, test: &Rows) -> Result<(u64, f64), UtilityError> {
        let classes = self.classes(test);
        // constant scores have the share
        let constant = RankingQuality::of(&vec![0.0; classes.len()], &classes)?;
        Ok((classes.len() as u64, constant.auprc))
    }

    /// Areas of each classifier of [`Classifier::ALL`], trained on synthetic rows and tested on real ones.
    ///
    /// | argument | meaning |
    /// |---|---|
    /// | `synthetic` | rows to learn from; the first 10,000 |
    /// | `test` | real rows; the first 10,000 |
    /// | `seed` | seed of the forest |
    ///
    /// # Guarantee
    /// Rows of one class give constant scores: AUROC ½, and the share of the class as AUPRC
    /// (`unit::rows_of_one_class_give_constant_scores`).
    ///
    /// # Errors
    /// The real rows are of one class.
    pub fn qualities(
        &self,
        synthetic: &Rows,
        test: &Rows,
        seed: u64,
    ) -> Result<Vec<RankingQuality>, UtilityError> {
        let ([mut rows, mut tested], classes) = (
            [synthetic, test].map(|rows| self.encoded(rows)),
            [synthetic, test].map(|rows| self.classes(rows)),
        );
        let scaler = Scaler::of(&rows);
        rows.iter_mut().chain(&mut tested).for_each(|row| scaler.apply(row));
        let [learned, expected] = &classes;
        let quality = |classifier: &Classifier| {
            let scores = classifier.scores(&rows, learned, &tested, seed);
            Ok(RankingQuality::of(&scores, expected)?)
        };
        Classifier::ALL.iter().map(quality).collect()
    }

    fn classes(&self, rows: &Rows) -> Vec<bool> {
        let of_class = |row: &[f64]| row.get(self.label) == Some(&self.category);
        rows.iter().take(MOST_ROWS).map(of_class).collect()
    }

    fn encoded(&self, rows: &Rows) -> Vec<Vec<f64>> {
        let without_label = |row: &[f64]| {
            let others = row.iter().enumerate().filter(|(at, _)| *at != self.label);
            others.map(|(_, value)| *value).collect::<Vec<f64>>()
        };
        let columns = rows.columns.saturating_sub(1);
        let values = rows.iter().take(MOST_ROWS).flat_map(without_label).collect();
        let encoded = self.features.encode(&Rows { columns, values });
        encoded.chunks_exact(self.features.width()).map(<[f64]>::to_vec).collect()
    }
}

/// Means and standard deviations of features; 1 for one that is constant.
#[derive(Debug, Clone, PartialEq)]
struct Scaler {
    means: Vec<f64>,
    spreads: Vec<f64>,
}

impl Scaler {
    fn of(rows: &[Vec<f64>]) -> Self {
        let (count, width) = (rows.len().max(1) as f64, rows.first().map_or(0, Vec::len));
        let mean = |at: usize| rows.iter().map(|row| row[at]).sum::<f64>() / count;
        let means: Vec<f64> = (0..width).map(mean).collect();
        let spread = |(at, mean): (usize, &f64)| {
            let squares = rows.iter().map(|row| (row[at] - mean) * (row[at] - mean));
            let spread = (squares.sum::<f64>() / count).sqrt();
            // of a constant, the mean may be rounded
            if spread > 1e-12 { spread } else { 1.0 }
        };
        let spreads = means.iter().enumerate().map(spread).collect();
        Scaler { means, spreads }
    }

    fn apply(&self, row: &mut [f64]) {
        for ((x, mean), spread) in row.iter_mut().zip(&self.means).zip(&self.spreads) {
            *x = (*x - mean) / spread;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    fn schema() -> Schema {
        let names = ["no", "yes", "perhaps"].map(String::from).to_vec();
        let colours = ["red", "green"].map(String::from).to_vec();
        let columns = [
            ("x", ColumnKind::Number { low: -5.0, high: 15.0 }),
            ("ill", ColumnKind::Category { names }),
            ("colour", ColumnKind::Category { names: colours }),
        ];
        let columns = columns.map(|(name, kind)| Column { name: name.to_string(), kind });
        Schema::new(columns.to_vec()).unwrap().with_label("ill").unwrap()
    }

    /// x follows the label, colour does not.
    fn rows(count: usize, label: impl Fn(usize) -> f64) -> Rows {
        let row = |at: usize| {
            let x = 3.0 * label(at) + (at * 7 % 10) as f64 / 2.0;
            [x, label(at), (at % 2) as f64]
        };
        Rows { columns: 3, values: (0..count).flat_map(row).collect() }
    }

    #[test]
    fn the_class_is_told_from_the_rest() {
        let (synthetic, test) =
            (rows(90, |at| (at % 3) as f64), rows(60, |at| (at / 2 % 3) as f64));
        let task = UtilityTask::new(&schema(), None).unwrap();
        assert_eq!((task.label(), task.positive()), ("ill", "perhaps"));
        for quality in task.qualities(&synthetic, &test, 1).unwrap() {
            assert!(quality.auroc > 0.85 && quality.auprc > 0.7, "{quality:?}");
        }
        // where the label of synthetic rows is unrelated to x, nothing is learned
        let mut unrelated = synthetic.clone();
        unrelated.values.chunks_exact_mut(3).enumerate().for_each(|(at, row)| {
            row[1] = (at * 11 % 7 % 3) as f64;
        });
        let found = task.qualities(&unrelated, &test, 1).unwrap();
        let mean = found.iter().map(|quality| quality.auroc).sum::<f64>() / found.len() as f64;
        assert!((0.3..0.7).contains(&mean), "{found:?}");
        let no = UtilityTask::new(&schema(), Some("no")).unwrap();
        assert!(no.qualities(&synthetic, &test, 1).unwrap()[0].auroc > 0.85);
    }

    #[test]
    fn rows_of_one_class_give_constant_scores() {
        let test = rows(60, |at| f64::from(u8::from(at % 4 == 0)) + 1.0);
        let task = UtilityTask::new(&schema(), None).unwrap();
        for synthetic in [rows(30, |_| 1.0), rows(30, |_| 2.0), rows(0, |_| 0.0)] {
            for quality in task.qualities(&synthetic, &test, 1).unwrap() {
                assert_eq!((quality.auroc, quality.auprc), (0.5, 0.25));
            }
        }
        let one_class = task.qualities(&test, &rows(30, |_| 1.0), 1).unwrap_err();
        assert!(matches!(one_class, UtilityError::Test(_)), "{one_class}");
        // few rows, and features without a spread
        let few = Rows { columns: 3, values: vec![1.0, 2.0, 0.0, 1.0, 1.0, 0.0] };
        assert!(task.qualities(&few, &test, 1).is_ok());
    }

    #[test]
    fn real_rows_do_not_change_the_scaling() {
        let synthetic = rows(60, |at| (at % 3) as f64);
        let task = UtilityTask::new(&schema(), None).unwrap();
        let test = rows(30, |at| (at % 3) as f64);
        let twice = Rows { columns: 3, values: [&test.values[..], &test.values].concat() };
        let mut shifted = twice.clone();
        shifted.values[90..].chunks_exact_mut(3).for_each(|row| row[0] = 14.0);
        // scores of the first half do not depend on the second
        let encoded = |test: &Rows| {
            let (rows, mut test) = (task.encoded(&synthetic), task.encoded(test));
            let scaler = Scaler::of(&rows);
            test.iter_mut().for_each(|row| scaler.apply(row));
            test
        };
        assert_eq!(encoded(&twice)[..30], encoded(&shifted)[..30]);
        let fitted_to_test = |test: &Rows| Scaler::of(&task.encoded(test));
        assert_ne!(fitted_to_test(&twice), fitted_to_test(&shifted));
        let mut scaled = task.encoded(&synthetic);
        let scaler = Scaler::of(&scaled);
        scaled.iter_mut().for_each(|row| scaler.apply(row));
        let again = Scaler::of(&scaled);
        assert!(again.means.iter().all(|mean| mean.abs() < 1e-12));
        assert!(again.spreads.iter().all(|spread| (spread - 1.0).abs() < 1e-12));
    }

    #[test]
    fn tasks_without_a_class_or_features_are_refused() {
        let unlabelled = Schema::new(schema().columns().to_vec()).unwrap();
        assert_eq!(UtilityTask::new(&unlabelled, None).unwrap_err(), UtilityError::NoLabel);
        let unknown = UtilityTask::new(&schema(), Some("maybe")).unwrap_err();
        assert_eq!(unknown, UtilityError::NoCategory { name: "maybe".to_owned() });
        let alone = Schema::new(vec![schema().columns()[1].clone()]).unwrap();
        let alone = alone.with_label("ill").unwrap();
        assert!(matches!(UtilityTask::new(&alone, None), Err(UtilityError::Features(_))));
    }
}
