//! The report of an audit of one run.

use std::borrow::Cow;

use dpscope_core::accounting::{
    Accounted, AccountingError, Cell, Given, Kind, Query, Schedule, accountant,
};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::OutcomeKind;
use dpscope_core::audit::claim::{ClaimError, ClaimVerdict, PrivacyClaim};
use dpscope_core::audit::one_run::{
    CanaryError, CanaryGame, CurveTest, IdealAttack, IndependentGame, OneRunBound, OneRunFinding,
    OneRunResult, ProjectedScores, RedrawnCoins, ScoreMethod, curve_of_training, implied_claim,
    independent_mu,
};
use dpscope_core::gdp::{gdp_epsilon, gdp_mu_for};
use dpscope_core::mechanism::{BatchedGaussian, SamplerKind};
use serde::{Deserialize, Serialize};

use super::claim::verdict_of;
use super::{
    AuditedEpsilon, ClaimRecord, ClaimTest, LimitRecord, OneRunTrainings, TheoryComparison,
};
use crate::words::{
    OneRunDesign, adjacency_sentence, claimed_training_sentence, one_run_claim_sentence,
    one_run_finding_sentence, one_run_headline,
};

/// The result of an audit of one run, with what it rests on.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneRunReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = OneRunReport::SCHEMA)))]
    pub schema: Cow<'static, str>,
    /// Version of the program.
    pub version: Cow<'static, str>,
    /// The result in one line.
    pub headline: String,
    /// On the claim and the limit together; none where nothing was tested.
    pub verdict: Option<ClaimVerdict>,
    /// How the canaries were included and guessed.
    pub design: OneRunDesign,
    /// Whether the values of ε have coverage.
    pub kind: OutcomeKind,
    /// Chance that a bound is wrong.
    pub significance: f64,
    /// Share of it that each δ has.
    pub significance_per_delta: f64,
    /// ε for each δ.
    pub bounds: Vec<OneRunBound>,
    /// Lower bound on μ if the trade-off curve of the training is Gaussian; none where the number of
    /// guesses was not fixed.
    pub gdp_mu: Option<f64>,
    /// What published tools report that treat canaries as independent: an estimate.
    pub independent_canaries: Option<IndependentCanaries>,
    /// What pairs of canaries show if they do not influence each other; none without scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub independent_pairs: Option<IndependentPairs>,
    /// Probability of inclusion of each canary; none where coins are fair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inclusion_probability: Option<f64>,
    /// Trainings of the plan; none where it allows one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<PlannedRunsRecord>,
    /// How scores follow from projections of the releases; none where scores were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub projections: Option<ProjectionsRecord>,
    /// What redrawn coins show; none where it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_test: Option<RedrawnCoins>,
    /// Share of the pairs of an included and another canary in which the included one has the larger
    /// score; none without scores.
    pub auc: Option<f64>,
    /// Whether the guesses are better than chance.
    pub has_arrived: bool,
    /// Correct guesses among the first of the ranking.
    pub ranking: Vec<RankingStep>,
    /// What the data indicate about protocol and code.
    pub findings: Vec<OneRunFindingRecord>,
    /// The claim that was tested.
    pub claim: Option<ClaimRecord>,
    /// The training that was tested as a whole; none where none was described.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed_training: Option<ClaimedTraining>,
    /// The largest acceptable bound on ε, and whether it is exceeded.
    pub fail_above: Option<LimitRecord>,
    /// The trainings behind the guesses, if the program trained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training: Option<OneRunTrainings>,
    /// The files that were read, and how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<serde_json::Value>,
    /// Wall-clock time of this audit.
    pub elapsed_ms: f64,
}

/// An estimate that treats canaries as independent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndependentCanaries {
    /// μ of Gaussian differential privacy.
    pub gdp_mu: f64,
    /// Its ε at the first δ; none where it is not finite.
    pub epsilon: Option<f64>,
}

