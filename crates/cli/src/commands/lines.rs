//! Values that `compare` and `sweep` show: theory and audit of one training run.

use clap::Args;
use dpscope_core::accounting::{
    Accountant, AccountingError, BallsInBins, Cell, Deterministic, Directions, Given, Kind,
    Poisson, Query, Shuffle, ShuffleMethod, Training,
};
use dpscope_core::adjacency::Scope;
use dpscope_core::audit::OutcomeKind;
use dpscope_engine::pair::{PairRows, PairSampler};
use dpscope_engine::{Backend, EngineError};
use dpscope_report::words::InWords;
use serde::Serialize;

use super::simulate::{count_whole, float_mode, shuffle_plan};
use crate::args::{DeviceArgs, ShowArgs, StatementArgs, count, seed};
use crate::device;
use crate::failure::Failure;
use crate::progress::{Terminal, is_interrupted};
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

/// The quantity in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Quantity {
    Poisson,
    BallsInBins,
    /// The larger of the two closed forms.
    ShuffleLower,
    ShuffleMaxSlice,
    ShuffleSum,
    PairLower,
    PairEstimate,
    Deterministic,
    Audit,
}

/// A line of a table.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    #[serde(rename = "what")]
    pub(super) quantity: Quantity,
    #[serde(flatten)]
    pub(super) value: Value,
    pub(super) ratio_to_poisson: Option<f64>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Value {
    Theory(Cell),
    Audit(AuditValue),
}

/// The result of a simulated audit.
#[derive(Debug, Clone, Serialize)]
pub(super) struct AuditValue {
    pub(super) epsilon: f64,
    delta: f64,
    kind: Kind,
    scope: Scope,
    direction: Directions,
    method: &'static str,
    significance: f64,
    observations: u64,
    /// The largest value that this number of observations can reach.
    ceiling: f64,
}

/// A value as a table shows it.
pub(super) struct LineValue {
    pub(super) epsilon: f64,
    pub(super) kind: Kind,
    pub(super) scope: Scope,
    pub(super) direction: Directions,
    pub(super) method: &'static str,
}

impl Line {
    /// The value; none if there is only a reason.
    pub(super) fn shown(&self) -> Option<LineValue> {
        match &self.value {
            Value::Theory(cell) => cell.value().map(|row| LineValue {
                epsilon: row.epsilon,
                kind: row.kind,
                scope: row.scope,
                direction: row.direction,
                method: row.method_in_a_word(),
            }),
            Value::Audit(row) => Some(LineValue {
                epsilon: row.epsilon,
                kind: row.kind,
                scope: row.scope,
                direction: row.direction,
                method: row.method,
            }),
        }
    }

    /// The smallest possible exact value, if the numeric error of an upper one exceeds 1 %.
    pub(super) fn at_least(&self) -> Option<f64> {
        let Value::Theory(cell) = &self.value else { return None };
        let row = cell.value().filter(|row| row.kind == Kind::Upper)?;
        let open = row.numeric_error;
        (open > 0.01 * row.epsilon).then(|| (row.epsilon - open).max(0.0))
    }

