//! Lists of record numbers, by batch and epoch.

use super::DrawnBatchesError;

/// Record numbers of the batches of at least two epochs.
#[derive(Debug, Clone, Copy)]
pub struct DrawnBatches<'a> {
    records: &'a [u32],
    sizes: &'a [u32],
    batches_per_epoch: &'a [u32],
    dataset_size: u32,
    rate: Option<f64>,
}

impl<'a> DrawnBatches<'a> {
    /// Most records of a data set: several lists with a number for each record are held.
    pub const MOST_RECORDS: u32 = 100_000_000;

    /// The lists, if they fit together.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `records` | record numbers of all batches, one batch after another | 0 to n − 1 |
    /// | `batch_sizes` | records of each batch, of all epochs | their sum is the number of `records` |
    /// | `batches_per_epoch` | batches of each epoch | at least two numbers, all positive |
    /// | `dataset_size` | n | 2 to [`DrawnBatches::MOST_RECORDS`] |
    /// | `rate` | stated probability with which a batch contains a record | (0, 1) |
    ///
    /// # Errors
    /// The first of the conditions that does not hold.
    pub fn new(
        records: &'a [u32],
        batch_sizes: &'a [u32],
        batches_per_epoch: &'a [u32],
        dataset_size: u64,
        rate: Option<f64>,
    ) -> Result<Self, DrawnBatchesError> {
        let known =
            u32::try_from(dataset_size).ok().filter(|n| (2..=Self::MOST_RECORDS).contains(n));
        let Some(size) = known else {
            let most = Self::MOST_RECORDS;
            return Err(DrawnBatchesError::DatasetSize { value: dataset_size, most });
        };
        if let Some(value) = rate.filter(|rate| !(*rate > 0.0 && *rate < 1.0)) {
            return Err(DrawnBatchesError::Rate { value });
        }
        if batches_per_epoch.len() < 2 {
            return Err(DrawnBatchesError::Epochs { value: batches_per_epoch.len() });
        }
        if let Some(epoch) = batches_per_epoch.iter().position(|batches| *batches == 0) {
            return Err(DrawnBatchesError::EmptyEpoch { epoch: epoch + 1 });
        }
        let sum = |numbers: &[u32]| numbers.iter().map(|number| u64::from(*number)).sum::<u64>();
        let stated = sum(batches_per_epoch);
        if stated != batch_sizes.len() as u64 {
            return Err(DrawnBatchesError::Batches { sizes: batch_sizes.len(), stated });
        }
        let stated = sum(batch_sizes);
        if stated != records.len() as u64 {
            return Err(DrawnBatchesError::Records { records: records.len(), stated });
        }
        if records.is_empty() {
            return Err(DrawnBatchesError::NoRecords);
        }
        let drawn = DrawnBatches {
            records,
            sizes: batch_sizes,
            batches_per_epoch,
            dataset_size: size,
            rate,
        };
        drawn.unknown_record().map_or(Ok(drawn), Err)
    }

    /// The records with numbers from 0 that leave out those that are never drawn, in the same order.
    pub(super) fn numbered_anew(&self) -> Vec<u32> {
        let mut numbers = vec![0_u32; self.dataset_size()];
        self.records.iter().for_each(|record| numbers[*record as usize] = 1);
        let mut next = 0;
        for number in &mut numbers {
            let is_drawn = *number;
            *number = next;
            next += is_drawn;
        }
        self.records.iter().map(|record| numbers[*record as usize]).collect()
    }

    /// These batches with other numbers of records.
    pub(super) fn with_records<'b>(&self, records: &'b [u32]) -> DrawnBatches<'b>
    where
        'a: 'b,
    {
        let dataset_size = records.iter().max().map_or(0, |most| most + 1);
        DrawnBatches { records, dataset_size, ..*self }
    }

    /// Number of records of the data set, n.
    #[must_use]
    pub fn dataset_size(&self) -> usize {
        self.dataset_size as usize
    }

    /// The stated sampling rate.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        self.rate
    }

    /// Record numbers of all batches.
    pub(super) fn records(&self) -> &'a [u32] {
        self.records
    }

    /// Sizes of all batches.
    pub(super) fn sizes(&self) -> &'a [u32] {
        self.sizes
    }

    pub(super) fn epochs(&self) -> impl Iterator<Item = Epoch<'a>> + Clone + use<'a> {
        let DrawnBatches { mut records, mut sizes, batches_per_epoch, .. } = *self;
        batches_per_epoch.iter().map(move |batches| {
            let (of_epoch, later) = sizes.split_at(*batches as usize);
            let drawn = of_epoch.iter().map(|size| *size as usize).sum();
            let (numbers, rest) = records.split_at(drawn);
            (records, sizes) = (rest, later);
            Epoch { records: numbers, sizes: of_epoch }
        })
    }

    fn unknown_record(&self) -> Option<DrawnBatchesError> {
        let dataset_size = self.dataset_size;
        if self.records.iter().all(|record| *record < dataset_size) {
            return None;
        }
        let batches = self.epochs().enumerate().flat_map(|(epoch, drawn)| {
            drawn.batches().enumerate().map(move |(batch, records)| (epoch + 1, batch + 1, records))
        });
        batches.into_iter().find_map(|(epoch, batch, records)| {
            let value = *records.iter().find(|record| **record >= dataset_size)?;
            Some(DrawnBatchesError::Record { value, epoch, batch, dataset_size })
        })
    }
}

/// The batches of an epoch, at least one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Epoch<'a> {
    /// Record numbers, one batch after another.
    pub(super) records: &'a [u32],
    pub(super) sizes: &'a [u32],
}

impl<'a> Epoch<'a> {
    pub(super) fn batches(&self) -> impl Iterator<Item = &'a [u32]> + Clone + use<'a> {
        let Epoch { mut records, sizes } = *self;
        sizes.iter().map(move |size| {
            let (batch, rest) = records.split_at(*size as usize);
            records = rest;
            batch
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_do_not_fit_are_refused() {
        let refused = |records: &[u32], sizes: &[u32], batches: &[u32], n, rate| {
            DrawnBatches::new(records, sizes, batches, n, rate).unwrap_err().to_string()
        };
        let cases = [
            (refused(&[0], &[1], &[1], 2, None), "epochs is 1; draw at least 2"),
            (refused(&[0], &[1], &[1, 0], 2, None), "epoch 2 has no batches; the loader must"),
            (refused(&[], &[0, 0], &[1, 1], 2, None), "no batch contains a record"),
            (refused(&[0, 1], &[1, 1], &[1, 2], 2, None), "batch_sizes has 2 numbers"),
            (refused(&[0, 1], &[1, 2], &[1, 1], 2, None), "records has 2 numbers"),
            (
                refused(&[0, 1, 7], &[1, 1, 1], &[1, 2], 3, None),
                "batch 2 of epoch 2 contains record 7",
            ),
            (refused(&[0, 1], &[1, 1], &[1, 1], 1, None), "dataset_size is 1;"),
            (refused(&[0, 1], &[1, 1], &[1, 1], u64::MAX, None), "dataset_size is 18446"),
            (refused(&[0, 1], &[1, 1], &[1, 1], 2, Some(f64::NAN)), "rate is NaN; it must be"),
            (refused(&[0, 1], &[1, 1], &[1, 1], 2, Some(1.0)), "rate is 1; it must be"),
        ];
        for (message, expected) in cases {
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
