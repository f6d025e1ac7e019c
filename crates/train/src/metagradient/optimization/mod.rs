//! Canaries moved along metagradients, so that a trained model shows whether it was trained on them.
//!
//! Each metastep draws a fresh split of the canaries into halves, initial parameters and an order
//! of the records, trains one model with each half, and moves all canaries against the mean of the
//! gradients of φ = Σ_IN ℓ(θ_T, c) − Σ_OUT ℓ(θ_T, c). Everything that is drawn is a function of the
//! seed and the number of the metastep, so that an optimisation continues from a saved state with
//! the same bits.

mod arrays;
mod error;
mod evaluation;
mod ranges;
mod settings;
mod split;
mod start;
mod state;
mod step;

pub use error::OptimizationError;
pub use evaluation::CanaryEvaluation;
pub use ranges::FeatureRanges;
pub use settings::{GradientPart, MetaUpdate, OptimizationSettings, OptimizationSetup};
pub use start::{CanaryStart, StartLabels};
pub use state::{BestCanaries, MeanAuc, OptimizationState, Validation};

use rayon::prelude::*;

use super::checkpointing::Checkpointing;
use super::derivatives::{DerivativeDevice, Derivatives};
use super::lanes::LaneDerivatives;
use super::training::{InnerTraining, Interruption, Records};
use crate::model::Network;
use split::{Half, Split, Stream};

/// An optimisation of canaries: everything but its state.
///
/// Metasteps and evaluations run on the current `rayon` thread pool.
///
/// # Guarantee
/// On one device, the state after a metastep has the same bits for any number of threads, any
/// schedule of saved
/// states, and after any number of interruptions
/// (`crates/train/tests/canary_optimization.rs::states_do_not_depend_on_threads_memory_or_interruptions`).
/// A canary is in no batch of a training in which it is OUT
/// (`crates/train/src/metagradient/optimization/split.rs::canaries_that_are_out_are_in_no_batch`).
#[derive(Clone, Copy)]
pub struct CanaryOptimization<'a> {
    /// The network.
    pub network: &'a Network,
    /// The training data, which must not contain the canaries.
    pub base: &'a dyn Records<f32>,
    /// Number of its records.
    pub records: u32,
    /// Labels of the canaries.
    pub labels: &'a [u32],
    /// Where canaries may lie.
    pub ranges: &'a FeatureRanges,
    /// Trainings and metasteps.
    pub settings: &'a OptimizationSettings,
    /// Which states of a training are saved; does not change results.
    pub checkpointing: Checkpointing,
    /// What computes derivatives; `None`: the CPU, by [`LaneDerivatives`].
    pub device: Option<&'a dyn DerivativeDevice>,
    /// Called before each step of a training; false cancels.
    pub keep_going: &'a (dyn Fn() -> bool + Sync),
}

impl std::fmt::Debug for CanaryOptimization<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CanaryOptimization")
            .field("settings", self.settings)
            .finish_non_exhaustive()
    }
}

impl CanaryOptimization<'_> {
    /// The state before the first metastep.
    ///
    /// # Errors
    /// Settings outside their domains, too few records or canaries, labels or canaries that do not
    /// fit the network, and canaries outside the ranges.
    pub fn start(&self, canaries: Vec<f32>) -> Result<OptimizationState, OptimizationError> {
        self.check(&canaries)?;
        Ok(OptimizationState::new(canaries))
    }

    /// Split number `index` of a stream.
    fn split(&self, stream: Stream, index: u32) -> Split {
        let records = (self.records, self.labels.len() as u32);
        Split::draw(self.settings, self.network, records, (stream, index))
    }

    /// Rejects what cannot be optimised.
    fn check(&self, canaries: &[f32]) -> Result<(), OptimizationError> {
        self.settings.check()?;
        let (inputs, count) = (self.network.inputs(), self.labels.len());
        if count < OptimizationError::FEWEST_CANARIES {
            return Err(OptimizationError::Canaries { canaries: count });
        }
        if canaries.len() != count * inputs || self.ranges.features() != inputs {
            let (values, expected) = (canaries.len(), count * inputs);
            return Err(OptimizationError::Features { values, expected });
        }
        if (self.records as usize) < self.settings.batch_size {
            let (records, batch_size) = (self.records as usize, self.settings.batch_size);
            return Err(OptimizationError::TooFewRecords { records, batch_size });
        }
        let classes = self.network.classes();
        if let Some(at) = self.labels.iter().position(|&label| label as usize >= classes) {
            let label = self.labels[at];
            return Err(OptimizationError::Label { canary: at, label, classes });
        }
        self.ranges.check(canaries)
    }

    /// Runs `work` on both halves of some splits at once; results are in their order.
    fn on_halves<T: Send>(
        &self,
        stream: Stream,
        splits: u32,
        work: impl Fn(
            &mut dyn Derivatives<Number = f32>,
            &InnerTraining<'_, f32>,
            Half,
        ) -> Result<T, Interruption>
        + Sync,
    ) -> Result<Vec<Result<T, Interruption>>, Interruption> {
        let run = |derivatives: &mut Box<dyn Derivatives<Number = f32> + '_>, index: u32| {
            let split = self.split(stream, index / 2);
            let half = if index.is_multiple_of(2) { Half::First } else { Half::Second };
            let (batches, weights) = (split.batches(half), split.weights(half));
            let training = InnerTraining {
                base: self.base,
                labels: self.labels,
                weights: &weights,
                initial: &split.initial,
                batches: &batches,
                learning_rates: &vec![self.settings.learning_rate; batches.len()],
                rule: &self.settings.rule,
                clip_norm: None,
                noise: None,
                keep_going: self.keep_going,
            };
            work(&mut **derivatives, &training, half)
        };
        let start = || match self.device {
            Some(device) => device.derivatives(),
            None => Box::new(LaneDerivatives::new(self.network)),
        };
        let found: Vec<_> = (0..2 * splits).into_par_iter().map_init(start, run).collect();
        if found.iter().any(|result| matches!(result, Err(Interruption::Cancelled))) {
            return Err(Interruption::Cancelled);
        }
        Ok(found)
    }
}
