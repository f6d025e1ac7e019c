//! What an accountant claims of the audited training, and what theory proves of it.

use dpscope_core::accounting::{
    Accountant, Cell, Given, Kind, Poisson, Query, Schedule, Training, account,
};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::OutcomeKind;
use dpscope_core::mechanism::{BatchedGaussian, SamplerKind};
use serde::{Deserialize, Serialize};

use super::ResultRecord;

/// An audited ε, as far as theory is compared with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AuditedEpsilon {
    /// Whether it has coverage.
    pub kind: OutcomeKind,
    /// ε, nats.
    pub epsilon: f64,
    /// Its δ.
    pub delta: f64,
}

impl From<&ResultRecord> for AuditedEpsilon {
    fn from(result: &ResultRecord) -> Self {
        AuditedEpsilon { kind: result.kind, epsilon: result.epsilon, delta: result.delta }
    }
}

/// Theory beside an audit, at the audit's δ.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TheoryComparison {
    /// As if batches were Poisson sampled, at the same rate: what a user would have claimed.
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
    /// Theory of a training whose batches were drawn in an unknown way.
    #[must_use]
    pub fn of_training(setting: impl Into<Schedule>, result: impl Into<AuditedEpsilon>) -> Self {
        let result = result.into();
        let poisson = Cell::from(Poisson.account(&upper(setting.into().poisson(), result)));
        let gap = poisson.value().map(|poisson| result.epsilon - poisson.epsilon);
        TheoryComparison { poisson, gap, lower: None, upper: None }
    }

    /// Theory of a mechanism whose sampler is known.
    #[must_use]
    pub fn of_mechanism(mechanism: &BatchedGaussian, result: impl Into<AuditedEpsilon>) -> Self {
        let result = result.into();
        let setting = Training::from(mechanism);
        let query = upper(setting, result);
        let is_compared =
            !matches!(mechanism.sampler.kind(), SamplerKind::Poisson | SamplerKind::BallsInBins);
        let proven = |kind| {
            let known = account(mechanism.sampler, Adjacency::ZeroOut, &Query { kind, ..query });
            known.filter(|_| is_compared).map(Cell::from)
        };
        TheoryComparison {
            lower: proven(Kind::Lower),
            upper: proven(Kind::Upper),
            ..TheoryComparison::of_training(setting, result)
        }
    }
}

fn upper(setting: Training, result: AuditedEpsilon) -> Query {
    Query::upper(setting, Given::Delta(result.delta))
}
