//! The report of an audit with canaries of a known null distribution.

use std::borrow::Cow;

use dpscope_core::audit::OutcomeKind;
use dpscope_core::audit::claim::{ClaimError, ClaimVerdict, PrivacyClaim};
use dpscope_core::audit::one_run::{OneRunFinding, implied_claim};
use dpscope_core::audit::one_shot::{
    CosineNull, EpsilonEstimator, OneShotBounds, OneShotEvidence, OneShotResult, RankedCanary,
};
use serde::{Deserialize, Serialize};

use super::claim::verdict_of;
use super::{
    ClaimRecord, ClaimTest, FederatedTrainings, LimitRecord, OneRunFindingRecord, OneShotSimulation,
};
use crate::words::{OneShotDesign, adjacency_sentence, one_shot_claim_sentence, one_shot_headline};

/// The result of an audit with canaries of a known null distribution, with what it rests on.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneShotReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = OneShotReport::SCHEMA)))]
    pub schema: Cow<'static, str>,
    /// Version of the program.
    pub version: Cow<'static, str>,
    /// The bound for any training algorithm in one line.
    pub headline: String,
    /// On the claim and the limit together; none where nothing was tested.
    pub verdict: Option<ClaimVerdict>,
    /// Canaries, their null distribution, and who attacks.
    pub design: OneShotDesign,
    /// Whether the values of ε have coverage.
    pub kind: OutcomeKind,
    /// δ of the statement.
    pub delta: f64,
    /// Chance that a bound is wrong; each of the bounds has all of it.
    pub significance: f64,
    /// Lower bounds, each with its own assumption.
    pub bounds: OneShotBounds,
    /// The canary that decides the bound on ε for any training algorithm; none where it is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deciding: Option<RankedCanary>,
    /// What the other bounds follow from; none of several runs that one bound covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<OneShotEvidence>,
    /// The part of the significance that null probabilities used up; 0 where they are exact.
    pub null_significance: f64,
    /// ε of a Gaussian mechanism with the bound on μ of independent canaries: it refutes no (ε, δ)
    /// claim.
    pub epsilon_by_gaussian_curve: Option<f64>,
    /// The smallest p-values that count for nothing, because of δ.
    pub canaries_lost_to_delta: u64,
    /// ε of a Gaussian leak that these canaries show with probability 80 %; none if δ leaves no
    /// significance, or is 0.
    pub detectable_epsilon: Option<f64>,
    /// The bound if all canaries scored above all null scores; none where the null distribution is exact
    /// and continuous.
    pub ceiling: Option<f64>,
    /// Estimates, without coverage; none where the null distribution is not that of cosines.
    pub estimates: Vec<OneShotEstimate>,
    /// Mean of the normal scores times √K, N(0, 1) if no canary arrived; none where null
    /// probabilities are only limits.
    pub standardised_mean: Option<f64>,
    /// Whether a bound exceeds 0 or a control client was seen: canaries had an effect.
    pub has_arrived: bool,
    /// What the data indicate about protocol and code.
    pub findings: Vec<OneRunFindingRecord>,
    /// The claim that was tested.
    pub claim: Option<ClaimRecord>,
    /// The largest acceptable bound on ε, and whether it is exceeded.
    pub fail_above: Option<LimitRecord>,
    /// The files that were read.
    pub input: OneShotFiles,
    /// The simulated mechanism; none of a training.
    pub simulation: Option<OneShotSimulation>,
    /// Federated trainings by the program; none of others.
    pub training: Option<FederatedTrainings>,
    /// Wall-clock time of this audit.
    pub elapsed_ms: f64,
}

/// An estimate beside its range without a leak.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneShotEstimate {
    /// How it is computed.
    pub method: EpsilonEstimator,
    /// Estimated ε.
    pub epsilon: f64,
    /// 90 % of runs without any leak have an estimate in this interval.
    pub null_range: [f64; 2],
}

impl OneShotEstimate {
    /// Share of runs without any leak outside `null_range`.
    pub const OUTSIDE: f64 = 0.1;

    /// Estimates from cosines; none at δ = 0 or for fewer than two cosines.
    #[must_use]
    pub fn all(null: &CosineNull, cosines: &[f64], delta: f64) -> Vec<Self> {
        let estimate = |method: EpsilonEstimator| {
            let epsilon = method.epsilon(null, cosines, delta).ok()?;
            let count = cosines.len() as u64;
            let null_range = method.null_range(count, delta, Self::OUTSIDE).ok()?;
            Some(Self { method, epsilon, null_range })
        };
        [EpsilonEstimator::Mean, EpsilonEstimator::TwoGaussians]
            .into_iter()
            .filter_map(estimate)
            .collect()
    }
}

