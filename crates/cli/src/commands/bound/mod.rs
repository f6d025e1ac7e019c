//! `dpscope bound`: what theory proves or estimates of ε, or of δ.

mod args;

pub(crate) use args::BoundArgs;

use dpscope_core::accounting::Directions;
use dpscope_core::format::given;
use dpscope_core::theory::{Accounted, At, Cell, Kind, Setting, ShuffleMethod};
use dpscope_engine::pair::PairSampler;
use dpscope_report::number::{grouped, scientific};
use dpscope_report::text::row;
use dpscope_report::words::InWords;
use serde::Serialize;

use crate::commands::simulate::float_mode;
use crate::device::backend;
use crate::failure::{Done, Exit, Failure};
use crate::output::{print, print_json};
use crate::progress::Terminal;
use crate::seed::seed_or_fresh;
use args::{Bounded, SideArg};

#[derive(Serialize)]
struct BoundReport {
    schema: &'static str,
    version: &'static str,
    subject: Bounded,
    #[serde(flatten)]
    value: Accounted,
    settings: Settings,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<PairRows>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draws: Option<Draws>,
    #[serde(skip)]
    asked: At,
}

#[derive(Serialize)]
struct Settings {
    #[serde(flatten)]
    setting: Setting,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampling_rate: Option<f64>,
}

/// The pair from all sides.
#[derive(Serialize)]
struct PairRows {
    lower: Accounted,
    estimate: Cell,
    upper: Accounted,
}

#[derive(Serialize)]
struct Draws {
    observations: u64,
    seed: String,
    device: String,
}

pub(crate) fn run(args: &BoundArgs) -> Done {
    refuse_unused(args)?;
    let setting = args.setting.setting();
    let asked = args.epsilon.map_or(At::Delta(args.delta), At::Epsilon);
    let side = args.side.map(Kind::from).unwrap_or(match args.subject {
        Bounded::Shuffle => Kind::Lower,
        _ => Kind::Upper,
    });
    let rate = || args.sampling_rate.unwrap_or(1.0 / setting.steps as f64);
    let sampling_rate = (args.subject == Bounded::Poisson).then(rate);
    let (value, rows, draws) = if args.subject == Bounded::Pair {
        let (rows, draws) = pair(args, setting, asked)?;
        (asked_for(&rows, side)?, Some(rows), Some(draws))
    } else {
        (closed(args, setting, asked, side)?, None, None)
    };
    let report = BoundReport {
        schema: "dpscope.bound/1",
        version: env!("CARGO_PKG_VERSION"),
        subject: args.subject,
        value,
        settings: Settings { setting, sampling_rate },
        rows,
        draws,
        asked,
    };
    if args.show.json {
        print_json(&report)?;
    } else {
        print(&to_text(&report))?;
    }
    Ok(Exit::Done)
}

/// Refuses options that would have no effect.
fn refuse_unused(args: &BoundArgs) -> Result<(), Failure> {
    use Bounded::{BallsInBins, PersistentShuffle, Poisson, Shuffle};
    let subject = args.subject;
    let is_pair = subject == Bounded::Pair;
    let has_direction = matches!(subject, Poisson | BallsInBins);
    let has_method = matches!(subject, Shuffle | PersistentShuffle);
    Failure::first_of(&[
        (
            args.sampling_rate.is_some() && subject != Poisson,
            "--sampling-rate is for poisson alone: elsewhere each record is in one of --steps \
             batches an epoch",
        ),
        (
            args.direction.is_some() && !has_direction,
            "--direction is for poisson and balls-in-bins; the other values say themselves which \
             direction they cover",
        ),
        (args.method.is_some() && !has_method, "--method is for shuffle and persistent-shuffle"),
        (
            args.side == Some(SideArg::Estimate) && !is_pair,
            "--side estimate is for pair; use lower or upper",
        ),
        (args.observations.is_some() && !is_pair, "--observations is for pair: only it is drawn"),
        (args.significance.is_some() && !is_pair, "--significance is for pair: the rest is proven"),
        (args.seed.is_some() && !is_pair, "--seed is for pair: only it is drawn"),
    ])
}

/// What needs no draws.
fn closed(args: &BoundArgs, setting: Setting, asked: At, side: Kind) -> Result<Accounted, Failure> {
    let directions = args.direction.map_or(Directions::Both, Directions::from);
    let found = match (args.subject, side) {
        (Bounded::Poisson, ..) => {
            setting.poisson_sampled(args.sampling_rate, asked, side, directions)
        }
        (Bounded::Deterministic, Kind::Upper) => setting.deterministic(asked),
        (Bounded::Deterministic, ..) => setting.deterministic_lower(asked),
        (Bounded::BallsInBins, ..) => setting.balls_in_bins(asked, side, directions),
        _ => return shuffle(args, setting, asked, side),
    };
    Ok(found?)
}

