//! Bounds of a training run.

use super::args::{SideArg, TrainingBoundArgs};
use dpscope_core::accounting::{
    Accountant, Accounted, Cell, Directions, Given, Kind, PersistentShuffle, Query, Schedule,
    Shuffle, ShuffleMethod, Training, account,
};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::format::given;
use dpscope_core::mechanism::{SamplerKind, SamplerParameters};
use dpscope_report::number::{grouped, scientific};
use dpscope_report::record::{BoundReport, BoundSubject, PairBounds, PairDraws};
use dpscope_report::text::row;
use dpscope_report::words::{
    InWords, epochs_in_words, names_of_samplers, rounding_sentence, sampler_words,
};
use dpscope_simulation::pair::PairSampler;

use crate::device::backend;
use crate::failure::{CommandResult, Exit, Failure};
use crate::given::is_given;
use crate::job::float_mode;
use crate::output::{print_json, print_text};
use crate::progress::Terminal;
use crate::seed::seed_or_fresh;

pub(crate) fn run(args: &TrainingBoundArgs) -> CommandResult {
    reject_unused(args)?;
    let uses = args.parameters.uses_of(args.subject.sampler());
    let run = args.setting.schedule(uses, args.sampling_rate)?;
    let draws_anew = args.subject.is(SamplerKind::draws_each_step_anew);
    let has_rate = args.subject.is(SamplerKind::has_sampling_rate);
    let given = args.epsilon.map_or(Given::Delta(args.delta), Given::Epsilon);
    let side = args.side.map(Kind::from).unwrap_or(match args.subject {
        BoundSubject::Sampler(SamplerKind::Shuffle) => Kind::Lower,
        BoundSubject::Pair => Kind::Estimate,
        _ => Kind::Upper,
    });
    let (value, rows, draws) = if args.subject == BoundSubject::Pair {
        let (rows, draws) = pair(args, &run, given)?;
        let value = match (args.side, &rows.estimate) {
            (None, Cell::Missing { .. }) => rows.lower,
            _ => on_side(&rows, side)?,
        };
        (value, Some(rows), Some(draws))
    } else {
        let training = match (draws_anew, side) {
            (true, _) => run.poisson(),
            (false, Kind::Upper) => run.rounded_up(),
            (false, _) => run.rounded_down()?,
        };
        let directions = args.direction.map_or(Directions::Both, Directions::from);
        let query = Query { training, given, kind: side, directions, error: None };
        (closed_form(args, &query)?, None, None)
    };
    let report = BoundReport {
        schema: "dpscope.bound/1",
        version: env!("CARGO_PKG_VERSION"),
        subject: args.subject,
        adjacency: args.adjacency,
        max_batch_size: args.parameters.max_batch_size,
        value,
        settings: Schedule {
            whole: Training {
                sampling_rate: has_rate.then(|| run.whole.sampling_rate()),
                ..run.whole
            },
            ..run
        },
        rows,
        draws,
    };
    if args.show.json {
        print_json(&report)?;
    } else {
        print_text(&to_text(&report, args.epsilon.is_some(), args.side))?;
    }
    Ok(Exit::Done)
}

/// Rejects options that would have no effect.
fn reject_unused(args: &TrainingBoundArgs) -> Result<(), Failure> {
    let subject = args.subject;
    args.parameters.check(subject.sampler(), "")?;
    let is_truncated = subject.is(SamplerKind::truncates);
    let is_pair = subject == BoundSubject::Pair;
    let has_direction = |sampler: SamplerKind| !sampler.cuts_an_order();
    let has_method = subject
        .is(|sampler| matches!(sampler, SamplerKind::Shuffle | SamplerKind::PersistentShuffle));
    let of_records = format!(
        "--sampling-rate does not apply to {}, whose bound depends on the number of records; pass \
         --dataset-size and --batch-size",
        subject.name()
    );
    let fixed_direction = format!(
        "--direction applies to {} only: the direction of the others is fixed",
        names_of_samplers(has_direction)
    );
    Failure::first_of(&[
        (args.sampling_rate.is_some() && is_truncated, &of_records),
        (
            args.parameters.max_batch_size.is_none() && is_truncated,
            "--max-batch-size is missing; pass the maximum batch size",
        ),
        (
            args.sampling_rate.is_some() && !subject.is(SamplerKind::draws_each_step_anew),
            "--sampling-rate applies to poisson and fixed-size only: otherwise each record is in \
             one of --steps batches per epoch",
        ),
        (
            args.adjacency.is_some() && is_pair,
            "--adjacency does not apply to pair, whose worlds differ in one record with zero gradient",
        ),
        (
            args.adjacency.is_some() && args.method.is_some(),
            "--method applies to zero-out adjacency only; leave --method or --adjacency out",
        ),
        (args.direction.is_some() && !subject.is(has_direction), &fixed_direction),
        (
            args.method.is_some() && !has_method,
            "--method applies to shuffle and persistent-shuffle only",
        ),
        (
            args.side == Some(SideArg::Estimate) && !is_pair,
            "--side estimate applies to pair only; use lower or upper",
        ),
    ])?;
    if is_pair { Ok(()) } else { reject_draws(args) }
}

