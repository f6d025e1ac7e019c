//! Evidence of the protocol with two worlds.

use dpscope_core::audit::AuditHistograms;
use dpscope_core::audit::histogram::ScoreHistogram;
use dpscope_core::audit::trade_off::Trials;
use dpscope_engine::{EngineError, Evidence};
use serde::{Deserialize, Serialize};

use crate::TrainingState;

/// Histograms of the scores of both worlds, and statistics of the training if models were trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Document")]
pub struct TwoWorlds {
    /// Counts of scores.
    #[serde(flatten)]
    pub histograms: AuditHistograms,
    /// The training, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingState>,
}

/// [`TwoWorlds`] as it is read: flattened fields would be read into memory twice.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    target: [ScoreHistogram; 2],
    zero_out: [ScoreHistogram; 2],
    #[serde(default)]
    training: Option<TrainingState>,
}

impl From<Document> for TwoWorlds {
    fn from(Document { target, zero_out, training }: Document) -> Self {
        TwoWorlds { histograms: AuditHistograms::from_halves(target, zero_out), training }
    }
}

impl From<AuditHistograms> for TwoWorlds {
    fn from(histograms: AuditHistograms) -> Self {
        TwoWorlds { histograms, training: None }
    }
}

impl Evidence for TwoWorlds {
    fn join(&mut self, other: &Self) -> Result<(), EngineError> {
        self.histograms.merge(&other.histograms)?;
        if let (Some(mine), Some(theirs)) = (&mut self.training, &other.training) {
            mine.absorb(theirs);
        }
        Ok(())
    }

    fn is_of(&self, units: u64) -> bool {
        self.histograms.checked_trials() == Ok(Trials { target: units, zero_out: units })
            && self.training.as_ref().is_none_or(|training| training.has_runs(units))
    }
}