/// A lower bound **if** canaries do not influence each other and the training is μ-GDP for each: it decides
/// nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndependentPairs {
    /// Pairs of an included and another canary, matched at random.
    pub pairs: u64,
    /// Pairs whose included canary has the larger score.
    pub correct: u64,
    /// μ of Gaussian differential privacy, at least.
    pub gdp_mu: f64,
    /// Its ε at the first δ; none where it is not finite.
    pub epsilon: Option<f64>,
}

impl IndependentPairs {
    /// What so many pairs show at δ; none if their numbers are impossible.
    pub(crate) fn new([pairs, correct]: [u64; 2], delta: f64, significance: f64) -> Option<Self> {
        let mu = independent_mu(IndependentGame::Pairs, pairs, correct, significance).ok()?;
        let epsilon = gdp_epsilon(mu, delta).ok().filter(|epsilon| epsilon.is_finite());
        Some(Self { pairs, correct, gdp_mu: mu, epsilon })
    }
}

/// Correct guesses among the most confident ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankingStep {
    /// Number of guesses.
    pub guesses: u64,
    /// Number of correct guesses.
    pub correct: u64,
}

/// Something that the data indicate about protocol or code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneRunFindingRecord {
    /// Its code and its numbers.
    #[serde(flatten)]
    pub finding: OneRunFinding,
    /// Whether only an estimate is left.
    pub costs_coverage: bool,
    /// What was found and what to do about it.
    pub sentence: String,
}

impl From<OneRunFinding> for OneRunFindingRecord {
    fn from(finding: OneRunFinding) -> Self {
        Self {
            finding,
            costs_coverage: finding.costs_coverage(),
            sentence: one_run_finding_sentence(&finding),
        }
    }
}

/// Trainings of one plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedRunsRecord {
    /// Trainings that were scored.
    pub made: u64,
    /// Trainings that the plan allows.
    pub planned: u64,
}

/// Scores from projections of the releases on the canaries' directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProjectionsRecord {
    /// How a score follows from the projections of all steps.
    pub score: ScoreMethod,
    /// Probability that a step uses a record.
    pub sampling_rate: f64,
    /// The stated noise multiplier; none where none was stated.
    pub noise_multiplier: Option<f64>,
    /// What the projections of each run say.
    pub runs: Vec<ProjectedRunRecord>,
}

/// What the projections of one run say.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProjectedRunRecord {
    /// Steps of the run.
    pub steps: u64,
    /// Steps without noise, which calibrated scores leave out.
    pub skipped_steps: u64,
    /// Median over the steps of the standard deviation of the noise, in clip norms: an estimate; none
    /// without noise.
    pub noise_estimate: Option<f64>,
}

impl From<&ProjectedScores> for ProjectedRunRecord {
    fn from(run: &ProjectedScores) -> Self {
        Self {
            steps: run.steps as u64,
            skipped_steps: run.skipped as u64,
            noise_estimate: run.noise,
        }
    }
}

impl ProjectionsRecord {
    /// Steps without noise, if there are any.
    #[must_use]
    pub fn finding(&self) -> Option<OneRunFinding> {
        let sum = |count: fn(&ProjectedRunRecord) -> u64| {
            self.runs.iter().map(count).fold(0, u64::saturating_add)
        };
        let (skipped_steps, steps) = (sum(|run| run.skipped_steps), sum(|run| run.steps));
        (skipped_steps > 0).then_some(OneRunFinding::NoiseMissing { skipped_steps, steps })
    }
}

/// A training that is claimed as a whole, by the curve that accounting proves of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimedTraining {
    /// How batches are drawn.
    pub sampler: SamplerKind,
    /// Noise and length.
    #[serde(flatten)]
    pub schedule: Schedule,
    /// What the guesses show; none if their number was not fixed, which a test of the curve needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<CurveTest>,
    /// Proven of the training from below under zero-out adjacency, at the δ of the claim on ε or else the
    /// first; none where nothing is proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proven: Option<Accounted>,
    /// What the verdict means.
    pub says: String,
}

