//! All bounds of one run, findings and verdicts.

use super::{
    AnyMechanism, CanaryDesign, CutHits, DeltaAllowance, GaussianLeak, Gdp, IndependentCanaries,
    NullScores, NullTails, OneShotError, RankedCanary, SimultaneousRule,
};
use crate::adjacency::Adjacency;
use crate::audit::OutcomeKind;
use crate::audit::claim::{ClaimError, ClaimVerdict, PrivacyClaim, VerdictReason};
use crate::audit::one_run::{OneRunFinding, implied_claim};
use crate::gdp::gdp_epsilon;
use crate::math;

/// What is asked of the canaries of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneShotQuestion {
    /// How the number of canaries was drawn.
    pub design: CanaryDesign,
    /// Canaries that were inserted; those without a score count as canaries with p = 1.
    pub inserted: u64,
    /// δ of the statement.
    pub delta: f64,
    /// Chance that a bound is wrong.
    pub significance: f64,
    /// The part of it that null probabilities used up; 0 where they are exact.
    pub null_significance: f64,
    /// Server rounds over which a score is the largest; 1 for others. They enter what could have been
    /// seen; null probabilities contain them already.
    pub server_rounds: u64,
}

/// Lower bounds of one run, each with its own assumption and with the whole significance: choose one
/// before the training.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneShotBounds {
    /// ε, for any training algorithm.
    pub epsilon: f64,
    /// μ, for any training algorithm that is claimed to be μ-GDP.
    pub gdp_mu: f64,
    /// ε, if canaries do not influence each other.
    pub independent_epsilon: f64,
    /// μ, if canaries do not influence each other and the training is claimed to be μ-GDP; none if a
    /// canary has no score.
    pub independent_gdp_mu: Option<f64>,
}

/// What [`OneShotBounds`] follow from, other than that on ε for any training algorithm; with the number of
/// canaries.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneShotEvidence {
    /// The cut that decides μ for any training algorithm; none where it is 0.
    pub gdp_cut: Option<CutHits>,
    /// The canary that decides ε of independent canaries; none where it is 0.
    pub independent: Option<RankedCanary>,
    /// Mean of the normal scores, from which μ of independent canaries follows; none if a canary has no
    /// score, or one that shows nothing.
    pub mean_normal_score: Option<f64>,
}

/// Bounds from the canaries of one run, with findings.
///
/// # Guarantee
/// That of [`AnyMechanism::epsilon_lower`] for the verdict; a finding that costs coverage leaves an
/// estimate (`unit::verdicts_need_coverage`).
#[derive(Debug, Clone, PartialEq)]
pub struct OneShotResult {
    question: OneShotQuestion,
    bounds: OneShotBounds,
    allowance: DeltaAllowance,
    deciding: Option<RankedCanary>,
    evidence: OneShotEvidence,
    detectable_mu: Option<f64>,
    ceiling: Option<f64>,
    findings: Vec<OneRunFinding>,
}

/// With this probability a detectable leak shows ε > 0.
const DETECTION_POWER: f64 = 0.8;

impl OneShotResult {
    /// All bounds from the null probabilities of the seen canaries.
    ///
    /// # Errors
    /// An argument outside its domain, or more null probabilities than canaries.
    pub fn new(tails: &NullTails, question: OneShotQuestion) -> Result<Self, OneShotError> {
        let OneShotQuestion { design, inserted, delta, significance, null_significance, .. } =
            question;
        tails.check_at_most(inserted)?;
        let level = significance - null_significance;
        let any = AnyMechanism::new(design)?;
        let rule = any.simultaneous_rule(delta, level)?;
        let cut = any.deciding_cut(tails, level)?;
        let mut bounds = OneShotBounds {
            epsilon: rule.epsilon_lower(tails)?,
            gdp_mu: cut.map_or(0.0, |(_, mu)| mu),
            independent_epsilon: 0.0,
            independent_gdp_mu: None,
        };
        let mut evidence =
            OneShotEvidence { gdp_cut: cut.map(|(cut, _)| cut), ..OneShotEvidence::default() };
        if inserted > 0 {
            let canaries = IndependentCanaries::new(inserted, level)?;
            let deciding = canaries.deciding(tails, delta)?;
            bounds.independent_epsilon = deciding.map_or(0.0, |(_, epsilon)| epsilon);
            evidence.independent = deciding.map(|(canary, _)| canary);
            let gdp = Gdp::new(&canaries);
            let mean = gdp.mean_score(tails);
            bounds.independent_gdp_mu = mean.map(|mean| gdp.mu_of_mean(mean));
            evidence.mean_normal_score = mean.filter(|mean| mean.is_finite());
        }
        let scored = tails.len() as u64;
        let finding = match inserted - scored {
            _ if scored == 0 => Some(OneRunFinding::NoScores { canaries: inserted }),
            0 => None,
            count => Some(OneRunFinding::MissingCosines { count, canaries: inserted }),
        };
        let share = scored as f64 / inserted.max(1) as f64;
        Ok(Self {
            bounds,
            allowance: rule.allowance(),
            deciding: rule.deciding(tails)?,
            evidence,
            detectable_mu: rule.detectable_mu(share * design.mean(), question.server_rounds),
            ceiling: None,
            findings: finding.into_iter().chain(design.number_finding(inserted)).collect(),
            question,
        })
    }

