//! How cuts and attacks share the significance of an audit with two worlds.

use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::audit::{Finding, RecordedOutputs};

use super::checker::Checker;
use super::result::RecomputeError;

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
        let fixed = RecordedOutputs::FIXED_STEP_SHARE;
        let noiseless = RecordedOutputs::NOISELESS_SHARE;
        let pointer = "/noiseless_steps_decide";
        let noiseless_decide: Option<bool> = match report.has(pointer) {
            true => Some(report.parsed(pointer, "true or false")?),
            false => None,
        };
        let others = if noiseless_decide.is_some() { 1.0 - noiseless } else { 1.0 };
        let shares = if is_one_attack || rule == ThresholdRule::MaxUncorrected {
            vec![1.0]
        } else if noiseless_decide == Some(true) {
            vec![noiseless]
        } else if report.has("/fixed_step") {
            vec![fixed * others]
        } else {
            // of equal values, the evidence is that of the last attack
            let of_sampler = others - fixed * others;
            vec![of_sampler / attacks, others / attacks, fixed * others]
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
