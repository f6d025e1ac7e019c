//! Tests of a claimed curve δ(ε).

use super::{CanaryError, GuessEvidence, OneRunFinding, OneRunResult, implied_claim};
use crate::accounting::{AccountingError, Given, Kind, Query, Training, accountant};
use crate::adjacency::Adjacency;
use crate::audit::claim::{ClaimVerdict, PrivacyClaim, VerdictReason};
use crate::mechanism::SamplerKind;

/// What the guesses show about a training that claims a whole curve δ(ε), such as that of its
/// accountant.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurveTest {
    /// The largest probability of so many correct guesses under the curve, or more: the smallest over
    /// its points.
    pub p_value: f64,
    /// The point that decides: ε, nats.
    pub epsilon: f64,
    /// Its δ.
    pub delta: f64,
    /// Whether the curve is refuted, and why.
    pub verdict: ClaimVerdict,
}

/// Points of a curve; more add nothing to a p-value.
const POINTS: u32 = 48;
/// Where the curve falls below this δ, it ends: larger ε reject less.
const NEGLIGIBLE: f64 = 1e-12;

/// Points (ε, δ(ε)) that accounting proves of a training, the larger of both directions.
///
/// ε is evenly spaced from 0 to `highest`, for example the ceiling of an audit at δ = 0: beyond, no
/// number of correct guesses rejects. The points end earlier where δ(ε) is negligible.
///
/// # Errors
/// Errors of the sampler's accountant; without one, [`AccountingError::NoValue`].
pub fn curve_of_training(
    sampler: SamplerKind,
    training: &Training,
    highest: f64,
) -> Result<Vec<(f64, f64)>, AccountingError> {
    let both = Query::upper(*training, Given::Epsilon(0.0));
    let Some(accountant) = accountant(sampler, Kind::Upper) else {
        return Err(AccountingError::NoValue { kind: both.kind, directions: both.directions });
    };
    let end = accountant.account(&Query { given: Given::Delta(NEGLIGIBLE), ..both })?.epsilon;
    let point = |step: u32| {
        let epsilon = highest.min(end) * f64::from(step) / f64::from(POINTS - 1);
        let query = Query { given: Given::Epsilon(epsilon), ..both };
        Ok((epsilon, accountant.account(&query)?.delta))
    };
    (0..POINTS).map(point).collect()
}

impl OneRunResult {
    /// The verdict on a training that claims to be (ε, δ)-DP at every point of a curve.
    ///
    /// p = min over the points of p(ε, δ); the claim is refuted if p is below the significance.
    /// This is at least as powerful as testing any one point, and it holds jointly with all
    /// bounds at that significance, since every rejection is an event {v ≥ v_i} of one count.
    ///
    /// | argument | meaning |
    /// |---|---|
    /// | `curve` | pairs (ε, δ), δ the larger of both directions |
    /// | `claimed` | the adjacency of the curve |
    /// | `certified` | that of the canaries; a curve for add/remove or zero-out is compared by what it implies ([`implied_claim`]) |
    ///
    /// # Guarantee
    /// A training that obeys the curve is refuted with probability at most the significance
    /// (`tests/coverage/one_run.rs::claimed_curves_cover`).
    ///
    /// # Errors
    /// [`CanaryError::CurveWithoutFixedGuesses`], a point outside its domain, or no point.
    pub fn curve_test(
        &self,
        curve: &[(f64, f64)],
        claimed: Adjacency,
        certified: Adjacency,
    ) -> Result<CurveTest, CanaryError> {
        let Some(guesses) = self.evidence().fixed_guesses() else {
            return Err(CanaryError::CurveWithoutFixedGuesses);
        };
        let implied = |&(epsilon, delta): &(f64, f64)| {
            let point = PrivacyClaim { epsilon, delta, adjacency: claimed };
            let implied = implied_claim(&point, certified);
            (implied.epsilon, implied.delta)
        };
        let admissible = |point: &(f64, f64)| point.1 < 1.0; // a δ of 1 claims nothing
        let points: Vec<(f64, f64)> = curve.iter().map(implied).filter(admissible).collect();
        // a training that leaks this much explains any number of correct guesses
        let smallest = match (points.is_empty(), curve.is_empty()) {
            (true, false) => 1.0,
            _ => guesses.p_value_of_curve(&points)?,
        };
        let mut deciding = points.first().copied().unwrap_or((0.0, 1.0));
        for &(epsilon, delta) in &points {
            if guesses.p_value(epsilon, delta)? <= smallest {
                deciding = (epsilon, delta);
            }
        }
        let p_value = self.evidence().allowing_size(smallest);
        let reason = if p_value < self.significance() {
            VerdictReason::BoundExceedsClaim
        } else {
            VerdictReason::BoundWithinClaim
        };
        let verdict = OneRunFinding::verdict(self.findings(), reason);
        let (epsilon, delta) = deciding;
        Ok(CurveTest { p_value, epsilon, delta, verdict })
    }
}

