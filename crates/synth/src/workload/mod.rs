//! Audits of PATE-GAN as a workload of the engine.

mod cells;
mod evidence;
mod plan;

use dpscope_core::adjacency::World;
use dpscope_engine::{
    ArtefactError, Control, Device, EngineError, FloatMode, NoQueue, UnitRange, Workload,
};
#[cfg(not(target_arch = "wasm32"))]
use rayon::prelude::*;

use crate::audit::{Audit, AuditError, AuditOutcome, AuditedRun};
use crate::lanes::LANES;
pub use cells::CellCount;
use evidence::SavedRun;
pub use evidence::{PateGanEvidence, PateGanRun};
pub use plan::{AuditedTable, PateGanPlan, PlanError};

/// The runs of a plan, on CPU threads.
///
/// # Guarantee
/// Neither threads nor shards change a run (`unit::threads_and_shards_change_nothing`), and what was
/// saved is evaluated as what was not (`unit::saved_runs_are_evaluated_as_they_were`).
#[derive(Debug)]
pub struct PateGanRuns {
    plan: PateGanPlan,
    audit: Audit,
    threads: usize,
    #[cfg(not(target_arch = "wasm32"))]
    pool: rayon::ThreadPool,
}

impl PateGanRuns {
    /// A plan with its audit, on `threads` threads; 0 means one per core. A browser's worker has one.
    ///
    /// # Errors
    /// The plan is of another audit, or a field of it outside its domain; the system cannot create
    /// threads.
    pub fn new(plan: PateGanPlan, audit: Audit, threads: usize) -> Result<Self, EngineError> {
        let mechanism = audit.mechanism();
        let is_same = plan.check_fields().is_ok()
            && *mechanism.settings() == plan.settings
            && mechanism.faults() == plan.faults
            && audit.seed() == plan.seed;
        if !is_same {
            let what = "it was written for other settings";
            return Err(ArtefactError::WorkloadMismatch { what }.into());
        }
        #[cfg(not(target_arch = "wasm32"))]
        {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let refused = |error: rayon::ThreadPoolBuildError| EngineError::Backend {
                backend: "cpu",
                reason: error.to_string(),
            };
            let pool = pool.map_err(refused)?;
            Ok(PateGanRuns { plan, audit, threads: pool.current_num_threads(), pool })
        }
        #[cfg(target_arch = "wasm32")]
        {
            let _ = threads;
            Ok(PateGanRuns { plan, audit, threads: 1 })
        }
    }

    /// Results of tasks in their order; none once a task has none.
    fn each<R: Send>(
        &self,
        tasks: &[(u64, World)],
        compute: impl Fn(&(u64, World)) -> Option<R> + Send + Sync,
    ) -> Option<Vec<R>> {
        #[cfg(not(target_arch = "wasm32"))]
        {
            self.pool.install(|| tasks.par_iter().map(compute).collect())
        }
        #[cfg(target_arch = "wasm32")]
        {
            tasks.iter().map(compute).collect()
        }
    }

    /// The audit, without the threads.
    #[must_use]
    pub fn into_audit(self) -> Audit {
        self.audit
    }
}

impl Workload for PateGanRuns {
    type Plan = PateGanPlan;
    type Queue<'a> = NoQueue<PateGanEvidence>;

    fn plan(&self) -> &PateGanPlan {
        &self.plan
    }

    fn first_stage(&self, _: &(dyn Fn() -> bool + Sync)) -> Result<(), EngineError> {
        Ok(())
    }

    fn check(&self, (): &(), evidence: &PateGanEvidence) -> Result<(), ArtefactError> {
        self.audit.check_saved(evidence)
    }

    fn cpu(&self) -> Device {
        let threads = self.threads;
        let plural = if threads == 1 { "" } else { "s" };
        let name = format!("cpu ({threads} thread{plural}, PATE-GAN)");
        Device { name, mode: FloatMode::Exact }
    }

    fn smallest_wave(&self) -> u64 {
        // the worlds of a group are separate tasks
        (LANES * self.threads.div_ceil(2)) as u64
    }

