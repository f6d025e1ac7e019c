//! The pilot: fixes bins and thresholds before anything is counted.

use dpscope_core::adjacency::World;
use dpscope_core::audit::AuditError;
use dpscope_core::audit::bound::{PredictedErrors, ThresholdRule, choose_cuts};
use dpscope_core::audit::histogram::ScoreBins;
use dpscope_core::audit::trade_off::TradeOff;
use dpscope_engine::EngineError;
use dpscope_shaders::LANES;
use dpscope_shaders::bgm::{Phase, ScoreKernel};

use crate::Layout;
use crate::backend::CpuBackend;
use crate::plan::ValidPlan;

/// Error rates that the pilot predicts at every bin edge.
#[derive(Debug, Clone)]
pub struct Pilot {
    /// Bins of all histograms.
    pub bins: ScoreBins,
    /// One prediction per edge, by ascending threshold.
    pub predicted: Vec<PredictedErrors>,
    /// Number of pilot observations of each world.
    pub observations: u64,
}

/// Pilot observations of each world: a sixteenth of the run's, at most 2¹⁷, and at most 2·10⁸
/// normals, about half a second of one core with AVX2 for both worlds.
///
/// At least 256 if the budget of normals allows; otherwise at least 64, one group of lanes: for the
/// largest distribution, with 10⁸ normals per observation, a quarter of a minute.
fn pilot_observations(plan: &ValidPlan) -> u64 {
    const MAX_NORMALS: u64 = 200_000_000;
    let affordable = MAX_NORMALS / plan.distribution().normals_per_observation().max(1);
    let target = plan.plan().observations_per_world() / 16;
    target.clamp(256, 1 << 17).min(affordable).max(LANES as u64)
}

impl Pilot {
    /// Samples and scores the pilot of a plan.
    ///
    /// # Errors
    /// The kernel does not support the distribution, or `keep_going` returns `false`.
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
    use crate::Plan;
    use crate::plan::tests::plan;

    #[test]
    fn pilot_shrinks_for_expensive_observations() {
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
