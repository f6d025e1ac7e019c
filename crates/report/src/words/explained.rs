//! What a reader of a report has to know: units, adjacencies, attackers, and what a value is.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::OutcomeKind;
use dpscope_core::mechanism::ThreatModel;

use crate::number::confidence;
use crate::record::PrivacyUnit;

/// What an estimate means.
pub const ESTIMATE_MEANING: &str = "An estimate refutes nothing; it shows what to expect.";

/// Zero-out adjacency with its meaning.
pub(super) const ZERO_OUT: &str = "zero-out (the gradient of one record is replaced by zero)";

/// Whose participation is protected.
#[must_use]
pub const fn unit_in_words(unit: PrivacyUnit) -> &'static str {
    match unit {
        PrivacyUnit::Record => "one record",
        PrivacyUnit::User => "one client, with all of its records",
    }
}

/// An adjacency with its meaning.
#[must_use]
pub const fn adjacency_explained(adjacency: Adjacency) -> &'static str {
    match adjacency {
        Adjacency::ZeroOut => ZERO_OUT,
        Adjacency::AddRemove => "add/remove (one unit more or less)",
        Adjacency::Replace => "replace (one unit is replaced by any other)",
    }
}

/// What an attacker chooses.
#[must_use]
pub const fn threat_model_sentence(threat_model: ThreatModel) -> &'static str {
    match threat_model {
        ThreatModel::WorstCase => {
            "worst-case: the attacker chooses every record and sees every noisy sum"
        }
        ThreatModel::PartiallyInformed => {
            "partially-informed: the attacker chooses one record of every batch and sees every noisy \
             sum"
        }
        ThreatModel::TargetCanary => {
            "target-canary: the attacker chooses the target record alone and sees every noisy sum"
        }
    }
}

/// What a value is worth.
#[must_use]
pub fn coverage_sentence(kind: OutcomeKind, significance: f64) -> String {
    match kind {
        OutcomeKind::Bound => format!(
            "a lower bound with {} confidence; it is not an upper bound, so more may leak",
            confidence(significance)
        ),
        OutcomeKind::Estimate => {
            "an estimate, without any guarantee on which side of the truth it lies".to_owned()
        }
    }
}
