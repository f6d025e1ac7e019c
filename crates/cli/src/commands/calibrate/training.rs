//! Noise, steps or epochs of a training run.

use dpscope_core::accounting::{
    Calibration, CalibrationError, Kind, Parameter, Schedule, Training,
};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::format::given;
use dpscope_core::mechanism::SamplerKind;
use dpscope_report::number::{counted, grouped, plain};
use dpscope_report::record::{CalibratedValue, CalibrationReport, CalibrationSettings};
use dpscope_report::text::row;
use dpscope_report::words::{adjacency_in_words, names_of_samplers, sampler_words};

use super::args::TrainingCalibrateArgs;
use crate::commands::bound::training::NO_UPPER_BOUND;
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print_json, print_text};

pub(crate) fn run(args: &TrainingCalibrateArgs) -> CommandResult {
    let TrainingCalibrateArgs { sampler, noise_multiplier, .. } = *args;
    let wanted = Parameter::from(args.wanted);
    let run = length(args)?;
    let truncation = args.length.truncation(args.batch_size, args.parameters.max_batch_size)?;
    let of_length = |length: Option<Training>, sampling_rate| Calibration {
        parameter: wanted,
        sampler,
        epsilon: args.epsilon,
        delta: args.delta,
        noise_multiplier,
        steps: length.map(|length| length.steps_per_epoch),
        epochs: match length.filter(|_| args.length.has_run()) {
            Some(length) => Some(length.epochs),
            None => args.length.epochs_rounded_up(),
        },
        sampling_rate,
        truncation,
        adjacency: args.adjacency,
    };
    let every_step = run.map(|run| run.poisson());
    let rate = args.sampling_rate.or(every_step.and_then(|every_step| every_step.sampling_rate));
    let as_poisson = of_length(every_step, rate);
    let calibration = match sampler {
        _ if sampler.draws_each_step_anew() => as_poisson,
        _ if sampler.has_uses() => {
            let whole = run.map(|run| run.rounded_up());
            of_length(whole, whole.and_then(|whole| whole.sampling_rate))
        }
        _ => of_length(run.map(|run| run.rounded_up()), args.sampling_rate),
    };
    let found = calibration.run().map_err(|error| name_options(error, &calibration))?;
    let is_poisson = sampler == SamplerKind::Poisson;
    // The comparison is optional: a failure leaves it out.
    let poisson = if is_poisson { None } else { as_poisson.run_as_poisson().ok() };
    let rate = sampler.has_sampling_rate().then(|| calibration.sampling_rate()).transpose();
    let sampling_rate = rate.map_err(|error| name_options(error, &calibration))?;
    let is_noise = wanted == Parameter::Noise;
    let whole = run.map(|run| run.whole);
    let partial = run.map_or(0, |run| run.partial_epoch_steps);
    let report = CalibrationReport {
        schema: "dpscope.calibrate/1",
        version: env!("CARGO_PKG_VERSION"),
        wanted,
        sampler,
        result: CalibratedValue::new(wanted, found),
        delta: args.delta,
        target_epsilon: args.epsilon,
        kind: Kind::Upper,
        accountant: accountant(sampler, args.adjacency),
        settings: CalibrationSettings {
            noise_multiplier,
            steps: whole.map(|whole| whole.steps_per_epoch),
            epochs: is_noise.then(|| match whole {
                Some(whole) => whole.epochs,
                None => args.length.epochs_rounded_up().unwrap_or(1),
            }),
            partial_epoch_steps: (is_noise && partial > 0).then_some(partial),
            sampling_rate,
            adjacency: args.adjacency,
        },
        poisson: poisson.map(|found| CalibratedValue::new(wanted, found)),
    };
    if args.json {
        print_json(&report)?;
    } else {
        print_text(&to_text(&report))?;
    }
    Ok(Exit::Done)
}

/// The length of the run, as far as it is known, with the sampling rate of several uses per epoch.
fn length(args: &TrainingCalibrateArgs) -> Result<Option<Schedule>, Failure> {
    let sampler = args.sampler;
    args.parameters.check(Some(sampler), "--sampler ")?;
    if args.sampling_rate.is_some() && sampler.has_uses() {
        return Err(Failure::input(format!(
            "--sampling-rate does not apply to --sampler {sampler}; pass --uses-per-epoch"
        )));
    }
    let length = args.length.at_rate(args.sampling_rate);
    if !length.has_epoch() {
        return Ok(None);
    }
    let uses_per_epoch = args.parameters.uses_of(Some(sampler));
    length.schedule(1.0, args.batch_size, uses_per_epoch).map(Some)
}

