//! Which records of a file are kept, and which of them are held out.

use std::collections::BTreeMap;

use super::summary::LoadSummary;
use super::{LabelledRecords, LoadOptions};
use crate::data::draws::fixed_order;
use crate::data::error::DataError;
use crate::data::examples::{Examples, Features};

/// Most classes.
const MOST_CLASSES: usize = 4096;

/// Keeps the classes asked for and splits their records.
pub(super) fn select(
    name: &str,
    raw: LabelledRecords,
    options: &LoadOptions<'_>,
) -> Result<Examples, DataError> {
    let counts = counts(&raw.labels);
    let classes = classes(name, &counts, options.classes)?;
    let class_of: BTreeMap<u32, u32> = classes.iter().copied().zip(0..).collect();
    let kept: Vec<u32> = (0..)
        .zip(&raw.labels)
        .filter(|(_, label)| class_of.contains_key(label))
        .map(|(record, _)| record)
        .collect();
    let trained = options.records.unwrap_or(kept.len());
    if !(1..=kept.len()).contains(&trained) {
        let (name, present) = (name.to_owned(), kept.len());
        return Err(DataError::TooFewRecords { name, asked: trained, present });
    }
    let order = fixed_order(kept.len());
    let order: Vec<u32> = order.into_iter().map(|place| kept[place as usize]).collect();
    let part = |records: &[u32]| {
        let labels =
            records.iter().filter_map(|&record| class_of.get(&raw.labels[record as usize]));
        let features = raw.features.rows(records, raw.shape.len());
        Examples::new(name, raw.shape, classes.len(), labels.copied().collect(), features)
    };
    let (to_train, held_out) = order.split_at(trained);
    let summary = LoadSummary {
        format: raw.format,
        records: raw.labels.len(),
        other_classes: raw.labels.len() - kept.len(),
        classes: classes
            .iter()
            .map(|label| (*label, counts.get(label).copied().unwrap_or(0)))
            .collect(),
        trained,
        held_out: held_out.len(),
        features: match raw.features {
            Features::Bits(_) => "0 or 1",
            Features::Bytes(_) => "bytes as 2·byte/255 − 1",
            Features::Floats(_) => "as they are",
        },
    };
    let held_out = if held_out.is_empty() { None } else { Some(part(held_out)) };
    Ok(part(to_train).with_held_out(held_out).with_load_summary(summary))
}

/// Records by label.
fn counts(labels: &[u32]) -> BTreeMap<u32, usize> {
    let mut counts = BTreeMap::new();
    for &label in labels {
        *counts.entry(label).or_insert(0) += 1;
    }
    counts
}

/// The labels of class 0, 1, ….
fn classes(
    name: &str,
    counts: &BTreeMap<u32, usize>,
    asked: Option<&[u32]>,
) -> Result<Vec<u32>, DataError> {
    let classes = match asked {
        None => counts.keys().copied().collect(),
        Some(asked) => asked.to_vec(),
    };
    let count = classes.len();
    if count < 2 {
        return Err(DataError::TooFewClasses { name: name.to_owned(), classes: count });
    }
    if count > MOST_CLASSES {
        let name = name.to_owned();
        return Err(DataError::TooManyClasses { name, classes: count, most: MOST_CLASSES });
    }
    for (place, &class) in classes.iter().enumerate() {
        if classes[..place].contains(&class) {
            return Err(DataError::ClassTwice { class });
        }
        if !counts.contains_key(&class) {
            let shown: Vec<String> = counts.keys().take(20).map(u32::to_string).collect();
            let more = if counts.len() > shown.len() { ", …" } else { "" };
            let (name, available) = (name.to_owned(), format!("{}{more}", shown.join(", ")));
            return Err(DataError::NoSuchClass { name, class, available });
        }
    }
    Ok(classes)
}
