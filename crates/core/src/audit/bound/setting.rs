//! What all thresholds of one rule share.

use super::{BoundError, Evidence, ThresholdRule, epsilon_from_rates};
use crate::adjacency::Direction;
use crate::audit::trade_off::{Cut, ErrorCounts, Trials};
use crate::interval::clopper_pearson_upper;

/// ε and the direction of the inequality behind it.
type Value = (f64, Direction);

/// δ, tail and trials of each threshold of a rule.
pub(super) struct Setting {
    pub(super) delta: f64,
    pub(super) tail: f64,
    pub(super) rule: ThresholdRule,
    pub(super) cuts: u32,
    pub(super) trials: Trials,
}

impl Setting {
    pub(super) fn epsilon(&self, errors: ErrorCounts, trials: Trials) -> Result<f64, BoundError> {
        Ok(self.by_limits(errors, trials)?.0)
    }

    /// From the limits of both rates at the same tail.
    fn by_limits(&self, errors: ErrorCounts, trials: Trials) -> Result<Value, BoundError> {
        let fpr = clopper_pearson_upper(errors.false_positives, trials.zero_out, self.tail)?;
        let fnr = clopper_pearson_upper(errors.false_negatives, trials.target, self.tail)?;
        let found = epsilon_from_rates(fpr, fnr, self.delta);
        Ok((found.epsilon, found.direction))
    }

    pub(super) fn evaluate(&self, cut: Cut) -> Result<(f64, Evidence), BoundError> {
        self.evaluate_by(cut, |errors, trials| self.by_limits(errors, trials))
    }

    /// The value at a threshold, with its evidence, by a rule for counts.
    pub(super) fn evaluate_by(
        &self,
        cut: Cut,
        value: impl Fn(ErrorCounts, Trials) -> Result<Value, BoundError>,
    ) -> Result<(f64, Evidence), BoundError> {
        let Cut { threshold, errors } = cut;
        let fpr_upper =
            clopper_pearson_upper(errors.false_positives, self.trials.zero_out, self.tail)?;
        let fnr_upper =
            clopper_pearson_upper(errors.false_negatives, self.trials.target, self.tail)?;
        let (epsilon, direction) = value(errors, self.trials)?;
        let none = ErrorCounts { false_positives: 0, false_negatives: 0 };
        let (ceiling, _) = value(none, self.trials)?;
        let ten_times = |count: u64| count.saturating_mul(10);
        let (at_10x, _) = value(
            ErrorCounts {
                false_positives: ten_times(errors.false_positives),
                false_negatives: ten_times(errors.false_negatives),
            },
            Trials {
                target: ten_times(self.trials.target),
                zero_out: ten_times(self.trials.zero_out),
            },
        )?;
        let gain_at_10x = at_10x - epsilon;
        let events_at_threshold = errors.false_positives.min(errors.false_negatives);
        let evidence = Evidence {
            delta: self.delta,
            tail_per_rate: self.tail,
            threshold_rule: self.rule,
            cuts: self.cuts,
            threshold,
            trials: self.trials,
            errors,
            expected_rates: None,
            fpr_upper,
            fnr_upper,
            direction,
            ceiling,
            events_at_threshold,
            gain_at_10x,
            limited_by_observations: gain_at_10x > 0.1 || events_at_threshold < 30,
        };
        Ok((epsilon, evidence))
    }

    pub(super) fn best(
        &self,
        cuts: impl Iterator<Item = Cut>,
    ) -> Result<(f64, Evidence), BoundError> {
        let mut best: Option<(f64, Cut)> = None;
        for cut in cuts {
            let value = self.epsilon(cut.errors, self.trials)?;
            if best.is_none_or(|(largest, _)| value > largest) {
                best = Some((value, cut));
            }
        }
        let (_, cut) = best.ok_or(BoundError::NoCuts)?;
        self.evaluate(cut)
    }
}
