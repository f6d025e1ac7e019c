//! What an accountant claims of the audited training, and what theory proves of it.

use dpscope_core::audit::AuditResult;
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian};
use dpscope_core::theory::{At, Cell, Found, Setting, ShuffleMethod};
use serde::Serialize;

/// Theory beside an audit, at the audit's δ.
#[derive(Debug, Serialize)]
pub struct TheoryComparison {
    /// As if batches were Poisson sampled, q = 1/T: what a user would have claimed.
    pub poisson: Cell,
    /// The audit's ε less Poisson's, nats; negative where the audit shows less.
    pub gap: Option<f64>,
    /// Proven of the sampler from below, where it has a closed form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<Cell>,
    /// Proven of the sampler from above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<Cell>,
}

impl TheoryComparison {
    /// Of a training whose batches were drawn in a way that is not known.
    #[must_use]
    pub fn of_training(setting: Setting, result: &AuditResult) -> Self {
        let poisson = Cell::from(setting.poisson(At::Delta(result.delta)));
        let gap = poisson.value().map(|poisson| result.epsilon - poisson.epsilon);
        TheoryComparison { poisson, gap, lower: None, upper: None }
    }

    /// Of a mechanism whose sampler is known.
    #[must_use]
    pub fn of_mechanism(mechanism: &BatchedGaussian, result: &AuditResult) -> Self {
        let setting = Setting::of(mechanism);
        let at = At::Delta(result.delta);
        let lower: Option<Found> = match mechanism.sampler {
            BatchSampler::Shuffle | BatchSampler::BatchThenShuffle => {
                Some(setting.shuffle_lower(at, ShuffleMethod::Best))
            }
            BatchSampler::PersistentShuffle => {
                Some(setting.persistent_shuffle_lower(at, ShuffleMethod::Best))
            }
            BatchSampler::Deterministic => Some(setting.deterministic_lower(at)),
            _ => None,
        };
        let is_a_shuffle =
            !matches!(mechanism.sampler, BatchSampler::Poisson | BatchSampler::BallsInBins);
        let upper = is_a_shuffle.then(|| setting.deterministic(at));
        TheoryComparison {
            lower: lower.map(Cell::from),
            upper: upper.map(Cell::from),
            ..TheoryComparison::of_training(setting, result)
        }
    }
}
