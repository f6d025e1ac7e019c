//! How many records batches are drawn from, and how often a batch has one.

use super::{BatchedGaussian, MechanismError};

impl BatchedGaussian {
    /// This mechanism with batches from all of N records, which need not be a multiple of B.
    ///
    /// Samplers that draw each step anew include a record with probability B/N in place of 1/T. Balls
    /// in bins and random allocation distribute N records among the T batches, whose mean size is then
    /// [`mean_batch_size`](Self::mean_batch_size). Samplers that cut batches from an order use those in
    /// whole batches alone, whatever N is.
    #[must_use]
    pub fn of_records(self, dataset_size: u64) -> Self {
        let whole = BatchedGaussian { dataset_size: None, ..self };
        let draws_from_all = !self.sampler.kind().cuts_an_order();
        let is_needed = draws_from_all && whole.records_per_epoch() != Some(dataset_size);
        BatchedGaussian { dataset_size: is_needed.then_some(dataset_size), ..whole }
    }

    /// The chance that a record is in the batch of a step: B/N of N records if each step is drawn anew,
    /// k/T if random allocation uses each record k times, else 1/T.
    #[must_use]
    pub fn sampling_rate(&self) -> f64 {
        let draws_anew = self.sampler.kind().draws_each_step_anew();
        match (self.dataset_size, self.batch_size) {
            (Some(dataset_size), Some(batch_size)) if draws_anew => {
                f64::from(batch_size) / dataset_size as f64
            }
            _ => {
                let uses = self.sampler.uses_per_epoch().unwrap_or(1);
                f64::from(uses) / f64::from(self.steps_per_epoch)
            }
        }
    }

    /// The mean number of records in a batch, before truncation: B, or kN/T if each of a stated number
    /// of records is in k of the T batches of an epoch; `None` without a batch size.
    ///
    /// Trainers divide sums of gradients by it.
    #[must_use]
    pub fn mean_batch_size(&self) -> Option<f64> {
        let batch_size = f64::from(self.batch_size?);
        let drawn = self.dataset_size.filter(|_| !self.sampler.kind().draws_each_step_anew());
        Some(drawn.map_or(batch_size, |dataset_size| dataset_size as f64 * self.sampling_rate()))
    }

    /// N: the stated number of records, else T·B, or ⌊T·B/k⌋ if random allocation uses each k times, so
    /// that B is the mean size of a batch; `None` without a batch size.
    #[must_use]
    pub fn records_per_epoch(&self) -> Option<u64> {
        if self.dataset_size.is_some() {
            return self.dataset_size;
        }
        let uses = self.sampler.uses_per_epoch().unwrap_or(1).max(1);
        let batch_size = self.batch_size?;
        Some(u64::from(self.steps_per_epoch) * u64::from(batch_size) / u64::from(uses))
    }

