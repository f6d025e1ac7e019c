//! Selection of classes and split into training and held-out records.

use std::collections::BTreeMap;

use dpscope_core::foreign_text::ForeignText;

use super::source::{LabelledRecords, LoadOptions};
use super::summary::LoadSummary;
use crate::data::draws::fixed_order;
use crate::data::error::DataError;
use crate::data::examples::{Examples, Features};

/// Maximum number of classes.
const MAX_CLASSES: usize = 4096;

/// Selects the requested classes and splits their records.
pub(super) fn select(
    name: &str,
    file: LabelledRecords,
    options: &LoadOptions<'_>,
) -> Result<Examples, DataError> {
    let counts = counts(&file.labels);
    let classes = classes(name, &counts, options.classes)?;
    let class_of: BTreeMap<u32, u32> = classes.iter().copied().zip(0..).collect();
    let selected: Vec<u32> = (0..)
        .zip(&file.labels)
        .filter(|(_, label)| class_of.contains_key(label))
        .map(|(record, _)| record)
        .collect();
    let trained = match options.records {
        Some(records) if file.clients.is_none() => records,
        _ => selected.len(),
    };
    if !(1..=selected.len()).contains(&trained) {
        let (name, available) = (ForeignText::new(name), selected.len());
        return Err(DataError::TooFewRecords { name, requested: trained, available });
    }
    let order = fixed_order(selected.len());
    let order: Vec<u32> = order.into_iter().map(|position| selected[position as usize]).collect();
    let part = |records: &[u32]| {
        let labels =
            records.iter().filter_map(|&record| class_of.get(&file.labels[record as usize]));
        let features = file.features.rows(records, file.shape.len());
        Examples::new(name, file.shape, classes.len(), labels.copied().collect(), features)
            .with_origins(records.to_vec())
    };
    let (training, held_out) = match &file.clients {
        None => (order[..trained].to_vec(), order[trained..].to_vec()),
        Some(clients) => {
            let mut is_trained = clients.is_trained(name, &order)?.into_iter();
            order.into_iter().partition(|_| is_trained.next().unwrap_or(false))
        }
    };
    let summary = LoadSummary {
        format: file.format,
        records: file.labels.len(),
        other_classes: file.labels.len() - selected.len(),
        classes: classes
            .iter()
            .map(|label| (*label, counts.get(label).copied().unwrap_or(0)))
            .collect(),
        trained: training.len(),
        held_out: held_out.len(),
        features: match file.features {
            Features::Bits(_) => "0 or 1",
            Features::Bytes(_) => "bytes as 2·byte/255 − 1",
            Features::Floats(_) => "unscaled",
        },
    };
    let held_out = if held_out.is_empty() { None } else { Some(part(&held_out)) };
    let trained = part(&training).with_held_out(held_out).with_load_summary(summary);
    let Some(clients) = &file.clients else { return Ok(trained) };
    let client = |&record: &u32| clients.of_records[record as usize];
    Ok(trained.with_clients(&clients.column, training.iter().map(client).collect()))
}

/// Number of records per label.
fn counts(labels: &[u32]) -> BTreeMap<u32, usize> {
    let mut counts = BTreeMap::new();
    for &label in labels {
        *counts.entry(label).or_insert(0) += 1;
    }
    counts
}

/// The label of each class.
fn classes(
    name: &str,
    counts: &BTreeMap<u32, usize>,
    requested: Option<&[u32]>,
) -> Result<Vec<u32>, DataError> {
    let classes = match requested {
        None => counts.keys().copied().collect(),
        Some(requested) => requested.to_vec(),
    };
    let count = classes.len();
    if count < 2 {
        return Err(DataError::TooFewClasses { name: ForeignText::new(name), classes: count });
    }
    if count > MAX_CLASSES {
        let name = ForeignText::new(name);
        return Err(DataError::TooManyClasses { name, classes: count, max: MAX_CLASSES });
    }
    for (index, &class) in classes.iter().enumerate() {
        if classes[..index].contains(&class) {
            return Err(DataError::ClassTwice { class });
        }
        if !counts.contains_key(&class) {
            let labels: Vec<String> = counts.keys().take(20).map(u32::to_string).collect();
            let more = if counts.len() > labels.len() { ", …" } else { "" };
            let (name, available) =
                (ForeignText::new(name), format!("{}{more}", labels.join(", ")));
            return Err(DataError::NoSuchClass { name, class, available });
        }
    }
    Ok(classes)
}
