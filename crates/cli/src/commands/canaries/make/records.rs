//! Records of the user's file as canaries.

use std::path::Path;

use dpscope_core::random::{Purpose, Words};
use dpscope_formats::Array;

use crate::commands::audit::one_run::read_canaries;
use crate::failure::Failure;

/// Streams of random words of the choice and of labels.
const CHOICE: u64 = 1;
const LABELS: u64 = 2;

/// `count` records, uniformly at random without replacement, with their labels or other ones.
pub(super) fn chosen(
    path: &Path,
    count: u64,
    is_mislabelled: bool,
    seed: u64,
) -> Result<Vec<(&'static str, Array)>, Failure> {
    let refuse = |problem: String| Err(Failure::input(problem).about(path));
    let data = read_canaries(path)?;
    let records = data.len();
    if !(5..=records as u64).contains(&count) {
        return refuse(format!(
            "has {records} records; --count is {count} and must lie in 5 … {records}"
        ));
    }
    let mut classes = data.labels.clone().unwrap_or_default();
    classes.sort_unstable_by(f64::total_cmp);
    classes.dedup();
    if is_mislabelled && classes.len() < 2 {
        return refuse("has no two different labels: name an array `labels`".to_owned());
    }
    let mut order: Vec<usize> = (0..records).collect();
    Words::new(seed, Purpose::SyntheticData, CHOICE).shuffle(&mut order);
    order.truncate(count as usize);
    let width = data.inputs.data().len() / records;
    let inputs = order.iter().flat_map(|&record| {
        data.inputs.data()[record * width..(record + 1) * width].iter().copied()
    });
    let mut shape = data.inputs.shape().to_vec();
    shape[0] = order.len();
    let mut arrays = vec![("inputs", array(shape, inputs.collect())?)];
    if let Some(labels) = &data.labels {
        let mut words = Words::new(seed, Purpose::SyntheticData, LABELS);
        let mut label = |record: usize| {
            if !is_mislabelled {
                return labels[record];
            }
            let others: Vec<f64> =
                classes.iter().copied().filter(|class| *class != labels[record]).collect();
            others[words.below(others.len() as u32) as usize]
        };
        let labels: Vec<f64> = order.iter().map(|&record| label(record)).collect();
        arrays.push(("labels", array(vec![labels.len()], labels)?));
    }
    let indices: Vec<f64> = order.iter().map(|&record| record as f64).collect();
    arrays.push(("indices", array(vec![indices.len()], indices)?));
    Ok(arrays)
}

pub(super) fn array(shape: Vec<usize>, data: Vec<f64>) -> Result<Array, Failure> {
    Array::new(shape, data).map_err(Failure::input)
}
