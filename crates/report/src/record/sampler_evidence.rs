//! What recorded outputs show of the sampler.

use dpscope_core::recorded::{Placement, RecordedUses, SamplerEvidence};
use serde::{Deserialize, Serialize};

use crate::words::{recorded_uses_sentence, sampler_evidence_sentence};

/// The samplers that were compared, and those that the outputs refute.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SamplerEvidenceRecord {
    #[serde(flatten)]
    evidence: SamplerEvidence,
    /// Largest probability that a correct sampler is refuted, if the parameters are the true ones.
    significance: f64,
    /// Log-likelihood ratio of two samplers at which the less likely one is refuted.
    ln_needed: f64,
    /// The refuted samplers.
    refuted: Vec<Placement>,
    /// The only sampler that is not refuted; none if there are several.
    shown: Option<Placement>,
    /// The finding as a sentence.
    pub says: String,
}

impl From<SamplerEvidence> for SamplerEvidenceRecord {
    fn from(evidence: SamplerEvidence) -> Self {
        let significance = SamplerEvidence::SIGNIFICANCE;
        SamplerEvidenceRecord {
            significance,
            ln_needed: evidence.ln_needed(significance),
            refuted: evidence.placements(true, significance).collect(),
            shown: evidence.shown(significance),
            says: sampler_evidence_sentence(&evidence),
            evidence,
        }
    }
}

/// Recorded uses of the target, compared with what Poisson batches would show.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordedUsesRecord {
    #[serde(flatten)]
    uses: RecordedUses,
    /// The uses as a sentence.
    pub says: String,
}

impl From<RecordedUses> for RecordedUsesRecord {
    fn from(uses: RecordedUses) -> Self {
        RecordedUsesRecord { says: recorded_uses_sentence(&uses), uses }
    }
}
