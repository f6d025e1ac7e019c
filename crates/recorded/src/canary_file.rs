//! The file of canaries: what is known of them before the training.

use std::collections::HashMap;

use dpscope_core::audit::one_run::CanaryFeature;
use dpscope_core::random::content_seed;
use dpscope_formats::Array;

use crate::{File, FileError};

/// Inputs and labels of canaries; a file without these names has one array, the inputs.
#[derive(Debug, Clone)]
pub struct CanaryFile {
    /// One record for each entry of the first axis.
    pub inputs: Array,
    /// One for each record, where the file has them.
    pub labels: Option<Vec<f64>>,
}

impl CanaryFile {
    /// Reads inputs and labels of canaries.
    ///
    /// # Errors
    /// A file that cannot be read, numbers that are not finite, or another number of labels.
    pub fn read(file: &File<'_>) -> Result<Self, FileError> {
        let unreadable = |error| file.unreadable(error);
        let dataset = file.dataset()?;
        let has = |name: &str| dataset.names().contains(&name);
        let labels = has("labels").then(|| dataset.array("labels")).transpose();
        let labels = labels.map_err(unreadable)?;
        let inputs = match has("inputs") {
            true => dataset.array("inputs"),
            false => dataset.into_only(),
        };
        let inputs = inputs.map_err(unreadable)?;
        for (name, array) in [("inputs", Some(&inputs)), ("labels", labels.as_ref())] {
            if let Some(found) = array.and_then(Array::non_finite) {
                let why = format!("{name} has {} at index {:?}", found.value, found.index);
                return Err(file.refused(format!("{why}: canaries must be finite")));
            }
        }
        let found = CanaryFile { inputs, labels: labels.map(Array::into_data) };
        if let Some(labels) = found.labels.as_ref().filter(|labels| labels.len() != found.len()) {
            let (labels, canaries) = (labels.len(), found.len());
            return Err(file.refused(format!("has {labels} labels for {canaries} inputs")));
        }
        Ok(found)
    }

    /// Number of canaries: the first axis.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "arrays have at least one record")]
    pub fn len(&self) -> usize {
        self.inputs.shape().first().copied().unwrap_or(1)
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        let width = (self.inputs.data().len() / self.len().max(1)).max(1);
        self.inputs.data().chunks(width)
    }

    /// Mean and norm of each input, and the labels.
    #[must_use]
    pub fn features(&self) -> Vec<(CanaryFeature, Vec<f64>)> {
        let mean = |row: &[f64]| row.iter().sum::<f64>() / row.len() as f64;
        let norm = |row: &[f64]| row.iter().map(|value| value * value).sum::<f64>().sqrt();
        let mut features = vec![
            (CanaryFeature::InputMean, self.rows().map(mean).collect()),
            (CanaryFeature::InputNorm, self.rows().map(norm).collect()),
        ];
        if let Some(labels) = &self.labels {
            features.push((CanaryFeature::Label, labels.clone()));
        }
        features
    }

    /// Canaries that equal a record of other data, labels included where both have them.
    ///
    /// # Errors
    /// Records of another size.
    pub fn found_in(&self, base: &CanaryFile) -> Result<u64, String> {
        let width = |file: &CanaryFile| file.inputs.data().len() / file.len().max(1);
        if width(self) != width(base) {
            return Err(format!(
                "has {} values per record, but the canaries have {}; pass the training records in \
                 the same format as the canaries",
                width(base),
                width(self)
            ));
        }
        let is_labelled = self.labels.is_some() && base.labels.is_some();
        let label = |file: &CanaryFile, place: usize| {
            file.labels.as_ref().filter(|_| is_labelled).map_or(0.0, |labels| labels[place])
        };
        let mut canaries: HashMap<u64, Vec<usize>> = HashMap::with_capacity(self.len());
        let rows: Vec<&[f64]> = self.rows().collect();
        for (place, row) in rows.iter().enumerate() {
            canaries.entry(content_seed([row, &[label(self, place)]])).or_default().push(place);
        }
        let mut is_found = vec![false; rows.len()];
        for (record, row) in base.rows().enumerate() {
            let own = label(base, record);
            for &place in canaries.get(&content_seed([row, &[own]])).into_iter().flatten() {
                is_found[place] |= rows[place] == row && label(self, place) == own;
            }
        }
        Ok(is_found.into_iter().filter(|&found| found).count() as u64)
    }

    /// Canaries that equal an earlier one, labels included.
    #[must_use]
    pub fn copies(&self) -> u64 {
        let label = |place: usize| self.labels.as_ref().map_or(0.0, |labels| labels[place]);
        let rows: Vec<&[f64]> = self.rows().collect();
        let mut first: HashMap<u64, usize> = HashMap::with_capacity(rows.len());
        let mut copies = 0;
        for (place, row) in rows.iter().enumerate() {
            let earlier = *first.entry(content_seed([row, &[label(place)]])).or_insert(place);
            let is_equal = rows[earlier] == *row && label(earlier) == label(place);
            copies += u64::from(earlier != place && is_equal);
        }
        copies
    }
}