    pub(super) fn check_records(&self) -> Result<(), MechanismError> {
        let truncation = self.sampler.truncation();
        let Some(dataset_size) = self.dataset_size else {
            return truncation.map_or(Ok(()), |truncation| {
                truncation.check(truncation.dataset_size.div_ceil(self.steps_per_epoch.into()))
            });
        };
        if self.sampler.kind().cuts_an_order() {
            return Err(MechanismError::unused("dataset_size", dataset_size, self.sampler.kind()));
        }
        let least = u64::from(self.batch("a number of records that it does not divide")?);
        let domain = truncation.map_or(least..=1 << 53, |it| it.dataset_size..=it.dataset_size);
        if !domain.contains(&dataset_size) {
            let domain = format!("{}..={}", domain.start(), domain.end());
            return Err(MechanismError::outside("dataset_size", dataset_size as f64, &domain));
        }
        truncation.map_or(Ok(()), |truncation| truncation.check(least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::score::tests::shuffle;
    use crate::mechanism::{BatchSampler, SamplerKind, SamplerParameters};

    /// T batches of 4,096 records.
    fn batches(kind: SamplerKind, steps_per_epoch: u32) -> BatchedGaussian {
        let parameters = SamplerParameters {
            buffer_examples: kind.has_buffer().then_some(150),
            uses_per_epoch: kind.has_uses().then_some(2),
            dataset_size: Some(9_900),
            max_batch_size: kind.truncates().then_some(4_500),
        };
        let sampler = kind.with_parameters(parameters).unwrap();
        let threat_model = kind.default_threat_model();
        let batch_size = Some(4_096);
        BatchedGaussian { sampler, threat_model, steps_per_epoch, batch_size, ..shuffle() }
    }

    #[test]
    fn batches_of_all_records_have_their_rate_or_their_mean_size() {
        for kind in SamplerKind::ALL {
            let all = batches(kind, 3).of_records(9_900);
            let found = [all.sampling_rate(), all.mean_batch_size().unwrap()];
            let expected = match kind {
                _ if kind.draws_each_step_anew() => [4_096.0 / 9_900.0, 4_096.0],
                SamplerKind::BallsInBins => [1.0 / 3.0, 3_300.0],
                SamplerKind::RandomAllocation => [2.0 / 3.0, 6_600.0],
                _ => [1.0 / 3.0, 4_096.0],
            };
            assert!((found[0] - expected[0]).abs() < 1e-15, "{kind}: {found:?}");
            assert!((found[1] - expected[1]).abs() < 1e-9, "{kind}: {found:?}");
            let records = if kind.cuts_an_order() { 3 * 4_096 } else { 9_900 };
            assert_eq!(all.records_per_epoch(), Some(records), "{kind}");
            let (distribution, rate) = (all.distribution().unwrap(), all.sampling_rate());
            let accounted = crate::accounting::Training::from(&all).sampling_rate();
            assert_eq!(accounted, rate, "{kind}");
            if kind.draws_each_step_anew() && !kind.truncates() {
                assert_eq!(distribution.sampling_rate(), Some(rate), "{kind}");
            }
        }
    }

    #[test]
    fn records_that_fill_all_batches_change_nothing() {
        for kind in SamplerKind::ALL {
            let whole = batches(kind, 5);
            let of_whole = whole.of_records(whole.records_per_epoch().unwrap());
            assert_eq!(of_whole, whole, "{kind}");
            assert_eq!(of_whole.mean_batch_size(), Some(4_096.0));
        }
    }

    #[test]
    fn a_number_of_records_needs_a_batch_size_and_a_sampler_that_draws_from_all() {
        let refused =
            |mechanism: BatchedGaussian| mechanism.distribution().unwrap_err().parameter();
        for kind in SamplerKind::ALL {
            let of = |dataset_size| BatchedGaussian { dataset_size, ..batches(kind, 3) };
            let large = BatchedGaussian { batch_size: Some(10_000), ..of(Some(9_900)) };
            let unknown = BatchedGaussian { batch_size: None, ..of(Some(9_900)) };
            if kind.cuts_an_order() {
                assert_eq!(refused(of(Some(9_900))), Some("dataset_size"), "{kind}");
            } else {
                assert!(of(Some(9_900)).distribution().is_ok(), "{kind}");
                let at_fault = if kind.truncates() { "max_batch_size" } else { "dataset_size" };
                assert_eq!(refused(large), Some(at_fault), "{kind}");
                assert_eq!(refused(unknown), Some("batch_size"), "{kind}");
            }
        }
        let other = batches(SamplerKind::TruncatedPoisson, 3).of_records(9_901);
        assert_eq!(refused(other), Some("dataset_size"));
        let shuffled = BatchedGaussian { dataset_size: Some(9), ..shuffle() };
        assert_eq!(
            shuffled.distribution().unwrap_err().to_string(),
            "dataset_size = 9 has no meaning for sampler shuffle; leave it out, or use poisson"
        );
    }

    #[test]
    fn an_epoch_has_the_records_that_its_batches_use() {
        let records = |sampler, batch_size| {
            BatchedGaussian { sampler, batch_size, ..shuffle() }.records_per_epoch()
        };
        let uses = |uses_per_epoch| BatchSampler::RandomAllocation { uses_per_epoch };
        assert_eq!(records(BatchSampler::Shuffle, Some(10)), Some(1_000));
        assert_eq!(records(uses(1), Some(10)), Some(1_000));
        assert_eq!(records(uses(3), Some(10)), Some(333));
        assert_eq!(records(uses(3), None), None);
    }
}
