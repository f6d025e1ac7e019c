//! A diagnosis as the document that the command line prints and a page shows.

use super::{AssumedAccounting, Diagnosis, Finding, Severity, TrainingSetup};
use crate::accounting::Accounted;
use crate::adjacency::Adjacency;
use crate::audit::claim::{PrivacyClaim, Verdict};
use crate::mechanism::SamplerKind;

/// The described training, the findings, and the noise under which the claim would hold.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckReport {
    /// Name and version of this document.
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// The training.
    pub setup: TrainingSetup,
    /// What the accountant assumed.
    pub accounting: AssumedAccounting,
    /// The claim and what is known of it.
    pub claim: CheckedClaim,
    /// q = B/N.
    pub sampling_rate: f64,
    /// T.
    pub steps_per_epoch: u64,
    /// T·E.
    pub steps: u64,
    /// σ of the noise that is drawn.
    pub noise_multiplier: f64,
    /// The most severe first.
    pub findings: Vec<FindingRecord>,
    /// ε that the loader leaks at least.
    pub lower: Option<Accounted>,
    /// ε that it leaks at most.
    pub upper: Option<Accounted>,
    /// What Poisson accounting gives with this rate, these steps and this noise.
    pub poisson: Option<Accounted>,
    /// Commands that compute the noise under which the claim would hold.
    pub next: Vec<String>,
}

/// A claim with its verdict.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckedClaim {
    /// ε, δ, adjacency.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub claim: PrivacyClaim,
    /// "Not refuted" proves nothing.
    pub verdict: Verdict,
    /// What the verdict means, and what not.
    pub says: &'static str,
    /// How adjacencies were compared.
    pub note: &'static str,
}

/// A finding in words.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "TrainingFindingRecord")
)]
pub struct FindingRecord {
    /// What it means for the claim.
    pub severity: Severity,
    /// The finding itself.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub finding: Finding,
    /// For people.
    pub says: String,
}

impl CheckReport {
    /// The document of a diagnosis.
    #[must_use]
    pub fn new(
        setup: TrainingSetup,
        accounting: AssumedAccounting,
        claim: PrivacyClaim,
        found: Diagnosis,
    ) -> Self {
        let next = next(&setup, &claim, &found);
        let says = match found.verdict {
            Verdict::Refuted => {
                "A training run as described, releasing every noisy sum, is not (epsilon, delta)-DP \
                 under zero-out adjacency. This is about the description: the trained model and the \
                 code were not examined."
            }
            Verdict::NotRefuted | Verdict::Inconclusive => {
                "Nothing that is proven about the description exceeds the claim. Not refuted proves \
                 nothing: neither that the claim holds, nor that the code does what is described."
            }
        };
        let record = |finding: Finding| FindingRecord {
            severity: finding.severity(),
            finding,
            says: finding.to_string(),
        };
        CheckReport {
            schema: "dpscope.check/1",
            version: env!("CARGO_PKG_VERSION"),
            setup,
            accounting,
            claim: CheckedClaim {
                claim,
                verdict: found.verdict,
                says,
                note: claim.adjacency_note(),
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

/// Commands for the noise under which the claim holds, with this loader and with Poisson batches.
fn next(setup: &TrainingSetup, claim: &PrivacyClaim, found: &Diagnosis) -> Vec<String> {
    let is_sound = found.findings.iter().all(|finding| finding.severity() == Severity::Note);
    // `calibrate` knows no replaced records
    let is_replace = claim.adjacency == Adjacency::Replace;
    if is_sound || is_replace || !(claim.epsilon > 0.0) {
        return Vec::new();
    }
    // every shuffle is calibrated by the bound of deterministic batches
    let loader = match setup.loader.kind() {
        SamplerKind::SlidingBuffer => SamplerKind::Deterministic,
        kind => kind,
    };
    let mut samplers = vec![loader, SamplerKind::Poisson];
    samplers.dedup();
    let command = |sampler: SamplerKind| {
        format!(
            "dpscope calibrate noise --sampler {sampler} --epsilon {} --delta {:e} --steps {} \
             --epochs {}",
            claim.epsilon, claim.delta, found.steps_per_epoch, setup.epochs
        )
    };
    samplers.into_iter().map(command).collect()
}
