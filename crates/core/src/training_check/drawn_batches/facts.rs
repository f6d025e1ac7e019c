//! What holds for all drawn epochs.

use std::collections::BTreeSet;

use super::DrawnBatches;
use super::batches::Epoch;
use super::marks::Marks;
use crate::math;

/// What holds for all drawn epochs, without any assumption.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(clippy::struct_excessive_bools, reason = "facts are independent of each other")]
pub struct LoaderFacts {
    /// Records of the data set.
    pub dataset_size: u64,
    /// Number of epochs.
    pub epochs: u64,
    /// Numbers of batches that epochs have, each once.
    pub batches_per_epoch: Vec<u64>,
    /// Records of a batch: the largest size if sizes are equal, else the mean, rounded.
    pub batch_size: u64,
    /// Whether each epoch has each record exactly once.
    pub once: bool,
    /// Whether each epoch has each record at most once.
    pub at_most_once: bool,
    /// Numbers of records that epochs leave out, each once; none if records repeat within an epoch.
    pub dropped_per_epoch: Option<Vec<u64>>,
    /// Whether a batch contains a record twice.
    pub repeats_in_batch: bool,
    /// Whether all batches have one size, except that the last ones of the epochs have one that may
    /// be smaller.
    pub equal_sizes: bool,
    /// Whether all epochs have the same batches in the same order.
    pub same_order: bool,
    /// Whether all epochs have the same batches, in another order, and each record at most once.
    pub same_batches: bool,
    /// Whether record numbers rise within each epoch.
    pub file_order: bool,
    /// Whether each epoch has all records, and less than a batch of them again.
    pub padded: bool,
    /// Number of records in no batch.
    pub never_drawn: u64,
    /// Most that the chance of a record in no batch is if epochs are drawn independently of each
    /// other, and records alike: n Π(1 − share of the records that an epoch has).
    pub never_drawn_chance: f64,
    /// K = 1 + max(record − slot): the least buffer that, filled in the order of the file, explains
    /// the order of the records; none if records repeat within an epoch. A record's slot is its place
    /// in the epoch, or the first one of its batch if all batches are sorted.
    pub least_buffer: Option<u64>,
}

impl LoaderFacts {
    /// The facts, in time proportional to the records of the data set and of the batches.
    #[must_use]
    pub fn of(drawn: &DrawnBatches<'_>) -> Self {
        let n = drawn.dataset_size();
        let mut marks = Marks::new(n);
        let distinct: Vec<usize> =
            drawn.epochs().map(|epoch| marks.distinct(epoch.records)).collect();
        let (mut at_most_once, mut padded, mut file_order) = (true, true, true);
        let most = drawn.sizes().iter().copied().max().unwrap_or(0) as usize;
        for (epoch, distinct) in drawn.epochs().zip(&distinct) {
            let drawn = epoch.records.len();
            at_most_once &= *distinct == drawn;
            padded &= *distinct == n && (1..most).contains(&(drawn - distinct));
            file_order &= epoch.records.is_sorted_by(|one, next| one < next);
        }
        let repeats_in_batch = !at_most_once
            && drawn
                .epochs()
                .flat_map(|epoch| epoch.batches())
                .any(|batch| marks.distinct(batch) < batch.len());
        let mut is_drawn = vec![false; n];
        drawn.records().iter().for_each(|record| is_drawn[*record as usize] = true);
        let left_out = |distinct: &usize| math::ln(1.0 - *distinct as f64 / n as f64);
        let dropped: BTreeSet<u64> =
            distinct.iter().map(|distinct| (n - distinct) as u64).collect();
        let equal_sizes = has_equal_sizes(drawn, most);
        let same_order = is_same_order(drawn);
        let mean = drawn.records().len() as f64 / drawn.sizes().len() as f64;
        let batches: BTreeSet<u64> = drawn.epochs().map(|epoch| epoch.sizes.len() as u64).collect();
        LoaderFacts {
            dataset_size: n as u64,
            epochs: distinct.len() as u64,
            batches_per_epoch: batches.into_iter().collect(),
            batch_size: if equal_sizes { most as u64 } else { mean.round().max(1.0) as u64 },
            once: at_most_once && distinct.iter().all(|distinct| *distinct == n),
            at_most_once,
            dropped_per_epoch: at_most_once.then(|| dropped.into_iter().collect()),
            repeats_in_batch,
            equal_sizes,
            same_order,
            same_batches: at_most_once && !same_order && has_same_batches(drawn),
            file_order,
            padded,
            never_drawn: is_drawn.iter().filter(|is_drawn| !**is_drawn).count() as u64,
            never_drawn_chance: (n as f64 * math::exp(distinct.iter().map(left_out).sum::<f64>()))
                .min(1.0),
            least_buffer: at_most_once.then(|| least_buffer(drawn)),
        }
    }

