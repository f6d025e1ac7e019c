//! From guesses to bounds, comparisons and verdicts.

use super::{
    CanaryError, CanaryGame, GaussianGuesses, GuessEvidence, OneRunError, OneRunFinding,
    independent_canaries_mu,
};
use crate::adjacency::Adjacency;
use crate::audit::OutcomeKind;
use crate::audit::claim::{ClaimError, ClaimVerdict, PrivacyClaim, VerdictReason};
use crate::audit::group_privacy::of_two_steps;
use crate::gdp::gdp_epsilon;

/// The bound at one δ, with what it could have been.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneRunBound {
    /// δ of the bound.
    pub delta: f64,
    /// Lower bound on ε, nats; without coverage where the result is an estimate.
    pub epsilon: f64,
    /// The bound if all guesses had been correct.
    pub ceiling: f64,
    /// The bound of Steinke et al. for the deciding number of guesses, as if it had been fixed
    /// beforehand: for comparison with published figures.
    pub steinke_epsilon: f64,
    /// What ten times as many canaries with the same share of correct guesses would add, about.
    pub gain_at_10x: f64,
    /// The deciding number of guesses.
    pub guesses: u64,
    /// The correct ones.
    pub correct: u64,
}

/// Bounds on ε from the guesses of one run, with findings.
///
/// # Guarantee
/// If training is (ε, δ)-DP and the coins are fair, each bound exceeds ε with probability at most
/// `significance`; with a fixed number of guesses, or a walk, all of them do together
/// (`tests/coverage/one_run.rs::walks_cover`). A finding that costs coverage leaves an estimate
/// (`unit::a_finding_that_costs_coverage_leaves_an_estimate`).
#[derive(Debug, Clone, PartialEq)]
pub struct OneRunResult {
    evidence: GuessEvidence,
    bounds: Vec<OneRunBound>,
    significance: f64,
    level: f64,
    gdp_mu: Option<f64>,
    independent_mu: Option<f64>,
    pairs: Option<[u64; 2]>,
    findings: Vec<OneRunFinding>,
}

/// Beyond, the bound on μ takes seconds.
const MOST_GUESSES_OF_MU: u64 = 20_000;

impl OneRunResult {
    /// Bounds at each δ.
    ///
    /// With a fixed number of guesses, all δ hold together; the rejections of a walk, or of several
    /// runs, are not nested over δ, so their bounds share the significance.
    ///
    /// # Errors
    /// [`CanaryError::NoDelta`], [`CanaryError::NoPower`] if no result could exceed 0 at any δ, or an
    /// argument outside its domain.
    pub fn new(
        evidence: GuessEvidence,
        deltas: &[f64],
        significance: f64,
    ) -> Result<Self, CanaryError> {
        let (bounds, level) = bounds(&evidence, deltas, significance)?;
        let last = evidence.steps()[evidence.steps().len() - 1];
        let (guesses, canaries) = (last.guesses(), last.game().canaries());
        let deciding = evidence.deciding(bounds[0].delta, level)?;
        let is_binary = last.game().set_size() == 2 && last.has_fair_coins();
        let independent_mu = is_binary.then(|| independent_canaries_mu(&deciding, significance));
        let gdp_mu = (evidence.is_fixed() && guesses <= MOST_GUESSES_OF_MU)
            .then(|| GaussianGuesses::new(last).mu_lower(evidence.coin_level(significance)));
        let findings = OneRunFinding::all_correct(guesses, last.correct(), canaries);
        Ok(Self {
            bounds,
            significance,
            level,
            gdp_mu: gdp_mu.transpose()?,
            independent_mu: independent_mu.transpose()?,
            pairs: None,
            findings: findings.into_iter().collect(),
            evidence,
        })
    }

    /// Adds findings to this result.
    #[must_use]
    pub fn with_findings(mut self, findings: impl IntoIterator<Item = OneRunFinding>) -> Self {
        self.findings.extend(findings);
        self
    }