/// Either shuffle, by its method.
fn shuffle(
    args: &BoundArgs,
    setting: Setting,
    asked: At,
    side: Kind,
) -> Result<Accounted, Failure> {
    let is_persistent = args.subject == Bounded::PersistentShuffle;
    let method = args.method.map_or(ShuffleMethod::Best, ShuffleMethod::from);
    let found = match (side, method) {
        (Kind::Lower, _) if is_persistent => setting.persistent_shuffle_lower(asked, method),
        (Kind::Lower, _) => setting.shuffle_lower(asked, method),
        (_, ShuffleMethod::Best) => setting.deterministic(asked),
        (_, ShuffleMethod::MaxSlice) if is_persistent => setting.persistent_pair_upper(asked),
        (_, ShuffleMethod::MaxSlice) => setting.pair_upper(asked),
        (_, ShuffleMethod::Sum) => {
            return Err(Failure::input(
                "--method sum has no upper side; use best, which is proven, or max-slice",
            ));
        }
    };
    Ok(found?)
}

fn pair(args: &BoundArgs, setting: Setting, asked: At) -> Result<(PairRows, Draws), Failure> {
    // Domain errors show before a device is opened.
    let upper = setting.pair_upper(asked)?;
    let (seed, _) = seed_or_fresh(args.seed)?;
    let backend = backend(&args.device, float_mode(&args.device, None))?;
    let sampler = PairSampler {
        seed,
        observations: args.observations,
        significance: args.significance.unwrap_or(0.05),
        whole_runs: true,
    };
    let found = sampler.rows(setting, asked, &backend, &Terminal::of_pair(args.show.quiet))?;
    let rows = PairRows { lower: found.lower, estimate: found.estimate, upper };
    let (seed, device) = (seed.to_string(), backend.device());
    Ok((rows, Draws { observations: found.observations, seed, device }))
}

fn asked_for(rows: &PairRows, side: Kind) -> Result<Accounted, Failure> {
    match (side, &rows.estimate) {
        (Kind::Lower, _) => Ok(rows.lower),
        (Kind::Upper, _) => Ok(rows.upper),
        (Kind::Estimate, Cell::Value(row)) => Ok(*row),
        (Kind::Estimate, Cell::Missing { reason }) => {
            Err(Failure::input(format!("--side estimate: {reason}")))
        }
    }
}

fn to_text(report: &BoundReport) -> String {
    let is_delta = matches!(report.asked, At::Epsilon(_));
    let mut out = format!("{}\n\n", report.value.sentence(is_delta));
    out.push_str(&row("of", &subject(report)));
    if let Some(PairRows { lower, estimate, upper }) = &report.rows {
        out.push_str(&row("lower limit", &lower.sentence(is_delta)));
        let estimate = match estimate {
            Cell::Value(row) => row.sentence(is_delta),
            Cell::Missing { reason } => format!("none: {reason}"),
        };
        out.push_str(&row("estimate", &estimate));
        out.push_str(&row("upper value", &upper.sentence(is_delta)));
    }
    out.push_str(&row("scope", report.value.scope_in_words()));
    out.push_str(&row("direction", report.value.direction_in_words()));
    let method = report.value.method_in_words();
    out.push_str(&row(
        "method",
        &match report.value.numeric_error {
            error if error > 0.0 => {
                format!("{method}; numeric error at most {}", scientific(error, Kind::Upper))
            }
            _ => method.to_owned(),
        },
    ));
    if let Some(Draws { observations, seed, device }) = &report.draws {
        let text = format!("{}; seed {seed}; {device}", grouped(*observations));
        out.push_str(&row("draws", &text));
    }
    out
}

fn subject(report: &BoundReport) -> String {
    let Settings { setting, sampling_rate } = &report.settings;
    let Setting { noise_multiplier, steps, epochs } = setting;
    let noise_multiplier = given(*noise_multiplier);
    let batches = match report.subject {
        Bounded::Poisson => {
            let rate = given(sampling_rate.unwrap_or(1.0 / *steps as f64));
            return format!(
                "Poisson sampled batches: σ = {noise_multiplier}, q = {rate}, {} steps",
                grouped(steps.saturating_mul(*epochs))
            );
        }
        Bounded::Deterministic => "deterministic batches, the same in all epochs",
        Bounded::BallsInBins => "balls-in-bins batches",
        Bounded::Shuffle => "shuffled batches, a new order each epoch",
        Bounded::PersistentShuffle => "shuffled batches, one order for all epochs",
        Bounded::Pair => "the exact pair of shuffled batches",
    };
    let (steps, epochs) = (grouped(*steps), grouped(*epochs));
    format!("{batches}: σ = {noise_multiplier}, T = {steps}, E = {epochs}")
}