    fn compute(
        &self,
        (): &(),
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<PateGanEvidence, EngineError> {
        let groups = (range.first..range.end).step_by(LANES);
        let tasks: Vec<(u64, World)> =
            groups.flat_map(|first| World::BOTH.map(|world| (first, world))).collect();
        let compute = |&(first, world): &(u64, World)| {
            let runs = first..range.end.min(first + LANES as u64);
            let runs = self.audit.runs_while(world, runs, &|| control.keep_going())?;
            Some(runs.iter().map(|run| self.audit.saved(run)).collect::<Vec<SavedRun>>())
        };
        let found = self.each(&tasks, compute).ok_or(EngineError::Stopped)?;
        let pairs = found.chunks_exact(2).flat_map(|worlds| worlds[0].iter().zip(&worlds[1]));
        let run = |(run, (with, without)): (u64, (&SavedRun, &SavedRun))| PateGanRun {
            run,
            worlds: [with.clone(), without.clone()],
        };
        Ok(PateGanEvidence { runs: (range.first..).zip(pairs).map(run).collect() })
    }
}

impl Audit {
    /// Attack and checks of the runs of a plan.
    ///
    /// # Errors
    /// [`EvaluationError`]: evidence of another mechanism, or that of [`Audit::evaluate`].
    pub fn evaluate_saved(
        &self,
        plan: &PateGanPlan,
        evidence: &PateGanEvidence,
    ) -> Result<AuditOutcome, EvaluationError> {
        self.check_saved(evidence)?;
        let runs = World::BOTH.map(|world| -> Vec<AuditedRun> {
            let runs = evidence.runs.iter();
            runs.map(|run| self.restored(world, run.run, &run.worlds[world.index()])).collect()
        });
        Ok(self.evaluate(runs, plan.options())?)
    }
}

/// Why saved runs cannot be evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// They are of another mechanism.
    #[error(transparent)]
    Artefact(#[from] ArtefactError),
    /// The attack, or the checks.
    #[error(transparent)]
    Audit(#[from] AuditError),
}

#[cfg(test)]
mod tests {
    use dpscope_engine::{Artefact, MergeOptions, Plan as _, Shard, Unattended, begin, merge, run};

    use super::plan::tests::plan;
    use super::*;
    use crate::fault::FaultSet;

    fn audit(plan: &PateGanPlan) -> Audit {
        Audit::worst_case(&plan.settings, plan.faults, plan.seed).unwrap()
    }

    fn computed(plan: &PateGanPlan, shard: Shard, threads: usize) -> Artefact<PateGanPlan> {
        let workload = PateGanRuns::new(plan.clone(), audit(plan), threads).unwrap();
        let range = shard.range(plan.units()).unwrap();
        let state = begin(&workload, range, &Unattended).unwrap();
        pollster::block_on(run(&workload, state, &Unattended)).unwrap()
    }

    /// Stops when it is asked for the nth time.
    struct StopsAt(std::sync::atomic::AtomicI64);

    impl Control for StopsAt {
        fn keep_going(&self) -> bool {
            self.0.fetch_sub(1, std::sync::atomic::Ordering::SeqCst) > 1
        }

        fn now_ms(&self) -> f64 {
            0.0
        }
    }

    /// A run of many iterations takes minutes.
    #[test]
    fn a_run_stops_between_two_iterations() {
        let plan = plan();
        let workload = PateGanRuns::new(plan.clone(), audit(&plan), 1).unwrap();
        let compute = |calls: i64| {
            let control = StopsAt(calls.into());
            let range = UnitRange { first: 0, end: 1 };
            let found = workload.compute(&(), range, &control);
            (found, control.0.into_inner())
        };
        let (whole, left) = compute(1 << 40);
        let asked = (1 << 40) - left;
        assert!(whole.is_ok() && asked > 4, "asked {asked} times in two runs");
        let (stopped, left) = compute(asked / 2);
        assert!(matches!(stopped, Err(EngineError::Stopped)) && left <= 0, "{left}");
    }

    fn faults(names: &str) -> FaultSet {
        names.parse().unwrap()
    }

    #[test]
    fn threads_and_shards_change_nothing() {
        let plan = plan();
        let whole = computed(&plan, Shard::WHOLE, 1);
        assert_eq!(whole.evidence, computed(&plan, Shard::WHOLE, 3).evidence);
        let parts = (1..=3).rev().map(|index| {
            let part = computed(&plan, Shard { index, count: 3 }, 2);
            Artefact::from_bytes(&part.to_bytes()).unwrap()
        });
        let merged: Artefact<PateGanPlan> =
            merge(parts.collect(), MergeOptions::default()).unwrap();
        assert_eq!(merged.evidence, whole.evidence);
    }

    #[test]
    fn saved_runs_are_evaluated_as_they_were() {
        for names in ["", "S1", "O1", "S2", "U1,T4,U3", "O6"] {
            let mut plan = PateGanPlan { faults: faults(names), ..plan() };
            plan.settings.inverse_scale = 1.0;
            let audit = audit(&plan);
            let runs = World::BOTH.map(|world| audit.runs(world, 0..plan.runs));
            let saved = computed(&plan, Shard::WHOLE, 2).to_bytes();
            let saved = Artefact::<PateGanPlan>::from_bytes(&saved).unwrap();
            for (world, runs) in World::BOTH.into_iter().zip(&runs) {
                for (saved, run) in saved.evidence.runs.iter().zip(runs) {
                    let restored = audit.restored(world, saved.run, &saved.worlds[world.index()]);
                    assert_eq!(restored, *run, "{names}");
                }
            }
            let outcome = audit.evaluate_saved(&plan, &saved.evidence).unwrap();
            assert_eq!(outcome.checks, audit.evaluate(runs, plan.options()).unwrap().checks);
        }
    }

    #[test]
    fn files_are_no_larger_than_predicted() {
        for names in ["", "S1", "U1,S1", "O2", "O1"] {
            let plan = PateGanPlan { faults: faults(names), ..plan() };
            let size = computed(&plan, Shard::WHOLE, 2).to_bytes().len() as u64;
            let [most, none] = [plan.runs, 0].map(|runs| audit(&plan).saved_bytes(runs));
            assert!(size <= most && most - none < 8 * size, "{names}: {size}, {most}");
        }
    }

    #[test]
    fn evidence_of_another_mechanism_is_refused() {
        let plan = plan();
        let evidence = computed(&plan, Shard::WHOLE, 0).evidence;
        let mut other = plan.clone();
        other.settings.teachers = 3;
        assert!(audit(&other).evaluate_saved(&other, &evidence).is_err());
        let mut changed = evidence.clone();
        changed.runs[2].worlds[1].features.pop();
        assert!(audit(&plan).evaluate_saved(&plan, &changed).is_err());
        assert!(PateGanRuns::new(other, audit(&plan), 1).is_err());
        let mut seeds = plan.clone();
        seeds.seed += 1;
        assert!(PateGanRuns::new(seeds, audit(&plan), 1).is_err());
    }
}
