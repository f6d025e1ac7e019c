//! Where bins and cuts lie: fixed by a pilot before anything is counted.

use dpscope_core::adjacency::World;
use dpscope_core::audit::AuditError;
use dpscope_core::bound::{PredictedErrors, ThresholdRule, choose_cuts};
use dpscope_core::histogram::ScoreBins;
use dpscope_core::trade_off::{TradeOff, Trials};
use dpscope_shaders::bgm::{Phase, ScoreKernel};
use serde::{Deserialize, Serialize};

use crate::EngineError;
use crate::backend::CpuBackend;
use crate::plan::ValidPlan;

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

/// Pilot observations of each world: a sixteenth of the run's, at most 2¹⁷, and at most about half
/// a second of one core.
fn pilot_observations(plan: &ValidPlan) -> u64 {
    const MOST_NORMALS: u64 = 200_000_000;
    let affordable = MOST_NORMALS / plan.law().normals_per_observation().max(1);
    let wanted = plan.plan().observations_per_world() / 16;
    wanted.min(affordable).clamp(256, 1 << 17)
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
        let kernel = ScoreKernel::new(plan.law(), plan.plan().seed, Phase::Pilot)?;
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
                let per_world = plan.observations_per_world();
                let trials = Trials { target: per_world, zero_out: per_world };
                let cuts = plan.cuts as usize;
                choose_cuts(&predicted, trials, plan.delta, plan.significance, cuts)
                    .map_err(AuditError::from)?
            }
            _ => Vec::new(),
        };
        Ok(Layout { bins, thresholds })
    }
}
