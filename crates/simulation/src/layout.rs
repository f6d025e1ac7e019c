//! Histogram bins and thresholds of a plan.

use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::audit::histogram::ScoreBins;
use serde::{Deserialize, Serialize};

/// Bins and thresholds of a plan, a function of the plan alone: the same for every shard.
///
/// The pilot has random streams of its own and always runs on the CPU twin, so the layout does not
/// depend on the device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Bins of all histograms.
    pub bins: ScoreBins,
    /// Thresholds of the simultaneous rule, in nats, ascending; empty for other rules.
    pub thresholds: Vec<f64>,
}

impl Layout {
    /// Whether the thresholds are valid for a rule with at most so many cuts.
    pub(crate) fn fits(&self, rule: ThresholdRule, cuts: u32) -> bool {
        let thresholds = &self.thresholds;
        match rule {
            ThresholdRule::Simultaneous => {
                (1..=cuts as usize).contains(&thresholds.len())
                    && thresholds.iter().all(|threshold| threshold.is_finite())
                    && thresholds.is_sorted_by(|left, right| left < right)
            }
            _ => thresholds.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_finite_ascending_and_limited() {
        let bins = ScoreBins::new(1.0, 0, 0, 2).unwrap();
        let rule = ThresholdRule::Simultaneous;
        let fits =
            |thresholds: &[f64]| Layout { bins, thresholds: thresholds.to_vec() }.fits(rule, 3);
        assert!(fits(&[0.5]) && fits(&[-1.0, 0.0, 2.5]));
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let unfit: [&[f64]; 8] = [
            &[],
            &[nan],
            &[0.0, nan, 1.0],
            &[-inf, 0.0],
            &[0.0, inf],
            &[1.0, 0.0],
            &[0.0, -0.0],
            &[0.0, 1.0, 2.0, 3.0],
        ];
        assert!(unfit.iter().all(|thresholds| !fits(thresholds)));
    }
}