    /// Adds pairs of an included and another canary, and how many are in the right order.
    #[must_use]
    pub const fn with_pairs(mut self, pairs: Option<[u64; 2]>) -> Self {
        self.pairs = pairs;
        self
    }

    /// Pairs of an included and another canary, and how many are in the right order; none without scores.
    #[must_use]
    pub const fn pairs(&self) -> Option<[u64; 2]> {
        self.pairs
    }

    /// The guesses.
    #[must_use]
    pub const fn evidence(&self) -> &GuessEvidence {
        &self.evidence
    }

    /// Canaries or sets.
    #[must_use]
    pub fn game(&self) -> CanaryGame {
        self.evidence.steps()[0].game()
    }

    /// A bound for each δ, in the order of the arguments.
    #[must_use]
    pub fn bounds(&self) -> &[OneRunBound] {
        &self.bounds
    }

    /// Chance that a bound is wrong.
    #[must_use]
    pub const fn significance(&self) -> f64 {
        self.significance
    }

    /// Share of the significance that each δ has.
    #[must_use]
    pub const fn level(&self) -> f64 {
        self.level
    }

    /// Lower bound on μ of trainings whose trade-off curve is Gaussian; none if the number of guesses
    /// was not fixed, or above 20,000 guesses.
    #[must_use]
    pub const fn gdp_mu(&self) -> Option<f64> {
        self.gdp_mu
    }

    /// An estimate of μ that assumes independent canaries, of the deciding number of guesses; none for
    /// sets of three or more and for coins that are not fair.
    #[must_use]
    pub const fn independent_mu(&self) -> Option<f64> {
        self.independent_mu
    }