/// Rejects options of draws, for bounds without them.
fn reject_draws(args: &TrainingBoundArgs) -> Result<(), Failure> {
    let not_drawn = "applies to pair only: the other bounds are not drawn";
    for (option, is_present) in [
        ("--observations", args.observations.is_some()),
        ("--significance", args.level.significance().is_some()),
        ("--seed", args.seed.is_some()),
        ("--float-mode", args.device.float_mode.is_some()),
        ("--device", is_given("device")),
    ] {
        if is_present {
            return Err(Failure::input(format!("{option} {not_drawn}")));
        }
    }
    Ok(())
}

/// Why shuffles have no upper bound under add-remove adjacency, in `bound` and in `calibrate`.
pub(crate) const NO_UPPER_BOUND: &str = "no upper bound is proven under --adjacency add-remove where \
    batches are cut from an order of the records: without one, those after it move to other batches; \
    use zero-out or replace";

/// A bound that needs no draws.
fn closed_form(args: &TrainingBoundArgs, query: &Query) -> Result<Accounted, Failure> {
    let method = args.method.map_or(ShuffleMethod::Best, ShuffleMethod::from);
    if query.kind == Kind::Upper && method == ShuffleMethod::Sum {
        return Err(Failure::input("--method sum has no upper bound; use best or max-slice"));
    }
    let adjacency = args.adjacency.unwrap_or(Adjacency::ZeroOut);
    let sampler = match (args.subject, adjacency) {
        (BoundSubject::Sampler(SamplerKind::PersistentShuffle), Adjacency::ZeroOut) => {
            return Ok(PersistentShuffle(method).account(query)?);
        }
        (BoundSubject::Sampler(SamplerKind::Shuffle), Adjacency::ZeroOut)
        | (BoundSubject::Pair, _) => return Ok(Shuffle(method).account(query)?),
        (BoundSubject::Sampler(sampler), _) => sampler,
    };
    let truncation = args.setting.truncation(args.parameters.max_batch_size)?;
    let sampler = sampler.with_parameters(SamplerParameters {
        uses_per_epoch: sampler.has_uses().then(|| query.training.uses_per_epoch()).transpose()?,
        dataset_size: truncation.map(|truncation| truncation.dataset_size),
        max_batch_size: args.parameters.max_batch_size,
        ..SamplerParameters::default()
    })?;
    let unknown = || match (query.kind, adjacency) {
        (Kind::Upper, Adjacency::AddRemove) => Failure::input(NO_UPPER_BOUND),
        (kind, _) => {
            Failure::input(format!("no {} bound is proven for sampler {sampler}", kind.name()))
        }
    };
    Ok(account(sampler, adjacency, query).ok_or_else(unknown)??)
}

fn pair(
    args: &TrainingBoundArgs,
    run: &Schedule,
    given: Given,
) -> Result<(PairBounds, PairDraws), Failure> {
    // Domain errors are reported before a device is opened.
    let upper = Query::upper(run.rounded_up(), given);
    let upper = Shuffle(ShuffleMethod::MaxSlice).account(&upper)?;
    let training = run.rounded_down()?;
    let (seed, _) = seed_or_fresh(args.seed)?;
    let backend = backend(&args.device, float_mode(&args.device, &[]))?;
    let sampler = PairSampler {
        seed,
        observations: args.observations,
        significance: args.level.significance().unwrap_or(0.05),
        whole_runs: true,
    };
    let result = sampler.rows(training, given, &backend, &Terminal::of_pair(args.show.quiet))?;
    let rows = PairBounds { lower: result.lower, estimate: result.estimate, upper };
    let (seed, device) = (seed.to_string(), backend.device().name);
    Ok((rows, PairDraws { observations: result.observations, seed, device }))
}

