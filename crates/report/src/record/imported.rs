//! ε of the phases that another accountant recorded.

use dpscope_core::accounting::{Accounted, AccountingError, Phase, account_phases};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::PrivacyClaim;
use dpscope_core::training_check::CheckVerdict;
use serde::Serialize;

use crate::words::imported_sentence;

/// Who wrote a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RecordSource {
    /// A tree of events of dp_accounting.
    DpEvent,
    /// The history of an accountant of Opacus.
    Opacus,
}

/// The phases of a record, accounted for together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.imported/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
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
    pub says: &'static str,
}

/// A claim about the phases of a record.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedClaim {
    /// ε, δ, adjacency.
    #[serde(flatten)]
    pub claim: PrivacyClaim,
    /// What is proven of it.
    pub verdict: CheckVerdict,
}

impl ImportedReport {
    /// Accounts for the phases at δ.
    ///
    /// # Errors
    /// Those of [`account_phases`].
    pub fn new(
        source: RecordSource,
        phases: Vec<Phase>,
        delta: f64,
        claim: Option<PrivacyClaim>,
    ) -> Result<Self, AccountingError> {
        let found = account_phases(&phases, delta)?;
        let claim = claim.map(|claim| {
            let verdict = if found.lower.epsilon > claim.epsilon {
                CheckVerdict::Refuted
            } else if found.upper.epsilon <= claim.epsilon && claim.adjacency != Adjacency::Replace
            {
                CheckVerdict::HoldsAsDescribed
            } else {
                CheckVerdict::Inconclusive
            };
            ImportedClaim { claim, verdict }
        });
        Ok(ImportedReport {
            schema: "dpscope.imported/1",
            version: env!("CARGO_PKG_VERSION"),
            source,
            steps: phases.iter().map(|phase| phase.steps).sum(),
            phases,
            lower: found.lower,
            upper: found.upper,
            claim,
            says: imported_sentence(claim.map(|claim| claim.verdict)),
        })
    }
}
