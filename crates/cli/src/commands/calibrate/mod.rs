//! `dpscope calibrate`: noise, steps or epochs for a target ε and δ.

mod args;

pub(crate) use args::CalibrateArgs;

use dpscope_core::accounting::{Calibration, CalibrationError, Kind, Parameter};
use dpscope_core::format::given;
use dpscope_core::mechanism::SamplerKind;
use dpscope_report::number::{grouped, plain};
use dpscope_report::record::{CalibratedValue, CalibrationReport, CalibrationSettings};
use dpscope_report::text::row;

use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print_json, print_text};

pub(crate) fn run(args: &CalibrateArgs) -> CommandResult {
    let CalibrateArgs { sampler, noise_multiplier, steps, epochs, sampling_rate, .. } = *args;
    let wanted = Parameter::from(args.wanted);
    let calibration = Calibration {
        parameter: wanted,
        sampler,
        epsilon: args.epsilon,
        delta: args.delta,
        noise_multiplier,
        steps,
        epochs,
        sampling_rate,
    };
    let found = calibration.run().map_err(|error| name_options(error, &calibration))?;
    let is_poisson = sampler == SamplerKind::Poisson;
    // The comparison is optional: a failure leaves it out.
    let poisson = if is_poisson { None } else { calibration.run_as_poisson().ok() };
    let rate = is_poisson.then(|| calibration.sampling_rate()).transpose();
    let sampling_rate = rate.map_err(|error| name_options(error, &calibration))?;
    let epochs = if wanted == Parameter::Noise { epochs.or(Some(1)) } else { None };
    let report = CalibrationReport {
        schema: "dpscope.calibrate/1",
        version: env!("CARGO_PKG_VERSION"),
        wanted,
        sampler,
        result: CalibratedValue::new(wanted, found),
        delta: args.delta,
        target_epsilon: args.epsilon,
        kind: Kind::Upper,
        accountant: accountant(sampler),
        settings: CalibrationSettings { noise_multiplier, steps, epochs, sampling_rate },
        poisson: poisson.map(|found| CalibratedValue::new(wanted, found)),
    };
    if args.json {
        print_json(&report)?;
    } else {
        print_text(&to_text(&report))?;
    }
    Ok(Exit::Done)
}

/// Names the option in an error of the library.
fn name_options(error: CalibrationError, calibration: &Calibration) -> Failure {
    let is_poisson = calibration.sampler == SamplerKind::Poisson;
    Failure::input(match error {
        CalibrationError::Accounting(error) => return error.into(),
        CalibrationError::NoAccountant { .. } => {
            "--sampler sliding-buffer has no proven accountant; choose another sampler"
        }
        CalibrationError::Unused { name: "sampling_rate" } if is_poisson => {
            "--sampling-rate does not apply to `calibrate epochs`, which uses 1/T; use `calibrate steps`"
        }
        CalibrationError::Unused { name: "sampling_rate" } => {
            "--sampling-rate applies to --sampler poisson only: otherwise each record is in one of \
             --steps batches per epoch"
        }
        CalibrationError::Unused { name: "noise_multiplier" } => {
            "--noise-multiplier is the result of `calibrate noise`; leave it out"
        }
        CalibrationError::Unused { .. } => {
            "--epochs applies to `calibrate noise` only; leave it out"
        }
        CalibrationError::StepsOfEpoch => {
            "`calibrate steps` applies to --sampler poisson only: otherwise the privacy cost of an \
             epoch does not depend on its number of steps; use `calibrate epochs`"
        }
        CalibrationError::Missing { name: "noise_multiplier" } => {
            "--noise-multiplier is missing; add it"
        }
        CalibrationError::Missing { .. } if is_poisson && calibration.sampling_rate.is_none() => {
            "--steps (or --sampling-rate) is missing; add it"
        }
        CalibrationError::Missing { .. } => "--steps is missing; add it",
        error => return Failure::input(error),
    })
}

fn accountant(sampler: SamplerKind) -> &'static str {
    match sampler {
        SamplerKind::Poisson => "privacy loss distribution of Poisson sampled batches",
        SamplerKind::BallsInBins => "privacy loss distribution of balls-in-bins batches",
        SamplerKind::Deterministic => "closed form of deterministic batches",
        _ => "deterministic batches, the only proven upper bound for shuffled batches",
    }
}

fn to_text(report: &CalibrationReport) -> String {
    let CalibrationReport { result, settings, delta, .. } = report;
    let mut out = format!(
        "{}: ε ≤ {} at δ = {delta:e}\n\n",
        in_words(result),
        plain(result.epsilon, report.kind, 4)
    );
    out.push_str(&row("sampler", report.sampler.name()));
    let known = [
        settings.noise_multiplier.map(|value| format!("σ = {}", given(value))),
        settings.steps.map(|steps| format!("T = {}", grouped(steps))),
        settings.epochs.map(|epochs| format!("E = {}", grouped(epochs))),
        settings.sampling_rate.map(|rate| format!("q = {}", given(rate))),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    out.push_str(&row(
        "given",
        &format!("ε = {}, {}", given(report.target_epsilon), known.join(", ")),
    ));
    out.push_str(&row("accountant", report.accountant));
    if let Some(poisson) = &report.poisson {
        let text = format!("{} if batches were Poisson sampled", in_words(poisson));
        out.push_str(&row("Poisson", &text));
    }
    out
}

/// The value, rounded so that ε does not increase.
fn in_words(found: &CalibratedValue) -> String {
    match (found.noise_multiplier, found.steps, found.epochs) {
        (Some(noise), ..) => format!("noise multiplier {}", plain(noise, Kind::Upper, 4)),
        (_, Some(steps), _) => format!("{} steps", grouped(steps)),
        (_, _, epochs) => format!("{} epochs", grouped(epochs.unwrap_or(0))),
    }
}
