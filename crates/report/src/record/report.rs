//! The report of an audit.

use std::borrow::Cow;

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::bayesian::CredibleInterval;
use dpscope_core::audit::claim::{ClaimError, ClaimVerdict};
use dpscope_core::audit::metrics::AttackMetrics;
use dpscope_core::audit::trade_off::Trials;
use dpscope_core::audit::{AuditResult, ScoreSlope};
use dpscope_core::mechanism::BatchedGaussian;
use dpscope_core::recorded::{CanarySize, OutputPhase, StepComparison};
use serde::{Deserialize, Serialize};

use super::claim::verdict_of;
use super::value::{self, BoundRecord, EstimateRecord, FindingRecord};
use super::{
    ClaimRecord, ClaimTest, IndependenceRecord, LimitRecord, PlanRecord, RecordedUsesRecord,
    ResultRecord, SamplerEvidenceRecord, TheoryComparison, TrainingFacts, ValueAtCut,
};
use crate::words::{Subject, headline};

/// The result of an audit, with what it rests on.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = Report::SCHEMA)))]
    pub schema: Cow<'static, str>,
    /// Version of the program.
    pub version: Cow<'static, str>,
    /// What was audited.
    pub subject: Subject,
    /// Neighbouring relation of the audited pair.
    pub adjacency: Adjacency,
    /// The result in one line.
    pub headline: String,
    /// On the claim and the limit together; none where nothing was tested.
    pub verdict: Option<ClaimVerdict>,
    /// Values with coverage.
    pub bounds: Vec<BoundRecord>,
    /// Values without coverage.
    pub estimates: Vec<EstimateRecord>,
    /// What the data indicate about code or protocol.
    pub findings: Vec<FindingRecord>,
    /// The result and the cut that decided it.
    pub result: ResultRecord,
    /// The largest value over all cuts: an estimate, as published audits report.
    pub uncorrected_maximum: Option<ValueAtCut>,
    /// Metrics that papers report beside ε; none of them decides the verdict.
    pub metrics: Option<AttackMetrics>,
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
    /// Size of the canary in recorded outputs: the mean difference of the worlds, 1 if the canary is
    /// what the threat model assumes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canary: Option<CanarySize>,
    /// What recorded outputs show of each epoch, or of up to 16 groups of epochs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<OutputPhase>,
    /// The largest ratio below 1 of the noise to the stated one that recorded outputs find with
    /// probability 0.9; none with too few outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_ratio_found: Option<f64>,
    /// Which steps of an epoch are tested for noise that differs; none for one step, and where the noise was
    /// not fitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_comparison: Option<StepComparison>,
    /// Step of an epoch, from 0, at which the deciding attack on recorded outputs takes the target to
    /// be in every run; none if it is an attack on the sampler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed_step: Option<u32>,
    /// Whether the deciding attack on recorded outputs looks only at steps without noise; none where every
    /// step has noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noiseless_steps_decide: Option<bool>,
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
    /// Tests of the independence of recorded runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub independence: Option<IndependenceRecord>,
    /// Samplers compared by the likelihoods of recorded outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samplers: Option<SamplerEvidenceRecord>,
    /// Recorded uses of the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses: Option<RecordedUsesRecord>,
    /// The claim that was tested.
    pub claim: Option<ClaimRecord>,
    /// The largest acceptable bound on ε, and whether it is exceeded.
    pub fail_above: Option<LimitRecord>,
}

/// Numbers of runs.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Observations {
    /// Runs with the target record.
    pub target: u64,
    /// Runs without the target record.
    pub zero_out: u64,
    /// Observations that the rule evaluated.
    pub evaluated: Trials,
    /// Planned, both worlds together.
    pub planned: u64,
}

/// A credible value: a statement about a posterior, without frequentist coverage.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Credible {
    /// `credible`.
    kind: Cow<'static, str>,
    /// The prior distribution.
    prior: Cow<'static, str>,
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
            kind: "credible".into(),
            prior: "independent Jeffreys priors on both rates".into(),
            credibility: 1.0 - found.significance,
            epsilon: found.lower,
        }
    }
}

impl Report {
    /// The `schema` of these reports.
    pub const SCHEMA: &'static str = "dpscope.report/2";

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
        let claim = test.claim.map(|claim| ClaimRecord::new(claim, result, subject)).transpose()?;
        let fail_above = test.fail_above.map(|most| LimitRecord::new(most, result)).transpose()?;
        Ok(Report {
            schema: Self::SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            subject,
            adjacency: Adjacency::ZeroOut,
            headline: headline(
                result,
                test.claim.map(|claim| claim.epsilon).into_iter().chain(test.fail_above),
            ),
            verdict: verdict(claim.as_ref(), fail_above.as_ref()),
            bounds: value::bound_records(result),
            estimates: value::estimates(result),
            findings: result.findings().iter().copied().map(FindingRecord::from).collect(),
            result: ResultRecord::from(result),
            uncorrected_maximum: ValueAtCut::of_uncorrected_maximum(result),
            metrics: None,
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
            canary: None,
            phases: Vec::new(),
            noise_ratio_found: None,
            step_comparison: None,
            fixed_step: None,
            noiseless_steps_decide: None,
            credible: None,
            plan: None,
            training: None,
            mechanism: None,
            input: None,
            independence: None,
            samplers: None,
            uses: None,
            claim,
            fail_above,
        })
    }

    /// Puts theory beside the report. A claim below what is proven of the described training is refuted,
    /// whatever was simulated or recorded, unless the outputs contradict the description.
    #[must_use]
    pub fn with_theory(mut self, theory: Option<TheoryComparison>) -> Self {
        let mut findings = self.findings.iter();
        let contradicted = findings.any(|record| record.finding.contradicts_description());
        let is_simulated = self.subject == Subject::SimulatedMechanism;
        let decides = theory_decides(is_simulated, contradicted);
        let lower = theory.as_ref().and_then(|theory| theory.lower.as_ref()?.value());
        if let Some(lower) = lower.filter(|_| decides) {
            self.claim = self.claim.map(|claim| claim.with_proven(lower, is_simulated));
            self.verdict = verdict(self.claim.as_ref(), self.fail_above.as_ref());
        }
        Report { theory, ..self }
    }

    /// What theory says of the claim, if theory alone refutes it.
    pub(crate) fn refuted_by_theory(&self) -> Option<&str> {
        self.claim.as_ref().and_then(ClaimRecord::refuted_by_theory)
    }
}

/// Whether theory of the described training decides a claim: of a simulated mechanism always, of others
/// unless their data contradict the description.
pub(crate) fn theory_decides(is_simulated: bool, contradicts_description: bool) -> bool {
    is_simulated || !contradicts_description
}

fn verdict(claim: Option<&ClaimRecord>, limit: Option<&LimitRecord>) -> Option<ClaimVerdict> {
    verdict_of(claim.map(|claim| claim.verdict), limit.map(|limit| limit.verdict))
}

/// What a report says of the run that its counts are from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunFacts {
    /// Who chose the seed.
    pub seed_source: SeedSource,
    /// Wall time, milliseconds.
    pub elapsed_ms: f64,
    /// Results in the resumed state.
    pub resumed_from: Option<u64>,
}

/// Who chose the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SeedSource {
    /// The user.
    Given,
    /// The system, drawn afresh.
    Entropy,
    /// The recorded data: the same files have the same seed.
    Content,
    /// The checkpoint that was resumed.
    Checkpoint,
    /// The artefacts that were merged.
    Artefact,
}
