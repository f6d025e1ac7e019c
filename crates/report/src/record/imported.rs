//! ε of the phases that another accountant recorded.

use std::borrow::Cow;

use dpscope_core::accounting::{Accounted, AccountingError, Phase, account_phases};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::PrivacyClaim;
use dpscope_core::training_check::{CheckVerdict, EpsilonBounds};
use serde::{Deserialize, Serialize};

use crate::words::imported_sentence;

/// Who wrote a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RecordSource {
    /// A tree of events of dp_accounting.
    DpEvent,
    /// The history of an accountant of Opacus.
    Opacus,
}

/// The phases of a record, accounted for together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = ImportedReport::SCHEMA)))]
    pub schema: Cow<'static, str>,
    /// Version of the program.
    pub version: Cow<'static, str>,
    /// Who wrote the record.
    pub source: RecordSource,
    /// Steps with equal noise and rate, in the order of the record.
    pub phases: Vec<Phase>,
    /// Steps of all phases.
    pub steps: u64,
    /// Not above ε of the phases.
    pub lower: Accounted,
    /// Not below it.
    pub upper: Accounted,
    /// The claim and its verdict, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<ImportedClaim>,
    /// What the values mean, and what not.
    pub says: Cow<'static, str>,
}

/// A claim about the phases of a record.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedClaim {
    /// ε, δ, adjacency.
    #[serde(flatten)]
    pub claim: PrivacyClaim,
    /// What is proven of it.
    pub verdict: CheckVerdict,
}

impl ImportedReport {
    /// The `schema` of these reports.
    pub const SCHEMA: &'static str = "dpscope.imported/1";

    /// Accounts for the phases at δ.
    ///
    /// # Errors
    /// Errors of [`account_phases`].
    pub fn new(
        source: RecordSource,
        phases: Vec<Phase>,
        delta: f64,
        claim: Option<PrivacyClaim>,
    ) -> Result<Self, AccountingError> {
        let adjacency = claim.map_or(Adjacency::AddRemove, |claim| claim.adjacency);
        let found = account_phases(&phases, adjacency, delta)?;
        let claim = claim.map(|claim| {
            let [lower, upper] = [found.lower, found.upper].map(|bound| Some(bound.epsilon));
            let bounds = EpsilonBounds { lower, upper, zero_out_upper: None };
            ImportedClaim { claim, verdict: bounds.verdict(claim.epsilon) }
        });
        Ok(ImportedReport {
            schema: Self::SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            source,
            steps: phases.iter().map(|phase| phase.steps).sum(),
            phases,
            lower: found.lower,
            upper: found.upper,
            claim,
            says: imported_sentence(claim.map(|claim| claim.verdict)).into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One Gaussian event of σ = 2, for which dp-accounting has ε = 1.9931, and 4.3772 with REPLACE_ONE.
    #[test]
    fn claims_are_decided_under_their_adjacency() {
        let phase = Phase { noise_multiplier: 2.0, sampling_rate: 1.0, steps: 1 };
        let verdict = |epsilon, adjacency| {
            let claim = Some(PrivacyClaim { epsilon, delta: 1e-5, adjacency });
            let report = ImportedReport::new(RecordSource::DpEvent, vec![phase], 1e-5, claim);
            report.unwrap().claim.unwrap().verdict
        };
        let (refuted, holds) = (CheckVerdict::Refuted, CheckVerdict::HoldsAsDescribed);
        for (epsilon, adjacency, expected) in [
            (1.9, Adjacency::AddRemove, refuted),
            (2.2, Adjacency::AddRemove, holds),
            (2.2, Adjacency::Replace, refuted),
            (4.3, Adjacency::Replace, refuted),
            (4.5, Adjacency::Replace, holds),
        ] {
            assert_eq!(verdict(epsilon, adjacency), expected, "{epsilon} {adjacency:?}");
        }
    }
}