    /// The result of canaries whose p-values are those of null scores.
    ///
    /// # Errors
    /// As [`OneShotResult::new`].
    pub fn of_scores(
        included: &[f64],
        null: &NullScores,
        question: OneShotQuestion,
    ) -> Result<Self, OneShotError> {
        let OneShotQuestion { design, delta, significance, null_significance, .. } = question;
        let rule = AnyMechanism::new(design)?
            .simultaneous_rule(delta, significance - null_significance)?;
        let detects = |mu: f64| {
            let power = |leak: GaussianLeak| {
                let ln_tail = |ln_p| null.ln_tail_needed(ln_p);
                leak.power_with(&rule, design.mean(), f64::MIN_POSITIVE, ln_tail)
            };
            GaussianLeak::new(mu).map(power).is_ok_and(|power| power >= DETECTION_POWER)
        };
        Ok(Self {
            detectable_mu: least_mu(detects),
            ceiling: Some(rule.epsilon_lower(&null.least_tails(included.len()))?),
            ..Self::new(&null.tails(included), question)?
        }
        .with_findings(null.findings(included)))
    }

    /// Adds findings to this result.
    #[must_use]
    pub fn with_findings(mut self, findings: impl IntoIterator<Item = OneRunFinding>) -> Self {
        self.findings.extend(findings);
        self
    }

    /// The question.
    #[must_use]
    pub const fn question(&self) -> &OneShotQuestion {
        &self.question
    }

    /// The bounds.
    #[must_use]
    pub const fn bounds(&self) -> &OneShotBounds {
        &self.bounds
    }

    /// What δ cost the bound for any training algorithm.
    #[must_use]
    pub const fn allowance(&self) -> DeltaAllowance {
        self.allowance
    }

    /// The canary that decides the bound on ε for any training algorithm; none where it is 0.
    #[must_use]
    pub const fn deciding(&self) -> Option<RankedCanary> {
        self.deciding
    }

    /// What the other bounds follow from.
    #[must_use]
    pub const fn evidence(&self) -> &OneShotEvidence {
        &self.evidence
    }

    /// The μ of a Gaussian leak for which these canaries show ε > 0 with probability 80 %, in the bound
    /// for any training algorithm; none if δ leaves no significance.
    #[must_use]
    pub const fn detectable_mu(&self) -> Option<f64> {
        self.detectable_mu
    }

    /// Its ε; none where it is not finite.
    #[must_use]
    pub fn detectable_epsilon(&self) -> Option<f64> {
        let epsilon = gdp_epsilon(self.detectable_mu?, self.question.delta).ok()?;
        epsilon.is_finite().then_some(epsilon)
    }

    /// The bound on ε if all canaries scored above all null scores; none where the null distribution is
    /// known, and the bound has no ceiling.
    #[must_use]
    pub const fn ceiling(&self) -> Option<f64> {
        self.ceiling
    }

    /// The ε that a Gaussian mechanism with the bound on μ of independent canaries has: it refutes no
    /// (ε, δ) claim; none at δ = 0.
    #[must_use]
    pub fn epsilon_by_gaussian_curve(&self) -> Option<f64> {
        let epsilon = gdp_epsilon(self.bounds.independent_gdp_mu?, self.question.delta).ok()?;
        epsilon.is_finite().then_some(epsilon)
    }

    /// What the data indicate about protocol and code.
    #[must_use]
    pub fn findings(&self) -> &[OneRunFinding] {
        &self.findings
    }

    /// Whether the bounds have coverage.
    #[must_use]
    pub fn kind(&self) -> OutcomeKind {
        if self.findings.iter().any(OneRunFinding::costs_coverage) {
            OutcomeKind::Estimate
        } else {
            OutcomeKind::Bound
        }
    }

