//! The lines that `compare` and `sweep` set side by side: theory and audit of one training.

use clap::Args;
use dpscope_core::accounting::{
    Accountant, AccountingError, BallsInBins, Cell, Deterministic, Directions, Given, Kind,
    Poisson, Query, Shuffle, ShuffleMethod, Training,
};
use dpscope_core::adjacency::Scope;
use dpscope_core::audit::Outcome;
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

/// What `compare` and `sweep` share.
#[derive(Debug, Args)]
pub(crate) struct TheoryArgs {
    /// Audit as well, with so many simulated observations of both worlds together.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) observations: Option<u64>,
    /// Seed of all draws, below 2^53; fresh entropy if not given.
    #[arg(long, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// What a line tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum What {
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
    pub(super) what: What,
    #[serde(flatten)]
    pub(super) value: Value,
    pub(super) ratio_to_poisson: Option<f64>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Value {
    Theory(Cell),
    Audit(Audited),
}

/// What a simulation showed.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Audited {
    pub(super) epsilon: f64,
    delta: f64,
    kind: Kind,
    scope: Scope,
    direction: Directions,
    method: &'static str,
    significance: f64,
    observations: u64,
    /// The most that as many observations can show.
    ceiling: f64,
}

/// What a table shows of a value.
pub(super) struct Shown {
    pub(super) epsilon: f64,
    pub(super) kind: Kind,
    pub(super) scope: Scope,
    pub(super) direction: Directions,
    pub(super) method: &'static str,
}

impl Line {
    /// The value; none where there is only a reason.
    pub(super) fn shown(&self) -> Option<Shown> {
        match &self.value {
            Value::Theory(cell) => cell.value().map(|row| Shown {
                epsilon: row.epsilon,
                kind: row.kind,
                scope: row.scope,
                direction: row.direction,
                method: row.method_in_a_word(),
            }),
            Value::Audit(row) => Some(Shown {
                epsilon: row.epsilon,
                kind: row.kind,
                scope: row.scope,
                direction: row.direction,
                method: row.method,
            }),
        }
    }

    /// The least that the exact value may be, where the computation of an upper one leaves more
    /// than a hundredth open.
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

/// What draws need: a device, opened once, and a seed.
pub(super) struct Drawing<'a> {
    args: &'a TheoryArgs,
    backend: Backend,
    pub(super) seed: u64,
    /// No bar of its own.
    quiet: bool,
}

impl<'a> Drawing<'a> {
    pub(super) fn new(args: &'a TheoryArgs, quiet: bool) -> Result<Self, Failure> {
        let (seed, _) = seed_or_fresh(args.seed)?;
        let backend = device::backend(&args.device, float_mode(&args.device, None))?;
        Ok(Drawing { args, backend, seed, quiet })
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
        let ended = count_whole(&plan, &self.backend, self.quiet)?;
        if ended.interrupted {
            return Err(Failure::interrupted());
        }
        let outcome = ended.state.outcome()?;
        let evidence = outcome.evidence();
        Ok(Value::Audit(Audited {
            epsilon: outcome.value(),
            delta,
            kind: if matches!(outcome, Outcome::Bound(_)) { Kind::Lower } else { Kind::Estimate },
            scope: Scope::Pair,
            direction: evidence.direction.into(),
            method: "counting",
            significance,
            observations,
            ceiling: evidence.ceiling,
        }))
    }
}

/// A line for each of `wanted`; without `drawing`, those that need draws have a reason instead.
pub(super) fn lines(
    setting: Training,
    delta: f64,
    wanted: &[What],
    drawing: Option<&Drawing<'_>>,
) -> Result<Vec<Line>, Failure> {
    let query = Query::upper(setting, Given::Delta(delta));
    let poisson = Cell::from(Poisson.account(&query));
    let claimed = poisson.value().map(|row| row.epsilon);
    let is_drawn = |what: &What| matches!(what, What::PairLower | What::PairEstimate);
    let pair = match drawing {
        Some(drawing) if wanted.iter().any(is_drawn) => drawing.pair(setting, delta)?,
        _ => Err("nothing was drawn".to_owned()),
    };
    let of_pair = |cell: &dyn Fn(&PairRows) -> Cell| match &pair {
        Ok(rows) => cell(rows),
        Err(reason) => Cell::missing(reason),
    };
    let shuffle =
        |method| Cell::from(Shuffle(method).account(&Query { kind: Kind::Lower, ..query }));
    let mut lines = Vec::with_capacity(wanted.len());
    for &what in wanted {
        if is_interrupted() {
            return Err(Failure::interrupted());
        }
        let cell = match what {
            What::Poisson => poisson.clone(),
            What::BallsInBins => BallsInBins.account(&query).into(),
            What::ShuffleLower => shuffle(ShuffleMethod::Best),
            What::ShuffleMaxSlice => shuffle(ShuffleMethod::MaxSlice),
            What::ShuffleSum => shuffle(ShuffleMethod::Sum),
            What::PairLower => of_pair(&|rows| Cell::Value(rows.lower)),
            What::PairEstimate => of_pair(&|rows| rows.estimate.clone()),
            What::Deterministic => Deterministic.account(&query).into(),
            What::Audit => Cell::missing("nothing was drawn"),
        };
        let value = match (what, drawing) {
            (What::Audit, Some(drawing)) => {
                let observations = drawing.args.observations.unwrap_or(0);
                drawing.audit(setting, delta, observations)?
            }
            _ => Value::Theory(cell),
        };
        let mut line = Line { what, value, ratio_to_poisson: None };
        let epsilon = line.shown().map(|shown| shown.epsilon);
        line.ratio_to_poisson =
            claimed.filter(|claimed| *claimed > 0.0).and_then(|claimed| Some(epsilon? / claimed));
        lines.push(line);
    }
    Ok(lines)
}

/// Refuses a setting that no accountant takes, with the option that is wrong.
pub(super) fn check(setting: Training, delta: f64) -> Result<(), AccountingError> {
    let query = Query::upper(setting, Given::Delta(delta));
    Deterministic.account(&query)?;
    Shuffle(ShuffleMethod::Sum).account(&Query { kind: Kind::Lower, ..query }).map(|_| ())
}