    /// Why there is no value.
    pub(super) fn reason(&self) -> Option<&str> {
        match &self.value {
            Value::Theory(Cell::Missing { reason }) => Some(reason),
            _ => None,
        }
    }
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
        let backend = device::backend(&args.device, float_mode(&args.device, None))?;
        Ok(DrawContext { args, backend, seed, quiet })
    }

    pub(super) fn device(&self) -> String {
        self.backend.device()
    }

    fn pair(&self, setting: Training, delta: f64) -> Result<Result<PairRows, String>, Failure> {
        let significance = self.args.statement.significance;
        let sampler =
            PairSampler { seed: self.seed, observations: None, significance, whole_runs: true };
        let terminal = Terminal::of_pair(self.quiet);
        match sampler.rows(setting, Given::Delta(delta), &self.backend, &terminal) {
            Ok(rows) => Ok(Ok(rows)),
            Err(EngineError::Accounting(error)) => Ok(Err(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    fn audit(&self, setting: Training, delta: f64, observations: u64) -> Result<Value, Failure> {
        let significance = self.args.statement.significance;
        let plan = shuffle_plan(setting, observations, delta, significance, self.seed);
        if let Err(error) = plan.validated() {
            return Ok(Value::Theory(Cell::missing(&error.to_string())));
        }
        let run = count_whole(&plan, &self.backend, self.quiet)?;
        if run.is_interrupted {
            return Err(Failure::interrupted());
        }
        let outcome = run.state.outcome()?;
        let evidence = outcome.evidence();
        Ok(Value::Audit(AuditValue {
            epsilon: outcome.value(),
            delta,
            kind: match outcome.kind() {
                OutcomeKind::Bound => Kind::Lower,
                OutcomeKind::Estimate => Kind::Estimate,
            },
            scope: Scope::Pair,
            direction: evidence.direction.into(),
            method: "counting",
            significance,
            observations,
            ceiling: evidence.ceiling,
        }))
    }
}

/// A line for each of `quantities`; without `draws`, those that need draws have a reason instead.
pub(super) fn lines(
    setting: Training,
    delta: f64,
    quantities: &[Quantity],
    draws: Option<&DrawContext<'_>>,
) -> Result<Vec<Line>, Failure> {
    let query = Query::upper(setting, Given::Delta(delta));
    let poisson = Cell::from(Poisson.account(&query));
    let claimed = poisson.value().map(|row| row.epsilon);
    let is_drawn =
        |quantity: &Quantity| matches!(quantity, Quantity::PairLower | Quantity::PairEstimate);
    let pair = match draws {
        Some(draws) if quantities.iter().any(is_drawn) => draws.pair(setting, delta)?,
        _ => Err("no draws were made".to_owned()),
    };
    let of_pair = |cell: &dyn Fn(&PairRows) -> Cell| match &pair {
        Ok(rows) => cell(rows),
        Err(reason) => Cell::missing(reason),
    };
    let shuffle =
        |method| Cell::from(Shuffle(method).account(&Query { kind: Kind::Lower, ..query }));
    let mut lines = Vec::with_capacity(quantities.len());
    for &quantity in quantities {
        if is_interrupted() {
            return Err(Failure::interrupted());
        }
        let cell = match quantity {
            Quantity::Poisson => poisson.clone(),
            Quantity::BallsInBins => BallsInBins.account(&query).into(),
            Quantity::ShuffleLower => shuffle(ShuffleMethod::Best),
            Quantity::ShuffleMaxSlice => shuffle(ShuffleMethod::MaxSlice),
            Quantity::ShuffleSum => shuffle(ShuffleMethod::Sum),
            Quantity::PairLower => of_pair(&|rows| Cell::Value(rows.lower)),
            Quantity::PairEstimate => of_pair(&|rows| rows.estimate.clone()),
            Quantity::Deterministic => Deterministic.account(&query).into(),
            Quantity::Audit => Cell::missing("no draws were made"),
        };
        let value = match (quantity, draws) {
            (Quantity::Audit, Some(draws)) => {
                let observations = draws.args.observations.unwrap_or(0);
                draws.audit(setting, delta, observations)?
            }
            _ => Value::Theory(cell),
        };
        let mut line = Line { quantity, value, ratio_to_poisson: None };
        let epsilon = line.shown().map(|shown| shown.epsilon);
        line.ratio_to_poisson =
            claimed.filter(|claimed| *claimed > 0.0).and_then(|claimed| Some(epsilon? / claimed));
        lines.push(line);
    }
    Ok(lines)
}

/// Rejects a setting outside the domain of the accountants.
pub(super) fn check(setting: Training, delta: f64) -> Result<(), AccountingError> {
    let query = Query::upper(setting, Given::Delta(delta));
    Deterministic.account(&query)?;
    Shuffle(ShuffleMethod::Sum).account(&Query { kind: Kind::Lower, ..query }).map(|_| ())
}
