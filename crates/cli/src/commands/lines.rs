//! Values that `compare` and `sweep` show: theory and audit of one training run.

use clap::Args;
use dpscope_core::accounting::{
    Accountant, AccountingError, Cell, Deterministic, Given, Kind, KnownBound, Query, Schedule,
    Shuffle, ShuffleMethod,
};
use dpscope_core::adjacency::Scope;
use dpscope_core::audit::OutcomeKind;
use dpscope_engine::EngineError;
use dpscope_report::record::{
    ComparedQuantity, ComparedValue, ComparisonLine, OtherParameters, SimulatedAudit,
    ratio_to_poisson,
};
use dpscope_simulation::pair::{PairRows, PairSampler};
use dpscope_simulation::{Backend, Evaluate};

use super::simulate::{count_whole, shuffle_plan};
use crate::args::{DeviceArgs, ShowArgs, StatementArgs, count, seed};
use crate::device;
use crate::failure::Failure;
use crate::job::float_mode;
use crate::progress::{RowProgress, Terminal, is_interrupted};
use crate::seed::seed_or_fresh;

/// Options of `compare` and `sweep`.
#[derive(Debug, Args)]
pub(crate) struct TheoryArgs {
    /// Add a simulated audit with this many observations in both worlds together.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) observations: Option<u64>,
    /// Seed of all draws, below 2^53 [default: fresh entropy].
    #[arg(long, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// A device, opened once, and a seed for draws.
pub(super) struct DrawContext<'a> {
    args: &'a TheoryArgs,
    backend: Backend,
    pub(super) seed: u64,
    /// Whether to hide the progress bar.
    quiet: bool,
}

impl<'a> DrawContext<'a> {
    pub(super) fn new(args: &'a TheoryArgs, quiet: bool) -> Result<Self, Failure> {
        let (seed, _) = seed_or_fresh(args.seed)?;
        let backend = device::backend(&args.device, float_mode(&args.device, &[]))?;
        Ok(DrawContext { args, backend, seed, quiet })
    }

    pub(super) fn device(&self) -> String {
        self.backend.device().name
    }

    fn pair(&self, setting: &Schedule, delta: f64) -> Result<Result<PairRows, String>, Failure> {
        let significance = self.args.statement.significance();
        let sampler =
            PairSampler { seed: self.seed, observations: None, significance, whole_runs: true };
        let terminal = Terminal::of_pair(self.quiet);
        let whole = match setting.rounded_down() {
            Ok(whole) => whole,
            Err(error) => return Ok(Err(error.to_string())),
        };
        match sampler.rows(whole, Given::Delta(delta), &self.backend, &terminal) {
            Ok(rows) => Ok(Ok(rows)),
            Err(EngineError::Accounting(error)) => Ok(Err(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    fn audit(
        &self,
        setting: &Schedule,
        delta: f64,
        observations: u64,
    ) -> Result<ComparedValue, Failure> {
        let significance = self.args.statement.significance();
        let whole = match setting.rounded_down() {
            Ok(whole) => whole,
            Err(error) => return Ok(ComparedValue::Theory(Cell::missing(&error.to_string()))),
        };
        let plan = shuffle_plan(whole, observations, delta, significance, self.seed);
        if let Err(error) = plan.validated() {
            return Ok(ComparedValue::Theory(Cell::missing(&error.to_string())));
        }
        let run = count_whole(&plan, &self.backend, self.quiet)?;
        if run.is_interrupted {
            return Err(Failure::interrupted());
        }
        let outcome = run.state.outcome()?;
        let evidence = outcome.evidence();
        Ok(ComparedValue::Audit(SimulatedAudit {
            epsilon: outcome.value(),
            delta,
            kind: match outcome.kind() {
                OutcomeKind::Bound => Kind::Lower,
                OutcomeKind::Estimate => Kind::Estimate,
            },
            scope: Scope::Pair,
            direction: evidence.direction.into(),
            method: "counting".into(),
            significance,
            observations,
            ceiling: evidence.ceiling,
        }))
    }
}

/// A line for each of `quantities`, each a step of `progress` where there is one; without `draws`, those that
/// need draws have a reason instead.
pub(super) fn lines(
    setting: &Schedule,
    delta: f64,
    quantities: &[ComparedQuantity],
    other: OtherParameters,
    draws: Option<&DrawContext<'_>>,
    progress: Option<&RowProgress>,
) -> Result<Vec<ComparisonLine>, Failure> {
    let computed = |quantity: ComparedQuantity| {
        let none = || Cell::missing("its parameters are not known");
        quantity.computed(setting, other, delta).unwrap_or_else(none)
    };
    let poisson = computed(ComparedQuantity::Bound(KnownBound::Poisson));
    let claimed = poisson.value().map(|row| row.epsilon);
    let pair = match draws {
        Some(draws) if quantities.iter().any(|quantity| quantity.is_drawn()) => {
            draws.pair(setting, delta)?
        }
        _ => Err("no draws were made".to_owned()),
    };
    let of_pair = |cell: &dyn Fn(&PairRows) -> Cell| match &pair {
        Ok(rows) => cell(rows),
        Err(reason) => Cell::missing(reason),
    };
    let mut lines = Vec::with_capacity(quantities.len());
    for &quantity in quantities {
        if let Some(progress) = progress {
            progress.next(quantity.words().map_or("simulated audit", |words| words.name));
        }
        if is_interrupted() {
            return Err(Failure::interrupted());
        }
        let value = match (quantity, draws) {
            (ComparedQuantity::Audit, Some(draws)) => {
                let observations = draws.args.observations.unwrap_or(0);
                draws.audit(setting, delta, observations)?
            }
            (ComparedQuantity::Audit, None) => {
                ComparedValue::Theory(Cell::missing("no draws were made"))
            }
            (ComparedQuantity::Bound(bound), _) => ComparedValue::Theory(match bound {
                KnownBound::Poisson => poisson.clone(),
                KnownBound::PairLower => of_pair(&|rows| Cell::Value(rows.lower)),
                KnownBound::PairEstimate => of_pair(&|rows| rows.estimate.clone()),
                _ => computed(quantity),
            }),
        };
        let mut line = ComparisonLine { quantity, value, ratio_to_poisson: None };
        line.ratio_to_poisson = ratio_to_poisson(line.shown().map(|shown| shown.epsilon), claimed);
        lines.push(line);
    }
    Ok(lines)
}

/// Rejects a setting outside the domain of the accountants.
pub(super) fn check(setting: &Schedule, delta: f64) -> Result<(), AccountingError> {
    let query = Query::upper(setting.rounded_up(), Given::Delta(delta));
    Deterministic.account(&query)?;
    Shuffle(ShuffleMethod::Sum).account(&Query { kind: Kind::Lower, ..query }).map(|_| ())
}
