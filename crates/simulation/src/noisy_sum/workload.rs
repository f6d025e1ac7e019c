//! Noisy sums as a workload of the engine.

use dpscope_engine::{Control, Device, EngineError, NoQueue, UnitRange, Workload};

use super::audit::RunAudit;
use super::{
    CoordinateDraws, CosineDraws, CosineMethod, NoisySumEvidence, NoisySumPlan, NoisySumRun,
};
use crate::backend::CpuBackend;
use crate::cpu::tasks;
use crate::{Backend, PlanError};

/// A plan whose runs are drawn and audited on CPU threads.
///
/// # Guarantee
/// Neither threads nor shards change a run (`unit::threads_and_shards_change_nothing`).
#[derive(Debug)]
pub struct NoisySumRuns {
    plan: NoisySumPlan,
    audit: RunAudit,
    backend: Backend,
}

impl NoisySumRuns {
    /// A plan on `threads` threads; 0 means one per core.
    ///
    /// # Errors
    /// A field of the plan outside its domain; the system cannot create threads.
    pub fn new(plan: NoisySumPlan, threads: usize) -> Result<Self, NoisySumError> {
        Self::on(plan, Backend::Cpu(CpuBackend::new(threads)?))
    }

    /// A plan on a backend; a GPU multiplies the directions of runs in full dimension.
    ///
    /// # Errors
    /// A field of the plan outside its domain.
    pub fn on(plan: NoisySumPlan, backend: Backend) -> Result<Self, NoisySumError> {
        plan.check_fields()?;
        let audit = RunAudit::new(plan).map_err(PlanError::from)?;
        Ok(NoisySumRuns { plan, audit, backend })
    }

    fn by_distribution(
        &self,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<Vec<NoisySumRun>, EngineError> {
        let cpu = self.backend.cpu();
        let each = range.len().div_ceil(4 * cpu.threads() as u64);
        let (plan, audit) = (self.plan, &self.audit);
        let draw = |part: &UnitRange| -> Result<Vec<NoisySumRun>, EngineError> {
            let NoisySumPlan { dimension, noise_multiplier, seed, .. } = plan;
            let mut draws = CosineDraws::new(dimension, noise_multiplier, seed);
            let mut cosines = Vec::new();
            let runs = (part.first..part.end).map(|run| {
                if !control.keep_going() {
                    return Err(EngineError::Stopped);
                }
                draws.cosines(run, plan.canaries(run) as usize, &mut cosines);
                audited(audit, run, &cosines)
            });
            runs.collect()
        };
        let parts = cpu.map(&tasks(range, each as usize), draw);
        let parts: Result<Vec<_>, _> = parts.into_iter().collect();
        Ok(parts?.concat())
    }

    fn in_full_dimension(
        &self,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<Vec<NoisySumRun>, EngineError> {
        let NoisySumPlan { dimension, noise_multiplier, seed, .. } = self.plan;
        let draws = CoordinateDraws { dimension, noise_multiplier, seed };
        let runs = (range.first..range.end).map(|run| {
            let canaries = self.plan.canaries(run) as usize;
            let cosines = draws.cosines(run, canaries, &self.backend, control)?;
            audited(&self.audit, run, &cosines)
        });
        runs.collect()
    }
}

fn audited(audit: &RunAudit, run: u64, cosines: &[f64]) -> Result<NoisySumRun, EngineError> {
    audit
        .run(run, cosines)
        .map_err(|error| EngineError::Backend { backend: "cpu", reason: error.to_string() })
}

/// Why a plan has no workload.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoisySumError {
    /// A field of the plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Threads.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Workload for NoisySumRuns {
    type Plan = NoisySumPlan;
    type Queue<'a> = NoQueue<NoisySumEvidence>;

    fn plan(&self) -> &NoisySumPlan {
        &self.plan
    }

    fn first_stage(&self, _: &(dyn Fn() -> bool + Sync)) -> Result<(), EngineError> {
        Ok(())
    }

    fn cpu(&self) -> Device {
        self.backend.device()
    }

    fn smallest_wave(&self) -> u64 {
        match self.plan.method {
            CosineMethod::Distribution => self.backend.cpu().threads() as u64,
            CosineMethod::FullDimension => 1,
        }
    }

    fn compute(
        &self,
        (): &(),
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<NoisySumEvidence, EngineError> {
        let runs = match self.plan.method {
            CosineMethod::Distribution => self.by_distribution(range, control)?,
            CosineMethod::FullDimension => self.in_full_dimension(range, control)?,
        };
        Ok(NoisySumEvidence { runs })
    }
}

#[cfg(test)]
mod tests {
    use dpscope_engine::{Artefact, MergeOptions, Plan as _, Shard, Unattended, begin, merge, run};

    use super::*;
    use crate::noisy_sum::plan::tests::plan;

    fn computed(plan: NoisySumPlan, shard: Shard, threads: usize) -> Artefact<NoisySumPlan> {
        let workload = NoisySumRuns::new(plan, threads).unwrap();
        let range = shard.range(plan.units()).unwrap();
        let state = begin(&workload, range, &Unattended).unwrap();
        pollster::block_on(run(&workload, state, &Unattended)).unwrap()
    }

    #[test]
    fn threads_and_shards_change_nothing() {
        let full = NoisySumPlan {
            method: CosineMethod::FullDimension,
            dimension: 5_000,
            repeats: 3,
            ..plan()
        };
        for plan in [plan(), full] {
            let whole = computed(plan, Shard::WHOLE, 1);
            assert_eq!(whole.evidence, computed(plan, Shard::WHOLE, 3).evidence);
            let parts = (1..=3).map(|index| {
                let part = computed(plan, Shard { index, count: 3 }, 2);
                Artefact::from_bytes(&part.to_bytes()).unwrap()
            });
            let merged: Artefact<NoisySumPlan> =
                merge(parts.collect(), MergeOptions::default()).unwrap();
            assert_eq!(merged.evidence, whole.evidence);
            let first = merged.evidence.first().unwrap();
            assert_eq!(first.cosines.len() as u64, first.canaries);
        }
    }

    #[test]
    fn runs_show_what_the_mechanism_leaks() {
        let plan = NoisySumPlan { noise_multiplier: 0.5, repeats: 40, ..plan() };
        let runs = computed(plan, Shard::WHOLE, 0).evidence.runs;
        let numbers: std::collections::BTreeSet<u64> =
            runs.iter().map(|run| run.canaries).collect();
        assert!(numbers.len() > 5, "{numbers:?}");
        let mean = runs.iter().filter_map(|run| run.bounds.independent_gdp_mu).sum::<f64>() / 40.0;
        assert!((1.6..2.0).contains(&mean), "{mean}");
        assert!(runs.iter().all(|run| run.bounds.epsilon > 0.5 && run.bounds.epsilon < 12.0));
    }
}
