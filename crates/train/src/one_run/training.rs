//! The definition of a training with canaries.

use std::collections::HashMap;
use std::sync::OnceLock;

use dpscope_core::accounting;
use dpscope_core::adjacency::Adjacency;
use dpscope_core::mechanism::{BatchedGaussian, ThreatModel};
use dpscope_shaders::train::{Batches, Order};

use super::inclusion::Inclusion;
use super::settings::{OneRunDescription, OneRunSettings, RepeatedRecords};
use crate::TrainError;
use crate::data::Examples;
use crate::description::DataDescription;
use crate::model::{ModelSpec, Network};
use crate::training::{check_compatible, check_sampler, initial};

/// A network, base records, canaries, a mechanism and settings, checked to be compatible.
///
/// The records of a training are n base records, the first of the data set, followed by m canaries:
/// n + m = N, those of an epoch. A canary whose coin is OUT contributes nothing
/// to any sum of gradients; batch size B and every other constant stay the same for all coins.
#[derive(Debug)]
pub struct OneRunTraining {
    spec: ModelSpec,
    pub(super) network: Network,
    pub(super) base: Examples,
    pub(super) canaries: Examples,
    pub(super) mechanism: BatchedGaussian,
    pub(super) settings: OneRunSettings,
    pub(super) seed: u64,
    pub(super) batches: Batches,
    pub(super) batch_size: u32,
    /// Parameters θ₀ of all runs, before a pre-training.
    pub(super) initial: Vec<f32>,
    /// Parameters after it.
    pub(super) start: OnceLock<Vec<f32>>,
    /// When each canary may be used; empty without white-box scores.
    pub(super) inclusions: Vec<Inclusion>,
    repeated: RepeatedRecords,
    all_canaries: Vec<u32>,
    description: String,
}

impl OneRunTraining {
    /// Fewest canaries of an audit.
    pub const LEAST_CANARIES: usize = 5;

    /// Checks that the parts are compatible.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `base` | the first n = N − m records are trained on, the next ones pre-train | at least n records, and those of the pre-training |
    /// | `canaries` | m records | 5 to N − 1, no two equal |
    /// | `mechanism` | σ, T, E, B and sampler | threat model target-canary |
    ///
    /// # Errors
    /// Data or canaries whose shape differs from the model's input or that have more classes than the
    /// model has outputs; too few records; too few or too many canaries; two equal canaries; a number
    /// outside its domain; a missing batch size; another threat model; a sampler of another
    /// data set.
    pub fn new(
        spec: &ModelSpec,
        base: Examples,
        canaries: Examples,
        mechanism: BatchedGaussian,
        settings: OneRunSettings,
        seed: u64,
    ) -> Result<Self, TrainError> {
        let network = Network::new(spec)?;
        mechanism.distribution()?;
        if mechanism.threat_model != ThreatModel::TargetCanary {
            return Err(TrainError::OneRunThreatModel { threat_model: mechanism.threat_model });
        }
        let batch_size = mechanism.batch_size.ok_or(TrainError::MissingBatchSize)?;
        check_sampler(&mechanism)?;
        check_compatible(&network, spec, &base)?;
        check_compatible(&network, spec, &canaries)?;
        settings.check(&mechanism)?;
        let records = check_sizes(&base, &canaries, &mechanism, &settings)?;
        let repeated = repeated_records(&base, records, &canaries, &settings)?;
        let initial = initial(&network, seed);
        let batches = Batches::of(&mechanism);
        let description =
            OneRunDescription::new(spec, (&base, records), &canaries, settings, repeated).to_json();
        let all_canaries = (0..canaries.len() as u32).collect();
        let observed = if settings.is_white_box { records..batches.records() } else { 0..0 };
        let inclusion = |record| Inclusion::new(&mechanism, record);
        let inclusions = observed.map(inclusion).collect();
        Ok(OneRunTraining {
            spec: spec.clone(),
            network,
            base,
            canaries,
            mechanism,
            settings,
            seed,
            batches,
            batch_size,
            initial,
            start: OnceLock::new(),
            inclusions,
            repeated,
            all_canaries,
            description,
        })
    }

