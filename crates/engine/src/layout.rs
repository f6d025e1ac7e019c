//! Where bins and cuts lie: fixed by a pilot before anything is counted.

use dpscope_core::adjacency::World;
use dpscope_core::audit::AuditError;
use dpscope_core::audit::bound::{PredictedErrors, ThresholdRule, choose_cuts};
use dpscope_core::audit::histogram::ScoreBins;
use dpscope_core::audit::trade_off::TradeOff;
use dpscope_shaders::LANES;
use dpscope_shaders::bgm::{Phase, ScoreKernel};
use serde::{Deserialize, Serialize};

use crate::EngineError;
use crate::backend::CpuBackend;
use crate::plan::{Plan, ValidPlan};

/// Bins and cuts of a plan. A function of the plan alone: every shard finds the same.
///
/// The pilot draws from its own streams, never from those that are counted, and always on the CPU
/// twin, so that the layout does not depend on the device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Bins of every histogram.
    pub bins: ScoreBins,
    /// Thresholds of the simultaneous rule, in nats, rising; empty for other rules.
    pub thresholds: Vec<f64>,
}

/// Error rates that a plan's pilot predicts at every edge of its bins.
#[derive(Debug, Clone)]
pub struct Pilot {
    /// Bins of every histogram.
    pub bins: ScoreBins,
    /// One prediction an edge, by rising threshold.
    pub predicted: Vec<PredictedErrors>,
    /// Observations of each world that were drawn.
    pub observations: u64,
}

/// Pilot observations of each world: a sixteenth of the run's, at most 2¹⁷, and no more than draw
/// 2·10⁸ normals, about half a second of one core with AVX2 for both worlds.
///
/// 256 at least where those can be afforded; else what can be, and 64 at least, which one group of
/// lanes draws together: at the largest law, of 10⁸ normals an observation, a quarter of a minute.
fn pilot_observations(plan: &ValidPlan) -> u64 {
    const MOST_NORMALS: u64 = 200_000_000;
    let affordable = MOST_NORMALS / plan.distribution().normals_per_observation().max(1);
    let wanted = plan.plan().observations_per_world() / 16;
    wanted.clamp(256, 1 << 17).min(affordable).max(LANES as u64)
}

impl Pilot {
    /// Draws and scores the pilot of a plan.
    ///
    /// # Errors
    /// The kernel refuses the law, or `keep_going` says no.
    pub fn draw(
        plan: &ValidPlan,
        backend: &CpuBackend,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, EngineError> {
        let kernel = ScoreKernel::new(plan.distribution(), plan.plan().seed, Phase::Pilot)?;
        let n = pilot_observations(plan);
        let [d, d_prime] = World::BOTH.map(|world| backend.scores(&kernel, world, n, keep_going));
        let (d, d_prime) = (d?, d_prime?);
        let bins = ScoreBins::from_pilot(kernel.score_unit(), &d, &d_prime)?;
        let nats = |scores: &[i64]| -> Vec<f64> {
            scores.iter().map(|&s| s as f64 * kernel.score_unit()).collect()
        };
        let edges: Vec<f64> = (0..bins.edges()).map(|edge| bins.threshold(edge)).collect();
        let pilot = TradeOff::from_scores(nats(&d), nats(&d_prime)).map_err(AuditError::from)?;
        let predicted = PredictedErrors::from_likelihood_ratios(&pilot, &edges);
        Ok(Pilot { bins, predicted, observations: n })
    }
}

impl Layout {
    /// Whether the thresholds are such as the plan's rule has.
    pub(crate) fn fits(&self, plan: &Plan) -> bool {
        let thresholds = &self.thresholds;
        match plan.threshold_rule {
            ThresholdRule::Simultaneous => {
                (1..=plan.cuts as usize).contains(&thresholds.len())
                    && thresholds.iter().all(|threshold| threshold.is_finite())
                    && thresholds.is_sorted_by(|left, right| left < right)
            }
            _ => thresholds.is_empty(),
        }
    }

    /// The layout of a plan.
    ///
    /// # Errors
    /// As [`Pilot::draw`].
    pub fn of(
        plan: &ValidPlan,
        backend: &CpuBackend,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, EngineError> {
        let Pilot { bins, predicted, .. } = Pilot::draw(plan, backend, keep_going)?;
        let plan = plan.plan();
        let thresholds = match plan.threshold_rule {
            ThresholdRule::Simultaneous => {
                let trials = plan.evaluated();
                let cuts = plan.cuts as usize;
                choose_cuts(&predicted, trials, plan.delta, plan.significance, cuts)
                    .map_err(AuditError::from)?
            }
            _ => Vec::new(),
        };
        Ok(Layout { bins, thresholds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;

    #[test]
    fn thresholds_are_finite_rising_and_few_enough() {
        let bins = ScoreBins::new(1.0, 0, 0, 2).unwrap();
        let plan = Plan { cuts: 3, ..plan() };
        let fits =
            |thresholds: &[f64]| Layout { bins, thresholds: thresholds.to_vec() }.fits(&plan);
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

    #[test]
    fn the_pilot_is_smaller_where_an_observation_is_dearer() {
        let drawn = |steps_per_epoch, epochs, observations| {
            let mut plan = Plan { observations, ..plan() };
            plan.mechanism.steps_per_epoch = steps_per_epoch;
            plan.mechanism.epochs = epochs;
            pilot_observations(&plan.validated().unwrap())
        };
        assert_eq!(drawn(10, 1, 2), 256);
        assert_eq!(drawn(10, 1, 1_000_000), 31_250);
        assert_eq!(drawn(10, 1, 1 << 40), 1 << 17);
        assert_eq!(drawn(10_000, 1, 1 << 40), 20_000);
        for observations in [2, 1 << 40] {
            assert_eq!(drawn(100_000, 10, observations), 200);
            assert_eq!(drawn(100_000, 1_000, observations), 64);
        }
    }
}