impl GuessEvidence {
    /// The guesses, if their number was fixed beforehand.
    fn fixed_guesses(&self) -> Option<&super::Guesses> {
        self.steps().first().filter(|_| self.is_fixed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::claim::Verdict;
    use crate::audit::one_run::{CanaryGame, GaussianGuesses, Guesses, ranking_sizes};
    use crate::gdp::gdp_delta;

    fn curve(mu: f64) -> Vec<(f64, f64)> {
        let epsilons = (0..300).map(|i| f64::from(i) * 0.02);
        epsilons.map(|epsilon| (epsilon, gdp_delta(mu, epsilon).unwrap())).collect()
    }

    fn result(correct: u64) -> OneRunResult {
        let guesses = Guesses::new(CanaryGame::coins(1_000).unwrap(), 100, correct).unwrap();
        OneRunResult::new(GuessEvidence::fixed(guesses), &[1e-5], 0.05).unwrap()
    }

    #[test]
    fn a_curve_is_refuted_where_none_of_its_usual_points_is() {
        let found = result(85);
        let guesses = Guesses::new(CanaryGame::coins(1_000).unwrap(), 100, 85).unwrap();
        let mu = GaussianGuesses::new(guesses).mu_lower_by_count(0.05).unwrap();
        let at =
            |mu| found.curve_test(&curve(mu), Adjacency::ZeroOut, Adjacency::AddRemove).unwrap();
        let below = at(mu - 0.03);
        assert_eq!(below.verdict.outcome, Verdict::Refuted, "{below:?}");
        let usual = crate::gdp::gdp_epsilon(mu - 0.03, 1e-5).unwrap();
        assert!(found.bounds()[0].epsilon < usual, "{below:?} {usual}");
        assert_eq!(at(mu).verdict.outcome, Verdict::NotRefuted);
    }

    #[test]
    fn pairs_test_what_a_curve_implies_for_a_replacement() {
        let found = result(85);
        let at =
            |certified| found.curve_test(&curve(0.5), Adjacency::AddRemove, certified).unwrap();
        let (one, pairs) = (at(Adjacency::AddRemove), at(Adjacency::Replace));
        assert!(pairs.p_value > one.p_value, "{one:?} {pairs:?}");
    }

    #[test]
    fn a_curve_that_claims_nothing_explains_all_guesses() {
        let [claimed, certified] = [Adjacency::AddRemove, Adjacency::Replace];
        let test = result(100).curve_test(&[(0.0, 1.0), (1.0, 0.9)], claimed, certified).unwrap();
        assert_eq!((test.p_value, test.verdict.outcome), (1.0, Verdict::NotRefuted));
        assert!(result(100).curve_test(&[], claimed, certified).is_err());
    }

    #[test]
    fn a_walk_refutes_no_curve() {
        let game = CanaryGame::coins(64).unwrap();
        let sizes = ranking_sizes(64);
        let evidence = GuessEvidence::walk(game, sizes.clone(), sizes).unwrap();
        let walk = OneRunResult::new(evidence, &[1e-5], 0.05).unwrap();
        let refused = walk.curve_test(&curve(0.1), Adjacency::ZeroOut, Adjacency::AddRemove);
        assert_eq!(refused, Err(CanaryError::CurveWithoutFixedGuesses));
    }
}