impl ClaimedTraining {
    /// The training, the test by the curve that accounting proves of it, and what is proven of it from
    /// below, which a `claim` on ε is compared with.
    ///
    /// # Errors
    /// A training without a curve; without a claim, guesses whose number was not fixed.
    pub fn new(
        sampler: SamplerKind,
        schedule: Schedule,
        result: &OneRunResult,
        certified: Adjacency,
        claim: Option<&PrivacyClaim>,
    ) -> Result<Self, ClaimedTrainingError> {
        let is_fixed = result.evidence().is_fixed();
        if !is_fixed && claim.is_none() {
            return Err(CanaryError::CurveWithoutFixedGuesses.into());
        }
        let curve_test = || Self::curve_test(sampler, &schedule, result, certified);
        let test = is_fixed.then(curve_test).transpose()?;
        let delta = claim.map_or(result.bounds()[0].delta, |claim| claim.delta);
        let says = claimed_training_sentence(test.as_ref());
        Ok(Self { sampler, schedule, test, proven: proven(sampler, &schedule, delta), says })
    }

    fn curve_test(
        sampler: SamplerKind,
        schedule: &Schedule,
        result: &OneRunResult,
        certified: Adjacency,
    ) -> Result<CurveTest, ClaimedTrainingError> {
        let highest = result.evidence().ceiling(0.0, result.significance());
        let highest = highest.map_err(CanaryError::from)?;
        let training = schedule.training(sampler, Kind::Upper)?;
        let curve = curve_of_training(sampler, &training, highest)?;
        let claimed = match sampler {
            SamplerKind::FixedSize => Adjacency::ZeroOut,
            _ => Adjacency::AddRemove,
        };
        Ok(result.curve_test(&curve, claimed, certified)?)
    }
}

/// What theory proves of a training from below.
fn proven(sampler: SamplerKind, schedule: &Schedule, delta: f64) -> Option<Accounted> {
    let training = schedule.training(sampler, Kind::Lower).ok()?;
    accountant(sampler, Kind::Lower)?.account(&Query::lower(training, Given::Delta(delta))).ok()
}

/// A claimed training that cannot be tested.
#[derive(Debug, thiserror::Error)]
pub enum ClaimedTrainingError {
    /// By these guesses.
    #[error(transparent)]
    Canaries(#[from] CanaryError),
    /// Because nothing is proven of it.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
}

impl OneRunReport {
    /// The `schema` of these reports.
    pub const SCHEMA: &'static str = "dpscope.one_run/1";

    /// The report of a result.
    ///
    /// # Errors
    /// A claim that cannot be compared.
    pub fn new(
        result: OneRunResult,
        design: OneRunDesign,
        test: &ClaimTest,
    ) -> Result<Self, ClaimError> {
        let of_claim = |claim: &PrivacyClaim| {
            let bound = result.bounds().iter().find(|bound| bound.delta == claim.delta)?;
            let implied = implied_claim(claim, design.adjacency);
            OneRunFinding::far_above_claim(bound.epsilon, implied.epsilon)
        };
        let far = test.claim.as_ref().and_then(of_claim);
        let result = result.with_findings(far);
        let certified = design.adjacency;
        let has_arrived = result.has_arrived();
        let claim = test.claim.map(|claim| -> Result<ClaimRecord, ClaimError> {
            let verdict = result.verdict(&claim, certified)?;
            let says =
                one_run_claim_sentence(verdict.reason, &design, has_arrived, result.findings());
            let note = adjacency_sentence(certified, claim.adjacency).into();
            Ok(ClaimRecord { claim, verdict, says, note })
        });
        let claim = claim.transpose()?;
        let first = result.bounds()[0];
        let fail_above = test.fail_above.map(|epsilon| -> Result<LimitRecord, ClaimError> {
            let limit = PrivacyClaim { epsilon, delta: first.delta, adjacency: certified };
            Ok(LimitRecord { epsilon, verdict: result.verdict(&limit, certified)? })
        });
        let fail_above = fail_above.transpose()?;
        let step = |k: &dpscope_core::audit::one_run::Guesses| RankingStep {
            guesses: k.guesses(),
            correct: k.correct(),
        };
        let independent_canaries = result.independent_mu().map(|gdp_mu| IndependentCanaries {
            gdp_mu,
            epsilon: result.independent_epsilon(first.delta),
        });
        Ok(Self {
            schema: Self::SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            headline: one_run_headline(&result, &design),
            verdict: verdict_of(
                claim.as_ref().map(|claim| claim.verdict),
                fail_above.map(|limit| limit.verdict),
            ),
            design,
            kind: result.kind(),
            significance: result.significance(),
            significance_per_delta: result.level(),
            bounds: result.bounds().to_vec(),
            gdp_mu: result.gdp_mu(),
            independent_canaries,
            independent_pairs: result
                .pairs()
                .and_then(|pairs| IndependentPairs::new(pairs, first.delta, result.significance())),
            auc: None,
            has_arrived,
            ranking: result.evidence().steps().iter().map(step).collect(),
            findings: result.findings().iter().copied().map(Into::into).collect(),
            claim,
            claimed_training: None,
            inclusion_probability: None,
            runs: None,
            projections: None,
            self_test: None,
            fail_above,
            training: None,
            input: None,
            elapsed_ms: 0.0,
        })
    }