/// Names the option in an error of the library.
fn name_options(error: CalibrationError, calibration: &Calibration) -> Failure {
    let draws_anew = calibration.sampler.draws_each_step_anew();
    Failure::input(match error {
        CalibrationError::Accounting(error) => return error.into(),
        CalibrationError::NoAccountant { sampler } if sampler != SamplerKind::SlidingBuffer => {
            NO_UPPER_BOUND
        }
        CalibrationError::NoAccountant { .. } => {
            "--sampler sliding-buffer has no proven accountant; choose another sampler"
        }
        CalibrationError::Unused { name: "sampling_rate" } => {
            "--sampling-rate applies to --sampler poisson and fixed-size only: otherwise each \
             record is in one of --steps batches per epoch"
        }
        CalibrationError::Missing { name: "max_batch_size" } => {
            "--max-batch-size is missing; pass it with --dataset-size and --batch-size, the mean"
        }
        CalibrationError::Unused { name: "noise_multiplier" } => {
            "--noise-multiplier is the result of `calibrate noise`; leave it out"
        }
        CalibrationError::Unused { .. } => {
            "--epochs and --total-steps apply to `calibrate noise` only; leave them out"
        }
        CalibrationError::StepsOfEpoch => {
            return Failure::input(format!(
                "`calibrate steps` applies to --sampler {} only: otherwise the privacy cost of an \
                 epoch does not depend on its number of steps; use `calibrate epochs`",
                names_of_samplers(SamplerKind::draws_each_step_anew)
            ));
        }
        CalibrationError::Missing { name: "noise_multiplier" } => {
            "--noise-multiplier is missing; add it"
        }
        CalibrationError::Missing { .. } if draws_anew && calibration.sampling_rate.is_none() => {
            "--steps (or --sampling-rate) is missing; add it"
        }
        CalibrationError::Missing { .. } => {
            "--steps is missing; add it, or --dataset-size and --batch-size"
        }
        error => return Failure::input(error),
    })
}

/// The accountant in words, with the adjacency unless the value is the same under zero-out and add-remove.
fn accountant(sampler: SamplerKind, adjacency: Option<Adjacency>) -> String {
    let is_replaced = adjacency == Some(Adjacency::Replace);
    let has_own = sampler.draws_each_step_anew() || !is_replaced;
    let batches = match has_own || sampler == SamplerKind::Deterministic {
        true => sampler_words(sampler).accountant,
        false => "deterministic batches",
    };
    let is_independent = sampler.keeps_other_records();
    let neighbours = match adjacency {
        Some(adjacency) => format!(", {}", adjacency_in_words(adjacency)),
        None if is_independent => String::new(),
        None => ", zero-out".to_owned(),
    };
    let only = match sampler.cuts_an_order() && sampler != SamplerKind::Deterministic {
        true => ": the only upper bound proven here for shuffled batches",
        false => "",
    };
    format!("{batches}{neighbours}{only}")
}

fn to_text(report: &CalibrationReport) -> String {
    let CalibrationReport { result, settings, delta, .. } = report;
    let epsilon = plain(result.epsilon, report.kind, 4);
    let mut out = format!("{}: ε ≤ {epsilon} at δ = {delta:e}\n", in_words(result));
    if result.is_end_of_range {
        let bound = if result.noise_multiplier.is_some() { "down" } else { "up" };
        let target = given(report.target_epsilon);
        out.push_str(&format!(
            "Every value {bound} to this one satisfies ε ≤ {target}; no other one was tried.\n"
        ));
    }
    out.push('\n');
    out.push_str(&row("sampler", report.sampler.name()));
    let known = [
        settings.noise_multiplier.map(|value| format!("σ = {}", given(value))),
        settings.steps.map(|steps| format!("T = {}", grouped(steps))),
        settings.epochs.map(|epochs| match settings.partial_epoch_steps {
            Some(partial) => format!("E = {} and {}", grouped(epochs), counted(partial, "step")),
            None => format!("E = {}", grouped(epochs)),
        }),
        settings.sampling_rate.map(|rate| format!("q = {}", given(rate))),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    out.push_str(&row(
        "given",
        &format!("ε = {}, {}", given(report.target_epsilon), known.join(", ")),
    ));
    out.push_str(&row("accountant", &report.accountant));
    if let Some(poisson) = &report.poisson {
        let text = format!("{} if batches were Poisson sampled", in_words(poisson));
        out.push_str(&row("Poisson", &text));
    }
    out
}

/// The calibrated value in words, exactly as it was evaluated.
fn in_words(found: &CalibratedValue) -> String {
    match (found.noise_multiplier, found.steps, found.epochs) {
        (Some(noise), ..) => format!("noise multiplier {}", given(noise)),
        (_, Some(steps), _) => format!("{} steps", grouped(steps)),
        (_, _, epochs) => format!("{} epochs", grouped(epochs.unwrap_or(0))),
    }
}