    /// The verdict on a claim by the bound for any training algorithm, from canaries that certify the
    /// adjacency `certified`.
    ///
    /// # Errors
    /// A claimed ε that is not a finite number ≥ 0, or a claim at another δ.
    pub fn verdict(
        &self,
        claim: &PrivacyClaim,
        certified: Adjacency,
    ) -> Result<ClaimVerdict, ClaimError> {
        claim.check_against(self.question.delta)?;
        let PrivacyClaim { epsilon, delta, .. } = implied_claim(claim, certified);
        let reason = if delta <= self.question.delta {
            let is_blind = self.detectable_epsilon().is_none() && delta > 0.0;
            let ceiling = self.ceiling.or(is_blind.then_some(0.0));
            VerdictReason::of_bound(self.bounds.epsilon, ceiling, epsilon)
        } else {
            VerdictReason::CeilingWithinClaim // the bound holds at a smaller δ than is implied
        };
        Ok(OneRunFinding::verdict(&self.findings, reason))
    }
}

impl SimultaneousRule {
    /// The μ of a Gaussian leak for which `mean` canaries with exact p-values show ε > 0 with probability
    /// 80 %, seen in so many server rounds; none if no μ up to 100 suffices.
    #[must_use]
    pub fn detectable_mu(&self, mean: f64, server_rounds: u64) -> Option<f64> {
        let ln_rounds = math::ln(server_rounds.max(1) as f64);
        least_mu(|mu| {
            let power = |leak: GaussianLeak| {
                leak.power_with(self, mean, f64::MIN_POSITIVE, |ln_p| ln_p - ln_rounds)
            };
            GaussianLeak::new(mu).map(power).is_ok_and(|power| power >= DETECTION_POWER)
        })
    }
}

