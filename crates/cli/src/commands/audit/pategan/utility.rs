//! Utility of released rows beside ε, also with other noise.

use std::path::PathBuf;

use dpscope_core::format::given;
use dpscope_core::ranking::RankingQuality;
use dpscope_report::record::{PateGanReport, Utility, UtilityFigures};
use dpscope_synth::audit::{Audit, AuditOutcome};
use dpscope_synth::table::{Rows, Table};
use dpscope_synth::utility::{
    RealRowsSplit, UtilityError, UtilityTask, figures, generator_utility, released_rows,
};
use dpscope_synth::workload::{PateGanPlan, PateGanRuns};
use dpscope_synth::{FaultSet, Mechanism, Settings};
use rayon::prelude::*;

use super::args::PateGanArgs;
use super::refusals::named;
use crate::args::check_drawing;
use crate::failure::{Exit, Failure};
use crate::host;
use crate::job::Job;
use crate::progress::is_interrupted;

/// Generators that are trained side by side.
const TOGETHER: u64 = 8;

/// Classifiers on released rows, tested on real rows that the generators did not see.
pub(in crate::commands) struct UtilityTest {
    split: RealRowsSplit,
    task: UtilityTask,
    runs: u64,
}

impl UtilityTest {
    /// The table, the category of its label that is predicted, how many generators, and the seed of the
    /// division of the rows.
    pub(in crate::commands) fn of(
        table: &Table,
        positive: Option<&str>,
        (runs, seed): (u64, u64),
    ) -> Result<Self, Failure> {
        let of = || -> Result<Self, UtilityError> {
            let task = UtilityTask::new(table.schema(), positive)?;
            let split = RealRowsSplit::of(table, seed)?;
            task.tested(&split.test)?;
            Ok(UtilityTest { split, task, runs })
        };
        of().map_err(|error| refused(&error))
    }

    /// The column that is predicted, and its category.
    pub(in crate::commands) fn label(&self) -> [String; 2] {
        [self.task.label(), self.task.positive()].map(str::to_owned)
    }

    /// How many rows are tested, and the share of the category among them.
    pub(in crate::commands) fn tested(&self) -> Result<(u64, f64), Failure> {
        self.task.tested(&self.split.test).map_err(|error| refused(&error))
    }

    /// Areas of classifiers trained on the rows of generators that 80 % of the real rows trained.
    pub(in crate::commands) fn qualities(
        &self,
        settings: &Settings,
        faults: FaultSet,
        seed: u64,
    ) -> Result<Vec<Vec<RankingQuality>>, Failure> {
        let train = &self.split.train;
        let target = train.ids().first().copied().unwrap_or_default();
        let mechanism = Mechanism::new(train, target, settings, faults, seed);
        let mechanism = mechanism.map_err(|error| named(error.into()))?;
        let groups: Vec<u64> = (0..self.runs).step_by(TOGETHER as usize).collect();
        let release = |from: &u64| match is_interrupted() {
            true => Vec::new(),
            false => released_rows(&mechanism, *from..self.runs.min(from + TOGETHER)),
        };
        let released: Vec<Rows> = groups.par_iter().flat_map_iter(release).collect();
        if is_interrupted() {
            return Err(Failure::interrupted());
        }
        released.par_iter().map(|rows| self.quality(rows, seed)).collect()
    }

    /// Figures of classifiers trained on the real rows themselves.
    pub(in crate::commands) fn real(&self, seed: u64) -> Result<UtilityFigures, Failure> {
        Ok(figures(&[self.quality(self.split.train.rows(), seed)?]))
    }

    fn quality(&self, synthetic: &Rows, seed: u64) -> Result<Vec<RankingQuality>, Failure> {
        let found = self.task.qualities(synthetic, &self.split.test, seed);
        found.map_err(|error| refused(&error))
    }
}

/// What is tested, and where it is drawn.
pub(super) struct UtilityRequest {
    table: Table,
    test: UtilityTest,
    gammas: Vec<f64>,
    threads: usize,
    pub(super) plot: Option<PathBuf>,
}

