//! Several attacks on the same runs, which share the significance of one bound.

use super::bound::{EpsilonEstimate, ThresholdRule};
use super::outcome::Outcome;
use super::result::AuditResult;
use super::scores::{AuditOptions, Scores, ScoresError};

/// Scores of the same runs by several attacks, each with its share of the significance.
///
/// # Guarantee
/// If each attack and its share were fixed without the runs that the threshold rule evaluates, the
/// largest bound exceeds ε with probability at most `significance`: each exceeds it with
/// probability at most its share of it, and the shares have a sum of at most 1 (union bound;
/// `unit::the_largest_of_several_bounds_covers_and_without_shares_it_does_not`).
#[derive(Debug, Clone, Default)]
pub struct Hypotheses<'a> {
    attacks: Vec<(Scores<'a>, f64)>,
}

/// The audit of several attacks.
#[derive(Debug, Clone)]
pub struct SharedAudit {
    /// The result of each attack at its share of the significance, in order.
    pub each: Vec<AuditResult>,
    /// The attack with the largest value; the first of equal ones.
    pub best: usize,
    /// The largest value, at the whole significance, and the largest uncorrected maximum of all,
    /// without findings.
    pub result: AuditResult,
}

/// Errors of audits of several attacks.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HypothesesError {
    /// No attack, or shares that are not positive or have a sum above 1.
    #[error("the attacks need positive shares of the significance with a sum of at most 1")]
    Shares,
    /// An error of one attack.
    #[error(transparent)]
    Scores(#[from] ScoresError),
}

impl<'a> Hypotheses<'a> {
    /// Adds an attack with its share of the significance, in (0, 1].
    #[must_use]
    pub fn with(mut self, scores: Scores<'a>, share: f64) -> Self {
        self.attacks.push((scores, share));
        self
    }

    /// Audits every attack at its share of the significance.
    ///
    /// # Errors
    /// No attack, shares outside their domain, or an error of one attack.
    pub fn audit(&self, options: &AuditOptions) -> Result<SharedAudit, HypothesesError> {
        let shares = self.attacks.iter().map(|(_, share)| *share);
        let total: f64 = shares.clone().sum();
        if !(shares.fold(1.0, f64::min) > 0.0 && total <= 1.0 + 1e-9) {
            return Err(HypothesesError::Shares);
        }
        let uncorrected =
            AuditOptions { threshold_rule: ThresholdRule::MaxUncorrected, ..*options };
        let mut each: Vec<AuditResult> = Vec::with_capacity(self.attacks.len());
        let mut largest: Option<EpsilonEstimate> = None;
        for (scores, share) in &self.attacks {
            let shared = at_share(options, *share);
            let result = scores.audit_compared(&shared)?;
            let estimate = match shared == *options {
                true => result.uncorrected_maximum().copied(),
                false => scores.audit_compared(&uncorrected)?.uncorrected_maximum().copied(),
            };
            let is_larger = |estimate: &EpsilonEstimate| {
                largest.is_none_or(|so_far| estimate.value() > so_far.value())
            };
            largest = estimate.filter(is_larger).or(largest);
            each.push(result);
        }
        let outcomes: Vec<Outcome> = each.iter().map(|result| *result.outcome()).collect();
        let rising = outcomes.iter().enumerate().rev();
        let best = rising.max_by(|a, b| a.1.value().total_cmp(&b.1.value()));
        let (best, outcome) =
            best.zip(Outcome::best_of(&outcomes)).ok_or(HypothesesError::Shares)?;
        let result =
            AuditResult::new(outcome, options.significance).with_uncorrected_maximum(largest);
        Ok(SharedAudit { each, best: best.0, result })
    }
}

/// The options of an attack with this share of the significance; a rule without coverage shares
/// nothing.
pub(super) fn at_share(options: &AuditOptions, share: f64) -> AuditOptions {
    match options.threshold_rule {
        ThresholdRule::MaxUncorrected => *options,
        _ => AuditOptions { significance: options.significance * share, ..*options },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Words};

    /// A binary score that is 1 with probability 0.1·e² in D and 0.1 in D′: ε = 2. With many more runs
    /// of D, the limit of the FPR decides alone.
    fn worlds(words: &mut Words) -> [Vec<f64>; 2] {
        let mut uniform = || (f64::from(words.next_word()) + 0.5) / 4_294_967_296.0;
        let mut world = |runs, chance| (0..runs).map(|_| f64::from(uniform() < chance)).collect();
        [world(3000, 0.1 * crate::math::exp(2.0)), world(100, 0.1)]
    }

    #[test]
    fn the_largest_of_several_bounds_covers_and_without_shares_it_does_not() {
        let options = AuditOptions {
            threshold_rule: ThresholdRule::Simultaneous,
            cuts: 1,
            ..AuditOptions::default()
        };
        let (mut wrong, mut wrong_twin) = (0, 0);
        for repetition in 0..300 {
            let mut words = Words::new(5, Purpose::Test, repetition);
            let attacks: Vec<_> = (0..16).map(|_| worlds(&mut words)).collect();
            let scores = |[target, zero_out]: &[Vec<f64>; 2]| {
                Scores::new(target, zero_out).audit(&options).unwrap().epsilon()
            };
            let hypotheses = attacks.iter().fold(Hypotheses::default(), |all, [d, d_prime]| {
                all.with(Scores::new(d, d_prime), 0.0625)
            });
            let shared = hypotheses.audit(&options).unwrap();
            wrong += u32::from(shared.result.epsilon() > 2.0);
            let twin = attacks.iter().map(scores).fold(0.0, f64::max);
            wrong_twin += u32::from(twin > 2.0);
            assert_eq!(shared.each[shared.best].epsilon(), shared.result.epsilon());
        }
        // 15 of 300 allowed; 36 or more with a chance below 1e-6
        assert!(wrong < 36 && wrong_twin >= 36, "{wrong} {wrong_twin}");
    }

    #[test]
    fn the_first_of_equal_attacks_is_the_best() {
        let equal = [vec![0.0, 1.0, 0.5, 0.2], vec![0.1, 0.3, 0.9, 0.4]];
        let [target, zero_out] = &equal;
        let scores = Scores::new(target, zero_out);
        let two = Hypotheses::default().with(scores, 0.5).with(scores, 0.5);
        let shared = two.audit(&AuditOptions::default()).unwrap();
        assert_eq!((shared.best, shared.result.epsilon()), (0, 0.0));
        assert!(shared.result.uncorrected_maximum().is_some());
    }

    #[test]
    fn shares_must_be_positive_and_fit() {
        let scores = Scores::new(&[1.0, 2.0], &[0.0, 1.0]);
        for shares in [&[][..], &[0.6, 0.6], &[0.0], &[-0.5], &[f64::NAN]] {
            let attacks =
                shares.iter().fold(Hypotheses::default(), |all, share| all.with(scores, *share));
            let error = attacks.audit(&AuditOptions::default()).unwrap_err();
            assert_eq!(error, HypothesesError::Shares, "{shares:?}");
        }
    }
}
