//! The report of an audit.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::bayesian::CredibleInterval;
use dpscope_core::audit::claim::{ClaimError, Verdict};
use dpscope_core::audit::trade_off::Trials;
use dpscope_core::audit::{AuditResult, OutcomeKind, ResultRecord, ScoreSlope, ValueAtCut};
use dpscope_core::mechanism::BatchedGaussian;
use serde::Serialize;

use super::{
    ClaimRecord, ClaimTest, IndependenceRecord, PlanRecord, ShuffleWindowRecord, TheoryComparison,
    TrainingFacts,
};
use crate::words::{Subject, finding_sentences};

/// The result of an audit, with what it rests on.
#[derive(Debug, Serialize)]
pub struct Report {
    /// `dpscope.report/1`.
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// What was audited.
    pub subject: Subject,
    /// Neighbouring relation of the audited pair.
    pub adjacency: Adjacency,
    /// The result and the cut that decided it.
    pub result: ResultRecord,
    /// The largest value over all cuts: an estimate, as published audits report.
    pub uncorrected_maximum: Option<ValueAtCut>,
    /// None where nothing is known of the training.
    pub theory: Option<TheoryComparison>,
    /// Numbers of runs.
    pub observations: Observations,
    /// Runs that failed, counted against the attack.
    pub non_finite: Trials,
    /// Scores outside the inner bins of the histograms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturated: Option<Trials>,
    /// Seed of all random words, a decimal number below 2⁵³.
    pub seed: Option<String>,
    /// Who chose the seed.
    pub seed_source: Option<SeedSource>,
    /// Devices that counted.
    pub device: String,
    /// Float modes of the counts.
    pub float_mode: String,
    /// Waves that the CPU counted in place of the device.
    pub fallback_shards: u64,
    /// Wall-clock time of this run.
    pub elapsed_ms: f64,
    /// Speed of the simulation.
    pub normals_per_second: Option<f64>,
    /// SHA-256 of the histograms.
    pub histogram_digest: Option<String>,
    /// Observations that an earlier run had counted.
    pub resumed_from: Option<u64>,
    /// Slope of the log-odds of the worlds on the score; 1 for a log-likelihood ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_slope: Option<ScoreSlope>,
    /// A credible value of ε, without frequentist coverage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credible: Option<Credible>,
    /// The plan of a simulated run.
    pub plan: Option<PlanRecord>,
    /// Facts about trained models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingFacts>,
    /// What was assumed of the runs that were recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<BatchedGaussian>,
    /// The files that were read, and how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<serde_json::Value>,
    /// What the data say about code or protocol.
    pub findings: Vec<String>,
    /// Tests of the independence of recorded runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub independence: Option<IndependenceRecord>,
    /// Shuffle-buffer size estimated from recorded outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shuffle_reach: Option<ShuffleWindowRecord>,
    /// The claim that was tested.
    pub claim: Option<ClaimRecord>,
    /// The largest acceptable bound on ε.
    pub fail_above: Option<f64>,
}

/// Numbers of runs.
#[derive(Debug, Serialize)]
pub struct Observations {
    /// Runs with the target record.
    pub target: u64,
    /// Runs without the target record.
    pub zero_out: u64,
    /// Those that the rule evaluated.
    pub evaluated: Trials,
    /// Planned, both worlds together.
    pub planned: u64,
}

/// A credible value: a statement about a posterior, without frequentist coverage.
#[derive(Debug, Serialize)]
pub struct Credible {
    /// `credible`.
    kind: &'static str,
    /// The prior distribution.
    prior: &'static str,
    /// Posterior probability of ε or more.
    credibility: f64,
    /// ε, nats.
    pub epsilon: f64,
}

impl Credible {
    /// The lower end of a credible interval.
    #[must_use]
    pub fn new(found: &CredibleInterval) -> Self {
        Credible {
            kind: "credible",
            prior: "independent Jeffreys priors on both rates",
            credibility: 1.0 - found.significance,
            epsilon: found.lower,
        }
    }
}

impl Report {
    /// What every report contains; the rest is empty.
    ///
    /// # Errors
    /// A claim that cannot be compared.
    pub fn new(
        subject: Subject,
        result: &AuditResult,
        seen: Trials,
        test: &ClaimTest,
    ) -> Result<Self, ClaimError> {
        Ok(Report {
            schema: "dpscope.report/1",
            version: env!("CARGO_PKG_VERSION"),
            subject,
            adjacency: Adjacency::ZeroOut,
            result: ResultRecord::from(result),
            uncorrected_maximum: ValueAtCut::of_uncorrected_maximum(result),
            theory: None,
            observations: Observations {
                target: seen.target,
                zero_out: seen.zero_out,
                evaluated: result.evidence().trials,
                planned: seen.target.saturating_add(seen.zero_out),
            },
            non_finite: Trials { target: 0, zero_out: 0 },
            saturated: None,
            seed: None,
            seed_source: None,
            device: "cpu".to_owned(),
            float_mode: "exact".to_owned(),
            fallback_shards: 0,
            elapsed_ms: 0.0,
            normals_per_second: None,
            histogram_digest: None,
            resumed_from: None,
            score_slope: None,
            credible: None,
            plan: None,
            training: None,
            mechanism: None,
            input: None,
            findings: finding_sentences(result.findings()),
            independence: None,
            shuffle_reach: None,
            claim: ClaimRecord::new(test, result, subject)?,
            fail_above: test.fail_above,
        })
    }

    /// Whether the claim is refuted or the bound exceeds the limit.
    #[must_use]
    pub fn is_refuted(&self) -> bool {
        let refuted = self.claim.as_ref().is_some_and(|claim| claim.verdict == Verdict::Refuted);
        let is_bound = self.result.kind == OutcomeKind::Bound;
        let above = self.fail_above.is_some_and(|most| is_bound && self.result.epsilon > most);
        refuted || above
    }
}

/// Who chose the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeedSource {
    /// The user.
    Given,
    /// The system, drawn afresh.
    Entropy,
    /// The checkpoint that was resumed.
    Checkpoint,
    /// The artefacts that were merged.
    Artefact,
}