    /// ε of that estimate at δ; none where it is not finite.
    #[must_use]
    pub fn independent_epsilon(&self, delta: f64) -> Option<f64> {
        gdp_epsilon(self.independent_mu?, delta).ok().filter(|epsilon| epsilon.is_finite())
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

    /// The verdict on a claim, from canaries that certify the adjacency `certified`.
    ///
    /// Pairs certify the replacement of a record, which an (ε, δ) claim for add/remove or zero-out
    /// bounds by (2ε, (1 + e^ε)δ) (group privacy): the claim is refuted where this is. Zero-out and
    /// add/remove are compared as they are.
    ///
    /// # Guarantee
    /// `unit::pairs_refute_an_add_remove_claim_at_twice_its_epsilon`,
    /// `unit::a_claim_that_no_guesses_could_refute_stays_open`,
    /// `unit::a_finding_that_costs_coverage_leaves_an_estimate`.
    ///
    /// # Errors
    /// A claimed ε that is not a finite number ≥ 0.
    pub fn verdict(
        &self,
        claim: &PrivacyClaim,
        certified: Adjacency,
    ) -> Result<ClaimVerdict, ClaimError> {
        claim.check()?;
        let PrivacyClaim { epsilon, delta, .. } = implied_claim(claim, certified);
        let known = self.bounds.iter().find(|bound| bound.delta == delta);
        let (found, ceiling) = match known {
            Some(bound) => (bound.epsilon, bound.ceiling),
            // the claim is a hypothesis of its own
            None if delta < 1.0 => (
                self.evidence.epsilon_lower(delta, self.level).unwrap_or_default(),
                self.evidence.ceiling(delta, self.level).unwrap_or_default(),
            ),
            None => (0.0, 0.0),
        };
        let reason = VerdictReason::of_bound(found, Some(ceiling), epsilon);
        Ok(OneRunFinding::verdict(&self.findings, reason))
    }

    /// Whether the guesses are better than chance: without that, nothing shows that the canaries took
    /// part.
    #[must_use]
    pub fn has_arrived(&self) -> bool {
        self.bounds.iter().any(|bound| bound.epsilon > 0.0)
            || self.evidence.p_value(0.0, 0.0).is_ok_and(|p_value| p_value < self.significance)
    }
}

/// What a claim implies for canaries that certify the adjacency `certified`.
///
/// An (ε, δ) claim for add/remove or zero-out implies (2ε, (1 + e^ε)δ) for replace, by group privacy;
/// other claims are compared as they are.
#[must_use]
pub fn implied_claim(claim: &PrivacyClaim, certified: Adjacency) -> PrivacyClaim {
    let PrivacyClaim { epsilon, delta, adjacency } = *claim;
    if certified == Adjacency::Replace && adjacency != Adjacency::Replace {
        let (epsilon, delta) = of_two_steps(epsilon, delta);
        PrivacyClaim { epsilon, delta, adjacency: certified }
    } else {
        *claim
    }
}

/// A bound for each δ, and the level of each.
///
/// # Errors
/// As [`OneRunResult::new`].
pub(super) fn bounds(
    evidence: &GuessEvidence,
    deltas: &[f64],
    significance: f64,
) -> Result<(Vec<OneRunBound>, f64), CanaryError> {
    let level = if evidence.is_fixed() { significance } else { significance / deltas.len() as f64 };
    let delta = deltas.iter().copied().reduce(f64::min).ok_or(CanaryError::NoDelta)?;
    let bounds = deltas.iter().map(|&delta| bound(evidence, delta, level));
    let bounds = bounds.collect::<Result<Vec<_>, OneRunError>>()?;
    if bounds.iter().all(|bound| bound.ceiling <= 0.0) {
        let last = evidence.steps()[evidence.steps().len() - 1];
        let (guesses, canaries) = (last.guesses(), last.game().canaries());
        return Err(CanaryError::NoPower { guesses, canaries, delta });
    }
    Ok((bounds, level))
}

fn bound(
    evidence: &GuessEvidence,
    delta: f64,
    significance: f64,
) -> Result<OneRunBound, OneRunError> {
    let deciding = evidence.deciding(delta, significance)?;
    let (guesses, correct) = (deciding.guesses(), deciding.correct());
    let level = evidence.coin_level(significance);
    let fixed = deciding.epsilon_lower(delta, level)?;
    let game = deciding.game();
    let more = CanaryGame::sets(game.canaries().saturating_mul(10), game.set_size())
        .and_then(|game| deciding.with_counts(game, 10 * guesses, 10 * correct))
        .and_then(|more| more.epsilon_lower(delta, level))
        .unwrap_or(fixed);
    Ok(OneRunBound {
        delta,
        epsilon: evidence.epsilon_lower(delta, significance)?,
        ceiling: evidence.ceiling(delta, significance)?,
        steinke_epsilon: deciding.steinke_epsilon_lower(delta, level)?,
        gain_at_10x: (more - fixed).max(0.0),
        guesses,
        correct,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::one_run::Guesses;

    fn fixed(canaries: u64, guesses: u64, correct: u64) -> OneRunResult {
        let game = CanaryGame::coins(canaries).unwrap();
        let guesses = Guesses::new(game, guesses, correct).unwrap();
        OneRunResult::new(GuessEvidence::fixed(guesses), &[1e-5, 1e-3], 0.05).unwrap()
    }

    #[test]
    fn a_claim_that_no_guesses_could_refute_stays_open() {
        let reason = |canaries, correct, epsilon| {
            let found = fixed(canaries, canaries, correct);
            let claim = PrivacyClaim { epsilon, delta: 1e-5, adjacency: Adjacency::AddRemove };
            found.verdict(&claim, Adjacency::AddRemove).unwrap().reason
        };
        assert_eq!(reason(10, 8, 2.0), VerdictReason::CeilingWithinClaim);
        assert_eq!(reason(10, 10, 0.5), VerdictReason::BoundExceedsClaim);
        assert_eq!(reason(10, 8, 0.9), VerdictReason::BoundWithinClaim);
        assert_eq!(reason(1_000, 600, 2.0), VerdictReason::BoundWithinClaim);
    }

    #[test]
    fn guesses_no_better_than_chance_show_no_arrival() {
        assert!(!fixed(400, 100, 50).has_arrived() && !fixed(400, 100, 57).has_arrived());
        assert!(fixed(400, 100, 60).has_arrived() && fixed(400, 100, 95).has_arrived());
    }

    #[test]
    fn bounds_stand_beside_their_ceiling_and_steinkes() {
        let found = fixed(1_000, 100, 95);
        for bound in found.bounds() {
            assert!(bound.ceiling > bound.epsilon && bound.epsilon >= bound.steinke_epsilon);
            assert!(bound.gain_at_10x > 0.1, "{bound:?}");
        }
        assert_eq!(format!("{:.4}", found.bounds()[0].epsilon), "2.1719");
        assert!(found.gdp_mu().unwrap() > 0.3);
        assert!(found.independent_epsilon(1e-5).unwrap() > found.bounds()[0].epsilon);
        assert_eq!(found.findings(), []);
    }

    #[test]
    fn a_walk_shares_its_significance_among_deltas() {
        let game = CanaryGame::coins(64).unwrap();
        let walk = || GuessEvidence::walk(game, vec![8, 16, 32, 64], vec![8, 16, 30, 48]).unwrap();
        let one = OneRunResult::new(walk(), &[1e-5], 0.05).unwrap();
        let two = OneRunResult::new(walk(), &[1e-5, 1e-6], 0.05).unwrap();
        assert!(two.bounds()[0].epsilon < one.bounds()[0].epsilon);
        assert_eq!((two.level(), two.significance()), (0.025, 0.05));
    }

    #[test]
    fn guesses_that_can_show_nothing_are_refused() {
        let game = CanaryGame::coins(1_000_000).unwrap();
        let evidence = GuessEvidence::fixed(Guesses::new(game, 100, 90).unwrap());
        let refused = OneRunResult::new(evidence, &[1e-5], 0.05).unwrap_err();
        assert_eq!(
            refused,
            CanaryError::NoPower { guesses: 100, canaries: 1_000_000, delta: 1e-5 }
        );
    }

    #[test]
    fn a_finding_that_costs_coverage_leaves_an_estimate() {
        let claim = PrivacyClaim { epsilon: 1.0, delta: 1e-5, adjacency: Adjacency::AddRemove };
        let verdict = |found: &OneRunResult| found.verdict(&claim, Adjacency::AddRemove).unwrap();
        let found = fixed(1_000, 100, 95);
        assert_eq!(verdict(&found).reason, VerdictReason::BoundExceedsClaim);
        let found = found.with_findings([OneRunFinding::CoinsFollowOrder { p_value: 1e-9 }]);
        assert_eq!(found.kind(), OutcomeKind::Estimate);
        assert_eq!(verdict(&found).reason, VerdictReason::CoverageLost);
    }

    #[test]
    fn pairs_refute_an_add_remove_claim_at_twice_its_epsilon() {
        let found = fixed(1_000, 100, 95); // ε ≥ 2.17 at δ = 1e-5, and 1.9 at 1e-3
        let claim =
            |epsilon| PrivacyClaim { epsilon, delta: 1e-6, adjacency: Adjacency::AddRemove };
        let reason = |epsilon, certified| found.verdict(&claim(epsilon), certified).unwrap().reason;
        assert_eq!(reason(1.5, Adjacency::AddRemove), VerdictReason::BoundExceedsClaim);
        assert_eq!(reason(1.5, Adjacency::Replace), VerdictReason::BoundWithinClaim);
        assert_eq!(reason(1.0, Adjacency::Replace), VerdictReason::BoundExceedsClaim);
    }

    #[test]
    fn correct_guesses_of_half_of_the_canaries_suggest_a_leak() {
        let of = |correct| fixed(100, 60, correct).findings().to_vec();
        assert!(of(60).iter().all(OneRunFinding::suggests_a_leak) && of(60).len() == 1);
        assert_eq!(of(59), []);
        assert!(OneRunFinding::far_above_claim(3.1, 1.0).is_some());
        assert!(OneRunFinding::far_above_claim(2.9, 1.0).is_none());
    }
}