/// The least μ up to 100 that suffices, to 10⁻³ of it.
fn least_mu(suffices: impl Fn(f64) -> bool) -> Option<f64> {
    let (mut low, mut high) = (0.0, 100.0);
    if !suffices(high) {
        return None;
    }
    while high - low > 1e-3 * high {
        let middle = 0.5 * (low + high);
        if suffices(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(design: CanaryDesign, inserted: u64) -> OneShotQuestion {
        OneShotQuestion {
            design,
            inserted,
            delta: 1e-6,
            significance: 0.05,
            null_significance: 0.0,
            server_rounds: 1,
        }
    }

    fn claim(epsilon: f64) -> PrivacyClaim {
        PrivacyClaim { epsilon, delta: 1e-6, adjacency: Adjacency::AddRemove }
    }

    fn result(ln_p: f64) -> OneShotResult {
        let tails = NullTails::new(vec![ln_p; 60]).unwrap();
        OneShotResult::new(&tails, question(CanaryDesign::Poisson { mean: 50.0 }, 60)).unwrap()
    }

    #[test]
    fn verdicts_need_coverage() {
        let outcome = |result: &OneShotResult, epsilon: f64| {
            result.verdict(&claim(epsilon), Adjacency::AddRemove).unwrap().reason
        };
        let strong = result(-12.0);
        assert_eq!(outcome(&strong, 2.0), VerdictReason::BoundExceedsClaim);
        assert_eq!(outcome(&strong, 20.0), VerdictReason::BoundWithinClaim);
        let unseen = OneRunFinding::UnseenNotUniform { distance: 0.5, unseen: 100 };
        let doubtful = strong.clone().with_findings([unseen]);
        assert_eq!(outcome(&doubtful, 2.0), VerdictReason::CoverageLost);
        let narrow = OneRunFinding::SpreadTooSmall { dispersion: 0.1 };
        let open = result(-0.1).with_findings([narrow]);
        assert_eq!(outcome(&open, 2.0), VerdictReason::AttackMismatch);
        let other = PrivacyClaim { delta: 1e-5, ..claim(2.0) };
        assert!(strong.verdict(&other, Adjacency::AddRemove).is_err());
    }

    #[test]
    fn a_claim_stays_open_where_no_leak_could_have_been_seen() {
        let question = question(CanaryDesign::Fixed { canaries: 1 }, 1);
        let one = OneShotResult::new(&NullTails::new(vec![-1.0]).unwrap(), question).unwrap();
        assert_eq!(one.detectable_mu(), None);
        let verdict = one.verdict(&claim(1.0), Adjacency::AddRemove).unwrap();
        assert_eq!(verdict.reason, VerdictReason::CeilingWithinClaim);
    }

    #[test]
    fn rounds_and_missing_scores_limit_what_can_be_shown() {
        let tails = NullTails::new(vec![-1.0; 30]).unwrap();
        let detectable = |inserted: u64, server_rounds: u64| {
            let design = CanaryDesign::Poisson { mean: 60.0 };
            let question = OneShotQuestion { server_rounds, ..question(design, inserted) };
            OneShotResult::new(&tails, question).unwrap().detectable_mu().unwrap()
        };
        assert!(detectable(30, 50) > detectable(30, 1) + 0.5);
        assert!(detectable(60, 1) > detectable(30, 1) + 0.1);
    }

    #[test]
    fn few_null_scores_limit_what_can_be_shown() {
        let of = |draws: u32| {
            let scores = (0..draws).map(|draw| f64::from(draw) / f64::from(draws)).collect();
            let null = NullScores::of_fresh_draws(scores, 0.005).unwrap();
            let question = OneShotQuestion {
                null_significance: 0.005,
                ..question(CanaryDesign::Poisson { mean: 50.0 }, 50)
            };
            OneShotResult::of_scores(&[2.0; 50], &null, question).unwrap()
        };
        let (few, many) = (of(500), of(50_000));
        assert!(few.ceiling().unwrap() + 4.0 < many.ceiling().unwrap());
        assert_eq!(many.ceiling(), Some(many.bounds().epsilon));
        assert!(few.detectable_mu().unwrap() > many.detectable_mu().unwrap());
        assert!(many.detectable_mu().unwrap() > result(-1.0).detectable_mu().unwrap());
        assert_eq!(of(5).detectable_mu(), None);
    }

    #[test]
    fn a_number_outside_the_design_leaves_an_estimate() {
        let strong = |mean: f64| {
            let tails = NullTails::new(vec![-12.0; 52]).unwrap();
            OneShotResult::new(&tails, question(CanaryDesign::Poisson { mean }, 52)).unwrap()
        };
        assert_eq!(strong(50.0).findings(), []);
        for mean in [1.0, 5_000.0] {
            let found = strong(mean);
            let expected = OneRunFinding::NumberOutsideDesign { canaries: 52, expected: mean };
            assert_eq!((found.findings(), found.kind()), (&[expected][..], OutcomeKind::Estimate));
            for epsilon in [0.1, 50.0] {
                let verdict = found.verdict(&claim(epsilon), Adjacency::AddRemove).unwrap();
                assert_eq!(verdict.reason, VerdictReason::CoverageLost);
            }
        }
    }

    #[test]
    fn missing_canaries_are_reported_and_leave_no_mean() {
        let tails = NullTails::new(vec![-12.0; 50]).unwrap();
        let missing =
            OneShotResult::new(&tails, question(CanaryDesign::Fixed { canaries: 60 }, 60)).unwrap();
        assert_eq!(missing.bounds().independent_gdp_mu, None);
        let finding = OneRunFinding::MissingCosines { count: 10, canaries: 60 };
        assert_eq!(missing.findings(), [finding]);
        let more = OneShotResult::new(&tails, question(CanaryDesign::Poisson { mean: 50.0 }, 40));
        assert!(more.is_err());
    }

    #[test]
    fn no_canary_yields_zero() {
        let none = question(CanaryDesign::Poisson { mean: 5.0 }, 0);
        let none = OneShotResult::new(&NullTails::default(), none).unwrap();
        assert_eq!((none.bounds().epsilon, none.bounds().independent_epsilon), (0.0, 0.0));
        assert_eq!(none.findings(), [OneRunFinding::NoScores { canaries: 0 }]);
        assert_eq!(none.detectable_mu(), None);
        let claim = PrivacyClaim { epsilon: 1.0, delta: 1e-6, adjacency: Adjacency::AddRemove };
        let verdict = none.verdict(&claim, Adjacency::AddRemove).unwrap();
        assert_eq!(verdict, ClaimVerdict::from(VerdictReason::AttackMismatch));
    }

    #[test]
    fn detectable_leaks_are_detected_with_their_power() {
        let few = result(-1.0).detectable_mu().unwrap();
        let question = question(CanaryDesign::Poisson { mean: 5_000.0 }, 60);
        let tails = NullTails::new(vec![-1.0; 60]).unwrap();
        let many = OneShotResult::new(&tails, question).unwrap().detectable_mu().unwrap();
        assert!(many < few && few < 2.0, "{many} {few}");
        let leak = GaussianLeak::new(few).unwrap();
        let power = leak.power(50.0, 0.0, 1e-6, 0.05).unwrap();
        assert!((power - DETECTION_POWER).abs() < 0.01, "{power}");
        let spent = OneShotQuestion { delta: 0.5, ..question };
        assert_eq!(OneShotResult::new(&tails, spent).unwrap().detectable_mu(), None);
    }
}