    /// Adds a training that is claimed as a whole.
    #[must_use]
    pub fn with_claimed_training(self, claimed: ClaimedTraining) -> Self {
        let with_proven = self.with_proven(claimed.proven.as_ref());
        let of_curve = claimed.test.as_ref().map(|test| test.verdict);
        let verdict = verdict_of(of_curve, with_proven.verdict);
        Self { verdict, claimed_training: Some(claimed), ..with_proven }
    }

    /// Adds the trainings behind the guesses.
    #[must_use]
    pub fn with_trainings(self, trainings: OneRunTrainings) -> Self {
        let with_proven = self.with_proven(trainings.theory.lower.as_ref().and_then(Cell::value));
        Self { training: Some(trainings), ..with_proven }
    }

    /// Refutes a claim below what theory proves of the training, at its δ.
    ///
    /// The pair has a record and a zero gradient: nothing is said about replacing a record.
    fn with_proven(self, lower: Option<&Accounted>) -> Self {
        let (Some(record), Some(lower)) = (self.claim.clone(), lower) else { return self };
        if record.claim.adjacency == Adjacency::Replace || record.claim.delta != lower.delta {
            return self;
        }
        let claim = record.with_proven(lower, false);
        let limit = self.fail_above.as_ref().map(|limit| limit.verdict);
        Self { verdict: verdict_of(Some(claim.verdict), limit), claim: Some(claim), ..self }
    }

    /// What theory says of the claim, if theory alone refutes it.
    pub(crate) fn refuted_by_theory(&self) -> Option<&str> {
        self.claim.as_ref().and_then(ClaimRecord::refuted_by_theory)
    }
}

impl OneRunReport {
    /// What theory says of trainings by this mechanism, and what an ideal attack would show of them.
    #[must_use]
    pub fn theory(&self, mechanism: &BatchedGaussian) -> (TheoryComparison, Option<f64>) {
        let theory = TheoryComparison::of_mechanism(mechanism, self);
        let first = &self.bounds[0];
        let ideal = theory.poisson.value().and_then(|accounted| {
            let mu = gdp_mu_for(accounted.epsilon, first.delta).ok()?;
            let game = CanaryGame::coins(self.design.canaries).ok()?;
            let attack = IdealAttack::new(game, mu).ok()?;
            let best = attack.best_guesses(first.delta, self.significance_per_delta);
            best.ok().map(|(_, epsilon)| epsilon)
        });
        (theory, ideal)
    }

    /// The claimed ε, with which repeats are compared.
    #[must_use]
    pub fn claimed(&self) -> Option<f64> {
        self.claim.as_ref().map(|record| record.claim.epsilon)
    }
}

impl From<&OneRunReport> for AuditedEpsilon {
    /// The ε at the first δ.
    fn from(report: &OneRunReport) -> Self {
        let first = report.bounds[0];
        AuditedEpsilon { kind: report.kind, epsilon: first.epsilon, delta: first.delta }
    }
}