    /// Everything that determines the runs except mechanism and seed, as JSON.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    pub(super) fn to_description(&self) -> OneRunDescription {
        let base = (&self.base, self.base_records());
        OneRunDescription::new(&self.spec, base, &self.canaries, self.settings, self.repeated)
    }

    /// The data set.
    #[must_use]
    pub fn base(&self) -> &Examples {
        &self.base
    }

    /// Number of base records, n = N − m.
    #[must_use]
    pub fn base_records(&self) -> u32 {
        self.batches.records() - self.canaries.len() as u32
    }

    /// The canaries.
    #[must_use]
    pub fn canaries(&self) -> &Examples {
        &self.canaries
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    #[cfg(feature = "gpu")]
    pub(crate) fn batches(&self) -> &Batches {
        &self.batches
    }

    /// The mean number of records in a batch, those of canaries whose coin is OUT included. Sums of
    /// gradients are divided by it.
    pub(crate) fn mean_batch_size(&self) -> f64 {
        self.mechanism.mean_batch_size().unwrap_or(1.0)
    }

    /// The index of each canary.
    pub(super) fn all_canaries(&self) -> &[u32] {
        &self.all_canaries
    }

    /// The mechanism, including the sampler.
    #[must_use]
    pub fn mechanism(&self) -> &BatchedGaussian {
        &self.mechanism
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &OneRunSettings {
        &self.settings
    }

    /// The seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Canaries that equal a record of the data.
    #[must_use]
    pub fn repeated_records(&self) -> RepeatedRecords {
        self.repeated
    }

    /// The relation under which the audit bounds ε.
    #[must_use]
    pub fn adjacency(&self) -> Adjacency {
        self.settings.slots.adjacency()
    }

    /// The parameters with which an accountant computes the claim of this training.
    ///
    /// σ is the standard deviation of the noise of a sum of gradients divided by C, the largest
    /// contribution of one record. T and E are the steps per epoch and the epochs. Under Poisson
    /// sampling each record, canaries included, is in a batch with probability q, 1/T or B/N; the
    /// batches have qn + qm/2 records on average over the coins, but no step depends on that number.
    /// Where a record is used k times per epoch, q = k/T. Under all samplers but Poisson sampling the
    /// n + m slots exist whatever the coins are. Momentum and pre-training do not change the claim:
    /// the former post-processes released sums, and the latter uses other records.
    #[must_use]
    pub fn accounted(&self) -> accounting::Training {
        accounting::Training::from(&self.mechanism)
    }
}

impl OneRunDescription {
    /// Restores the training from the same data and canaries, under any name.
    ///
    /// # Errors
    /// Data with different content, and the errors of [`OneRunTraining::new`].
    pub fn training(
        &self,
        base: Examples,
        canaries: Examples,
        mechanism: BatchedGaussian,
        seed: u64,
    ) -> Result<OneRunTraining, TrainError> {
        let renamed = |examples: Examples, expected: &DataDescription| {
            if examples.digest() == expected.digest {
                return Ok(examples.with_name(&expected.name));
            }
            let (provided, expected) = (examples.name().to_owned(), expected.name.clone());
            Err(TrainError::DataMismatch { provided, expected })
        };
        let (base, canaries) = (renamed(base, &self.data)?, renamed(canaries, &self.canaries)?);
        let provided = base.name().to_owned();
        let training =
            OneRunTraining::new(&self.model, base, canaries, mechanism, self.settings, seed)?;
        if training.to_description() != *self {
            let expected = self.data.name.clone();
            return Err(TrainError::DataMismatch { provided, expected });
        }
        Ok(training)
    }
}

/// Checks the numbers of records and canaries; returns that of base records.
fn check_sizes(
    base: &Examples,
    canaries: &Examples,
    mechanism: &BatchedGaussian,
    settings: &OneRunSettings,
) -> Result<u32, TrainError> {
    let slots = mechanism.records_per_epoch().unwrap_or(0);
    let count = canaries.len();
    if count < OneRunTraining::LEAST_CANARIES || count as u64 >= slots {
        let least = OneRunTraining::LEAST_CANARIES;
        return Err(TrainError::CanaryCount { canaries: count, least, slots });
    }
    let records = slots - count as u64;
    let pre_training = settings.pre_training.map_or(0, |part| u64::from(part.records));
    if records + pre_training > base.len() as u64 || slots > u64::from(Order::MAX_COUNT) {
        let (data, found) = (base.name().to_owned(), base.len());
        let canaries = count;
        return Err(TrainError::TooFewBaseRecords { data, found, records, pre_training, canaries });
    }
    Ok(records as u32)
}

/// Refuses equal canaries, and counts those that equal a record of the data.
fn repeated_records(
    base: &Examples,
    records: u32,
    canaries: &Examples,
    settings: &OneRunSettings,
) -> Result<RepeatedRecords, TrainError> {
    let content = |examples: &Examples, record| {
        let (mut row, mut label) = (Vec::new(), Vec::new());
        examples.fill(&[record], &mut row, &mut label);
        let bits = row.into_iter().map(|value| (value + 0.0).to_bits());
        bits.chain(label).collect::<Vec<u32>>()
    };
    let mut first = HashMap::new();
    for canary in 0..canaries.len() as u32 {
        if let Some(earlier) = first.insert(content(canaries, canary), canary) {
            return Err(TrainError::RepeatedCanary {
                canaries: canaries.name().to_owned(),
                first: earlier,
                second: canary,
            });
        }
    }
    let equal = |range: std::ops::Range<u32>| {
        let found = range.filter_map(|record| first.get(&content(base, record)).copied());
        found.collect::<std::collections::HashSet<u32>>().len() as u32
    };
    let end = records + settings.pre_training.map_or(0, |part| part.records);
    Ok(RepeatedRecords { base: equal(0..records), pre_training: equal(records..end) })
}
