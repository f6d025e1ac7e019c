//! How cuts and attacks share the significance of an audit with two worlds.

use dpscope_core::audit::Finding;
use dpscope_core::audit::bound::ThresholdRule;

use super::checker::Checker;
use super::result::RecomputeError;

/// Share of the attack on recorded outputs that knows at which step the target is, beside others
/// (`dpscope_core::audit::RecordedOutputs`).
const FIXED_STEP_SHARE: f64 = 0.1;

/// Shares of a cut that a pilot has chosen: alone, or one of two.
const PILOT_SHARES: [f64; 3] = [1.0, 0.75, 0.25];

/// How the significance is shared.
pub(super) struct Sharing {
    pub(super) is_one_attack: bool,
    rule: ThresholdRule,
    cuts: u32,
    /// Possible significances of the deciding attack.
    levels: Vec<f64>,
}

impl Sharing {
    pub(super) fn of(
        report: &Checker<'_>,
        significance: f64,
        findings: &[Finding],
    ) -> Result<Self, RecomputeError> {
        let rule = report.parsed("/result/threshold_rule", "a rule")?;
        let is_one_attack = !report.is("/subject", "recorded_outputs");
        let hypotheses = findings.iter().find_map(|finding| match finding {
            Finding::BufferSearched { hypotheses, .. } => Some(*hypotheses),
            _ => None,
        });
        let attacks = f64::from(hypotheses.unwrap_or(1).max(1));
        let shares = if is_one_attack || rule == ThresholdRule::MaxUncorrected {
            vec![1.0]
        } else if report.has("/fixed_step") {
            vec![FIXED_STEP_SHARE]
        } else {
            // of equal values, the evidence is that of the last attack
            vec![(1.0 - FIXED_STEP_SHARE) / attacks, 1.0 / attacks, FIXED_STEP_SHARE]
        };
        Ok(Sharing {
            is_one_attack,
            rule,
            cuts: report.parsed("/result/cuts", "a count")?,
            levels: shares.into_iter().map(|share| significance * share).collect(),
        })
    }

    /// Compares the tail of each limit, and where it says so the number of cuts.
    pub(super) fn expect_tail(&self, report: &mut Checker<'_>, tail: f64, has_regions: bool) {
        let possible: Vec<f64> =
            self.levels.iter().flat_map(|level| self.tails(*level, tail, has_regions)).collect();
        if !possible.contains(&tail) {
            report.expect("/result/tail_per_rate", possible[0]);
        }
        if self.is_one_attack && matches!(self.rule, ThresholdRule::Split | ThresholdRule::Fixed) {
            let is_alone = possible[0] == tail;
            report.expect("/result/cuts", if is_alone { 1 } else { 2 });
        }
    }

    /// Tails that an attack of this significance can have; the most likely first.
    fn tails(&self, level: f64, stated: f64, has_regions: bool) -> Vec<f64> {
        match self.rule {
            ThresholdRule::Simultaneous => {
                let most = f64::from(self.cuts.max(1));
                // of several attacks, the number of cuts of each is not in the report
                let cuts = match self.is_one_attack {
                    true => most,
                    false => (level / (2.0 * stated)).round().max(1.0).min(most),
                };
                vec![level / (2.0 * cuts)]
            }
            ThresholdRule::Split if has_regions => {
                PILOT_SHARES.map(|share| level * share / 2.0).to_vec()
            }
            _ => vec![level / 2.0],
        }
    }
}