fn on_side(rows: &PairBounds, side: Kind) -> Result<Accounted, Failure> {
    match (side, &rows.estimate) {
        (Kind::Lower, _) => Ok(rows.lower),
        (Kind::Upper, _) => Ok(rows.upper),
        (Kind::Estimate, Cell::Value(row)) => Ok(*row),
        (Kind::Estimate, Cell::Missing { reason }) => {
            Err(Failure::input(format!("--side estimate: {reason}")))
        }
    }
}

fn to_text(report: &BoundReport, is_delta: bool, side: Option<SideArg>) -> String {
    let value = report.value.sentence(is_delta);
    let headline = match &report.rows {
        Some(rows) if side.is_none() && report.value.kind == Kind::Estimate => {
            format!("{value}\n{}", rows.lower.sentence(is_delta))
        }
        _ => value,
    };
    let mut out = format!("{headline}\n\n");
    out.push_str(&row("of", &subject(report)));
    if let Some(rounding) = rounding_sentence(&report.settings) {
        out.push_str(&row("epochs", &rounding));
    }
    if let Some(PairBounds { lower, estimate, upper }) = &report.rows {
        out.push_str(&row("lower limit", &lower.sentence(is_delta)));
        let estimate = match estimate {
            Cell::Value(row) => row.sentence(is_delta),
            Cell::Missing { reason } => format!("none: {reason}"),
        };
        out.push_str(&row("estimate", &estimate));
        out.push_str(&row("upper value", &upper.sentence(is_delta)));
    }
    if let Some(adjacency) = report.neighbours() {
        out.push_str(&row("neighbours", adjacency));
    }
    out.push_str(&row("scope", report.value.scope_in_words()));
    out.push_str(&row("direction", report.value.direction_in_words()));
    let method = report.value.method_in_words();
    out.push_str(&row(
        "method",
        &match report.value.numeric_error {
            error if error > 0.0 => {
                let sign = if report.value.kind == Kind::Estimate { "about" } else { "at most" };
                format!("{method}; numeric error {sign} {}", scientific(error, Kind::Upper))
            }
            _ => method.to_owned(),
        },
    ));
    if let Some(gap) = report.value.gap_in_words(is_delta) {
        out.push_str(&row("open", &gap));
    }
    if let Some(PairDraws { observations, seed, device }) = &report.draws {
        let text = format!("{}; seed {seed}; {device}", grouped(*observations));
        out.push_str(&row("draws", &text));
    }
    out
}

fn subject(report: &BoundReport) -> String {
    let Training { noise_multiplier, steps_per_epoch, .. } = report.settings.whole;
    let noise_multiplier = given(noise_multiplier);
    let rate = report.settings.whole.sampling_rate();
    let Some(sampler) = report.subject.sampler() else {
        let (steps, epochs) = (grouped(steps_per_epoch), epochs_in_words(&report.settings));
        return format!(
            "the exact pair of shuffled batches: σ = {noise_multiplier}, T = {steps}, E = {epochs}"
        );
    };
    let batches = sampler_words(sampler).of_bound;
    if sampler.draws_each_step_anew() {
        let most = report
            .max_batch_size
            .map_or_else(String::new, |most| format!(" of at most {}", grouped(most)));
        let (rate, steps) = (given(rate), grouped(report.settings.steps()));
        return format!("{batches}{most}: σ = {noise_multiplier}, q = {rate}, {steps} steps");
    }
    let (steps, epochs) = (grouped(steps_per_epoch), epochs_in_words(&report.settings));
    if sampler.has_uses() {
        let uses = grouped((rate * steps_per_epoch as f64).round() as u64);
        return format!(
            "{batches}: σ = {noise_multiplier}, each record in {uses} of T = {steps} steps, E = {epochs}"
        );
    }
    format!("{batches}: σ = {noise_multiplier}, T = {steps}, E = {epochs}")
}