/// The files that were read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneShotFiles {
    /// Cosines or other scores of the canaries.
    pub scores: Option<String>,
    /// Scores of canaries that were not in.
    pub unseen: Option<String>,
    /// The final model.
    pub model: Option<String>,
    /// The update of every server round.
    pub updates: Option<String>,
    /// The model after every server round.
    pub models: Option<String>,
    /// The server rounds of each canary.
    pub participation: Option<String>,
    /// The weights of the clients that replied.
    pub replies: Option<String>,
    /// The model before the training.
    pub initial_model: Option<String>,
    /// The plan.
    pub plan: Option<String>,
    /// The update of canary 0, as the audited code flattens it.
    pub control: Option<String>,
}

impl OneShotReport {
    /// The `schema` of these reports.
    pub const SCHEMA: &'static str = "dpscope.one_shot/1";

    /// The report of a result; `standardised_mean` is that of exact null probabilities.
    ///
    /// # Errors
    /// A claim that cannot be compared.
    pub fn new(
        result: OneShotResult,
        design: OneShotDesign,
        standardised_mean: Option<f64>,
        test: &ClaimTest,
    ) -> Result<Self, ClaimError> {
        let certified = design.adjacency;
        let far = test.claim.as_ref().and_then(|claim| {
            let implied = implied_claim(claim, certified);
            OneRunFinding::far_above_claim(result.bounds().epsilon, implied.epsilon)
        });
        let result = result.with_findings(far);
        let (question, bounds) = (*result.question(), *result.bounds());
        let has_arrived = bounds.epsilon > 0.0
            || bounds.independent_epsilon > 0.0
            || bounds.independent_gdp_mu.is_some_and(|mu| mu > 0.0);
        let claim = test.claim.map(|claim| -> Result<ClaimRecord, ClaimError> {
            let verdict = result.verdict(&claim, certified)?;
            let findings = result.findings();
            let says = one_shot_claim_sentence(verdict.reason, &design, has_arrived, findings);
            let note = adjacency_sentence(certified, claim.adjacency).into();
            Ok(ClaimRecord { claim, verdict, says, note })
        });
        let claim = claim.transpose()?;
        let is_one_run = question.design == design.number && question.inserted == design.inserted;
        let limit = test.fail_above.map(|epsilon| -> Result<LimitRecord, ClaimError> {
            let limit = PrivacyClaim { epsilon, delta: question.delta, adjacency: certified };
            Ok(LimitRecord { epsilon, verdict: result.verdict(&limit, certified)? })
        });
        let fail_above = limit.transpose()?;
        Ok(Self {
            schema: Self::SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            headline: one_shot_headline(&result, &design),
            verdict: verdict_of(
                claim.as_ref().map(|claim| claim.verdict),
                fail_above.map(|limit| limit.verdict),
            ),
            design,
            kind: result.kind(),
            delta: question.delta,
            significance: question.significance,
            bounds,
            deciding: result.deciding().filter(|_| is_one_run),
            evidence: is_one_run.then(|| *result.evidence()),
            null_significance: question.null_significance,
            epsilon_by_gaussian_curve: result.epsilon_by_gaussian_curve(),
            canaries_lost_to_delta: result.allowance().canaries(),
            detectable_epsilon: result.detectable_epsilon(),
            ceiling: result.ceiling(),
            estimates: Vec::new(),
            standardised_mean,
            has_arrived,
            findings: result.findings().iter().copied().map(Into::into).collect(),
            claim,
            fail_above,
            input: OneShotFiles::default(),
            simulation: None,
            training: None,
            elapsed_ms: 0.0,
        })
    }

    /// The report of an audit in which a control client took part and is seen: what clients send
    /// arrives, also where no canary shows a leak.
    #[must_use]
    pub fn with_seen_control(mut self) -> Self {
        self.has_arrived = true;
        if let Some(claim) = &mut self.claim {
            let findings: Vec<_> = self.findings.iter().map(|record| record.finding).collect();
            claim.says =
                one_shot_claim_sentence(claim.verdict.reason, &self.design, true, &findings);
        }
        self
    }
}