impl UtilityRequest {
    /// That of the options; none without --utility.
    pub(super) fn of(
        args: &PateGanArgs,
        table: Option<&Table>,
        plan: &PateGanPlan,
    ) -> Result<Option<Self>, Failure> {
        let options = &args.table;
        let (Some(runs), Some(table)) = (options.utility, table) else { return Ok(None) };
        options.utility_plot.as_deref().map_or(Ok(()), check_drawing)?;
        for gamma in &options.utility_gamma {
            let settings = Settings { inverse_scale: *gamma, ..plan.settings.clone() };
            settings.plan().map_err(|error| {
                Failure::input(format!("--utility-gamma {}: {error}", given(*gamma)))
            })?;
        }
        let test = UtilityTest::of(table, options.positive.as_deref(), (runs, plan.seed))?;
        Ok(Some(UtilityRequest {
            table: table.clone(),
            test,
            gammas: options.utility_gamma.clone(),
            threads: args.run.device.threads(),
            plot: options.utility_plot.clone(),
        }))
    }

    /// Utility of the audited settings, whose ε is known, and of other noise.
    pub(super) fn evaluate(
        &self,
        plan: &PateGanPlan,
        audited: &PateGanReport,
    ) -> Result<Utility, Failure> {
        let pool = host::pool(self.threads)?;
        let own = plan.settings.inverse_scale;
        let mut generators = Vec::with_capacity(self.gammas.len() + 1);
        for gamma in [own].iter().chain(&self.gammas) {
            let plan = PateGanPlan {
                settings: Settings { inverse_scale: *gamma, ..plan.settings.clone() },
                ..plan.clone()
            };
            let epsilons = match generators.is_empty() {
                true => [audited.accounted_epsilon, audited.epsilon],
                false => self.epsilons(&plan)?,
            };
            let test = || self.test.qualities(&plan.settings, plan.faults, plan.seed);
            let qualities = pool.install(test)?;
            let name = format!("γ = {}", given(*gamma));
            generators.push(generator_utility(name, epsilons.map(Some), &qualities));
        }
        let (tested_rows, positive_share) = self.test.tested()?;
        let [label, positive] = self.test.label();
        Ok(Utility {
            label,
            positive,
            tested_rows,
            positive_share,
            significance: plan.significance,
            generators,
            real: Some(self.test.real(plan.seed)?),
        })
    }

    /// ε that is accounted for, and the bound of an audit.
    fn epsilons(&self, plan: &PateGanPlan) -> Result<[f64; 2], Failure> {
        let target = plan.table.as_ref().map_or(0, |audited| audited.target_row);
        let audit = Audit::new(&self.table, target, &plan.settings, plan.faults, plan.seed);
        let (audit, outcome) = outcome(plan.clone(), audit.map_err(named)?, self.threads)?;
        Ok([audit.accounted().composed.upper, outcome.attack.bound.value()])
    }
}

/// The outcome of all runs of a plan, whose state is not saved.
pub(in crate::commands) fn outcome(
    plan: PateGanPlan,
    audit: Audit,
    threads: usize,
) -> Result<(Audit, AuditOutcome), Failure> {
    let runs = PateGanRuns::new(plan.clone(), audit, threads)?;
    let done = Job::unsaved(plan).execute(&runs, true)?;
    if done.is_interrupted {
        return Err(Failure::interrupted());
    }
    let audit = runs.into_audit();
    let outcome = audit.evaluate_saved(&done.state.plan, &done.state.evidence);
    Ok((audit, outcome.map_err(|error| Failure::with(Exit::Internal, error))?))
}

fn refused(error: &UtilityError) -> Failure {
    let remedy = match error {
        UtilityError::NoCategory { .. } => "see --positive",
        UtilityError::Test(_) => "pass more --data, or name another --label or --positive",
        _ => "see --data and --label",
    };
    Failure::input(format!("--utility: {error}; {remedy}"))
}
