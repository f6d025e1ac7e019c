//! Audits of PATE-GAN in two worlds: an attack on the released rows, and checks of the runs.

mod average_case;
mod error;
mod memory;
mod report;
mod target;
mod worst_case;

use dpscope_core::accounting::pate::{NoisyVote, VoteNoise, VotesEpsilon};
use dpscope_core::adjacency::World;
use dpscope_core::random::stream_of;

use crate::attack::{AttackOptions, AttackResult, Features, ForestOptions, attack};
use crate::detect::{Check, detect};
use crate::fault::FaultSet;
use crate::mechanism::{Mechanism, MechanismError, Run};
use crate::settings::Settings;
use crate::table::Table;
use crate::trace::Trace;
pub use average_case::average_case;
pub use error::AuditError;
pub use report::Replay;
pub use target::{
    Candidate, JudgedCandidate, SearchError, SearchOptions, TargetSearch, most_exposed,
};

/// What an audit keeps of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedRun {
    /// What the run did.
    pub trace: Trace,
    /// Features of the rows that it released ([`Features::of`]).
    pub features: Vec<f64>,
}

/// Statistical options of an audit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AuditOptions {
    /// Chance that the bound is wrong, and that the interval of the AUC misses it, in (0, 1).
    pub significance: f64,
    /// Chance that any check of a faithful mechanism reports a fault, in (0, 1).
    pub checks_significance: f64,
}

/// What an audit found.
#[derive(Debug, Clone)]
pub struct AuditOutcome {
    /// By the attack on the released rows.
    pub attack: AttackResult,
    /// By the checks, in the order of the detectors.
    pub checks: Vec<Check>,
    /// Runs of each world.
    pub runs: u64,
    /// Statistical options.
    pub options: AuditOptions,
}

/// A mechanism on a table with and without its target, and what is looked at.
#[derive(Debug, Clone)]
pub struct Audit {
    mechanism: Mechanism,
    features: Features,
    iterations: u32,
    accounted: VotesEpsilon,
    seed: u64,
}

impl Audit {
    /// Audit of a mechanism on a table.
    ///
    /// | argument | meaning |
    /// |---|---|
    /// | `table` | the rows, with the target |
    /// | `target` | identifier of the row that one world lacks |
    /// | `settings` | public parameters |
    /// | `faults` | switches; none for the faithful mechanism |
    /// | `seed` | seed of all runs and of the attack |
    ///
    /// # Errors
    /// [`AuditError`]: the mechanism refuses its settings, or the accountant γ, k, δ or the orders.
    pub fn new(
        table: &Table,
        target: u64,
        settings: &Settings,
        faults: FaultSet,
        seed: u64,
    ) -> Result<Self, AuditError> {
        let mechanism = Mechanism::new(table, target, settings, faults, seed)?;
        let row = table.ids().iter().position(|id| *id == target);
        let row = row.and_then(|at| table.rows().iter().nth(at));
        let features = Features::new(table.schema(), row.unwrap_or_default());
        let iterations = settings.plan().map_err(MechanismError::from)?.iterations;
        let votes = u64::from(iterations)
            * u64::from(settings.batch_size)
            * u64::from(settings.student_steps);
        let vote =
            NoisyVote::new(settings.teachers, settings.inverse_scale, VoteNoise::BothCounts)?;
        let accounted = vote.votes_epsilon(votes, settings.delta, settings.orders)?;
        Ok(Audit { mechanism, features, iterations, accounted, seed })
    }

    /// Audit of the worst case: four rows (0, 0, 0) and the target (1, 1, 1).
    ///
    /// # Errors
    /// As [`Audit::new`].
    pub fn worst_case(
        settings: &Settings,
        faults: FaultSet,
        seed: u64,
    ) -> Result<Self, AuditError> {
        let table = worst_case::worst_case(faults)?;
        Audit::new(&table, worst_case::TARGET, settings, faults, seed)
    }

    /// What is audited.
    #[must_use]
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// Seed of all runs.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What an attacker looks at.
    #[must_use]
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Number of features of a run.
    #[cfg(feature = "workload")]
    pub(crate) fn feature_count(&self) -> usize {
        self.features.count()
    }

    /// ε that the accountant proves of the faithful mechanism.
    #[must_use]
    pub fn accounted(&self) -> &VotesEpsilon {
        &self.accounted
    }

    /// Runs of a world, trained side by side; their results do not depend on how they are divided.
    #[must_use]
    pub fn runs(&self, world: World, runs: std::ops::Range<u64>) -> Vec<AuditedRun> {
        self.runs_while(world, runs, &|| true).unwrap_or_default()
    }

    /// [`Self::runs`], or none once `keep_going` returns false; it is asked before each iteration.
    pub(crate) fn runs_while(
        &self,
        world: World,
        runs: std::ops::Range<u64>,
        keep_going: &dyn Fn() -> bool,
    ) -> Option<Vec<AuditedRun>> {
        let units: Vec<u64> = runs.map(|run| stream_of(world, run)).collect();
        let audited =
            |run: Run| AuditedRun { features: self.features.of(&run.rows), trace: run.trace };
        let runs = self.mechanism.run_while(&units, keep_going)?;
        Some(runs.into_iter().map(audited).collect())
    }

    fn attack_options(&self, significance: f64) -> AttackOptions {
        AttackOptions {
            delta: self.mechanism.settings().delta,
            significance,
            forest: ForestOptions { seed: self.seed, ..ForestOptions::default() },
        }
    }

    /// Attack and checks.
    ///
    /// | argument | meaning | shape |
    /// |---|---|---|
    /// | `runs` | all runs with the target and without, in order | 2 × n |
    ///
    /// # Errors
    /// [`AuditError::Attack`]: fewer than 20 runs of a world, or a significance outside its domain.
    pub fn evaluate(
        &self,
        runs: [Vec<AuditedRun>; 2],
        options: AuditOptions,
    ) -> Result<AuditOutcome, AuditError> {
        let count = runs[0].len() as u64;
        let traces: Vec<&Trace> = runs.iter().flatten().map(|run| &run.trace).collect();
        let checks = detect(&self.mechanism, &traces, options.checks_significance)?;
        let features = |world: Vec<AuditedRun>| -> Vec<Vec<f64>> {
            world.into_iter().map(|run| run.features).collect()
        };
        let [with, without] = runs.map(features);
        let attack = attack([&with, &without], &self.attack_options(options.significance))?;
        Ok(AuditOutcome { attack, checks, runs: count, options })
    }
}
