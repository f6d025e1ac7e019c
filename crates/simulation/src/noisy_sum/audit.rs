//! The bounds of many runs of one plan.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use dpscope_core::audit::one_shot::{
    AnyMechanism, CosineNull, EpsilonEstimator, Gdp, IndependentCanaries, OneShotBounds,
    OneShotError, SimultaneousRule,
};

use super::{NoisySumPlan, NoisySumRun};

/// The rules of a plan, each solved once.
#[derive(Debug)]
pub(super) struct RunAudit {
    plan: NoisySumPlan,
    null: CosineNull,
    canaries: AnyMechanism,
    rule: SimultaneousRule,
    /// By the number of canaries.
    independent: Mutex<BTreeMap<u64, Arc<IndependentCanaries>>>,
}

impl RunAudit {
    pub(super) fn new(plan: NoisySumPlan) -> Result<Self, OneShotError> {
        let canaries = AnyMechanism::new(plan.design)?;
        Ok(RunAudit {
            null: CosineNull::new(plan.dimension)?,
            rule: canaries.simultaneous_rule(plan.delta, plan.significance)?,
            canaries,
            plan,
            independent: Mutex::default(),
        })
    }

    /// What the cosines of a run show.
    pub(super) fn run(&self, run: u64, cosines: &[f64]) -> Result<NoisySumRun, OneShotError> {
        let tails = self.null.tails(cosines)?;
        let NoisySumPlan { delta, significance, .. } = self.plan;
        let canaries = cosines.len() as u64;
        let mut bounds = OneShotBounds {
            epsilon: self.rule.epsilon_lower(&tails)?,
            gdp_mu: self.canaries.mu_lower(&tails, significance)?,
            independent_epsilon: 0.0,
            independent_gdp_mu: None,
        };
        if canaries > 0 {
            let independent = self.independent(canaries)?;
            bounds.independent_epsilon = independent.epsilon_lower(&tails, delta)?;
            bounds.independent_gdp_mu = Some(Gdp::new(&independent).mu_lower(&tails)?);
        }
        let estimate = |method: EpsilonEstimator| method.epsilon(&self.null, cosines, delta).ok();
        Ok(NoisySumRun {
            run,
            canaries,
            bounds,
            mean_estimate: estimate(EpsilonEstimator::Mean),
            two_gaussians_estimate: estimate(EpsilonEstimator::TwoGaussians),
            cosines: if run == 0 { cosines.to_vec() } else { Vec::new() },
        })
    }

    fn independent(&self, canaries: u64) -> Result<Arc<IndependentCanaries>, OneShotError> {
        if let Some(known) =
            self.independent.lock().ok().and_then(|map| map.get(&canaries).cloned())
        {
            return Ok(known);
        }
        let solved = Arc::new(IndependentCanaries::new(canaries, self.plan.significance)?);
        if let Ok(mut map) = self.independent.lock() {
            map.insert(canaries, Arc::clone(&solved));
        }
        Ok(solved)
    }
}
