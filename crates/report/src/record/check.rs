//! The check of a described training, as the program prints it and a page shows it.

use std::borrow::Cow;

use dpscope_core::accounting::Accounted;
use dpscope_core::training_check::{
    AssumedAccounting, CheckTarget, CheckVerdict, Diagnosis, Finding, LIBRARY_LOADERS,
    LibraryLoader, Severity, TrainingSetup,
};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::words::{calibrations, claim_note, described_sentence, training_finding_sentence};

/// The described training, the findings, and the noise under which the claim would hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = CheckReport::SCHEMA)))]
    pub schema: Cow<'static, str>,
    /// Version of the program.
    pub version: Cow<'static, str>,
    /// The training.
    pub setup: TrainingSetup,
    /// What the accountant assumed.
    pub accounting: AssumedAccounting,
    /// The loader by the name that its users write, if it was given.
    #[serde(default, deserialize_with = "documented", skip_serializing_if = "Option::is_none")]
    pub library_loader: Option<LibraryLoader>,
    /// The claim, or δ and adjacency where nothing is claimed, and what is known of it.
    pub claim: CheckedClaim,
    /// Sampling rate q: that of the loader if it is known, else B/N.
    pub sampling_rate: f64,
    /// Steps per epoch, T.
    pub steps_per_epoch: u64,
    /// Steps of all epochs, T·E.
    pub steps: u64,
    /// σ of the noise that is drawn.
    pub noise_multiplier: f64,
    /// The most severe first.
    pub findings: Vec<TrainingFindingRecord>,
    /// ε that the loader leaks at least.
    pub lower: Option<Accounted>,
    /// ε that it leaks at most.
    pub upper: Option<Accounted>,
    /// ε of Poisson accounting with this rate, these steps and this noise.
    pub poisson: Option<Accounted>,
    /// Commands that compute the noise under which the claim would hold.
    pub next: Vec<String>,
}

/// A claim with its verdict, or what ε was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckedClaim {
    /// ε, δ, adjacency.
    #[serde(flatten)]
    pub target: CheckTarget,
    /// What is proven of the claim, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<CheckVerdict>,
    /// What the verdict or the bounds mean, and what not.
    pub says: String,
    /// How the adjacencies of claim and bounds were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Cow<'static, str>>,
}

/// A row of the table of loaders.
fn documented<'de, D: Deserializer<'de>>(json: D) -> Result<Option<LibraryLoader>, D::Error> {
    let Some(stated) = Option::<Value>::deserialize(json)? else { return Ok(None) };
    let row =
        LIBRARY_LOADERS.iter().find(|row| serde_json::to_value(row).is_ok_and(|row| row == stated));
    row.copied().map(Some).ok_or_else(|| D::Error::custom("no row of the table of loaders"))
}

/// A finding in words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrainingFindingRecord {
    /// What it means for the claim.
    pub severity: Severity,
    /// The finding itself.
    #[serde(flatten)]
    pub finding: Finding,
    /// For people.
    pub says: String,
}

impl CheckReport {
    /// The `schema` of these reports.
    pub const SCHEMA: &'static str = "dpscope.check/1";

    /// The document of a diagnosis.
    #[must_use]
    pub fn new(
        setup: TrainingSetup,
        accounting: AssumedAccounting,
        target: CheckTarget,
        found: Diagnosis,
    ) -> Self {
        let next = calibrations(&setup, &target, &found);
        let record = |finding: Finding| TrainingFindingRecord {
            severity: finding.severity(),
            finding,
            says: training_finding_sentence(&finding),
        };
        CheckReport {
            schema: Self::SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            setup,
            accounting,
            library_loader: None,
            claim: CheckedClaim {
                target,
                verdict: found.verdict,
                says: described_sentence(found.verdict, setup.loader.kind(), target.adjacency),
                note: target
                    .claim()
                    .map(|claim| claim_note(setup.loader.kind(), claim.adjacency).into()),
            },
            sampling_rate: found.sampling_rate,
            steps_per_epoch: found.steps_per_epoch,
            steps: found.steps,
            noise_multiplier: found.noise_multiplier,
            findings: found.findings.into_iter().map(record).collect(),
            lower: found.lower,
            upper: found.upper,
            poisson: found.poisson,
            next,
        }
    }
}

/// The loaders of libraries that `check` knows by name.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoaderTable {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.loaders/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// One for each row; of rows with the same path, the first whose arguments match counts.
    pub loaders: &'static [LibraryLoader],
}

impl LoaderTable {
    /// All of them.
    #[must_use]
    pub fn all() -> Self {
        LoaderTable {
            schema: "dpscope.loaders/1",
            version: env!("CARGO_PKG_VERSION"),
            loaders: LIBRARY_LOADERS,
        }
    }
}