    /// Most records that an epoch leaves out, if it has none twice.
    #[must_use]
    pub fn most_dropped(&self) -> u64 {
        let dropped = self.dropped_per_epoch.as_ref();
        dropped.and_then(|dropped| dropped.last().copied()).unwrap_or(0)
    }
}

fn has_equal_sizes(drawn: &DrawnBatches<'_>, most: usize) -> bool {
    let last = |epoch: Epoch<'_>| epoch.sizes.last().copied();
    let first = drawn.epochs().next().and_then(last);
    drawn.epochs().all(|epoch| {
        let before = &epoch.sizes[..epoch.sizes.len() - 1];
        last(epoch) == first && before.iter().all(|size| *size as usize == most)
    })
}

/// Whether each epoch has the batches of the first one, whatever the order within a batch.
fn is_same_order(drawn: &DrawnBatches<'_>) -> bool {
    let mut epochs = drawn.epochs();
    let Some(first) = epochs.next() else { return true };
    let mut excess = vec![0_i32; drawn.dataset_size()];
    epochs.all(|epoch| {
        epoch.sizes == first.sizes
            && first.batches().zip(epoch.batches()).all(|(expected, batch)| {
                // most epochs of a fixed order have equal bytes
                if expected == batch {
                    return true;
                }
                expected.iter().for_each(|record| excess[*record as usize] += 1);
                batch.iter().for_each(|record| excess[*record as usize] -= 1);
                batch.iter().all(|record| excess[*record as usize] == 0)
            })
    })
}

/// Whether each epoch has the batches of the first one in any order; records are at most once in an
/// epoch.
fn has_same_batches(drawn: &DrawnBatches<'_>) -> bool {
    let mut epochs = drawn.epochs();
    let Some(first) = epochs.next() else { return true };
    let mut place = vec![None; drawn.dataset_size()];
    for (batch, records) in (0_u32..).zip(first.batches()) {
        records.iter().for_each(|record| place[*record as usize] = Some(batch));
    }
    epochs.all(|epoch| {
        epoch.sizes.len() == first.sizes.len()
            && epoch.batches().all(|batch| {
                let Some(record) = batch.first() else { return true };
                let whole = place[*record as usize];
                let size = whole.and_then(|whole| first.sizes.get(whole as usize));
                size.is_some_and(|size| *size as usize == batch.len())
                    && batch.iter().all(|record| place[*record as usize] == whole)
            })
    })
}

fn least_buffer(drawn: &DrawnBatches<'_>) -> u64 {
    let all_batches = drawn.epochs().flat_map(|epoch| epoch.batches());
    let is_sorted = all_batches.into_iter().all(<[u32]>::is_sorted);
    let mut least = 1;
    for epoch in drawn.epochs() {
        let mut first = 0;
        for batch in epoch.batches() {
            for (offset, record) in batch.iter().enumerate() {
                let slot = if is_sorted { first } else { first + offset };
                // a record before its slot needs no buffer
                least = least.max((1 + u64::from(*record)).saturating_sub(slot as u64));
            }
            first += batch.len();
        }
    }
    least
}
