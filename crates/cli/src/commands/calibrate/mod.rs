//! `dpscope calibrate`: noise, steps or epochs for a wanted ε and δ.

mod args;

pub(crate) use args::CalibrateArgs;

use dpscope_core::accounting::{Calibrated, Calibration, CalibrationError, Kind, Parameter};
use dpscope_core::format::given;
use dpscope_core::mechanism::SamplerKind;
use dpscope_report::number::{grouped, plain};
use dpscope_report::text::row;
use serde::Serialize;

use crate::failure::{Done, Exit, Failure};
use crate::output::{print, print_json};

#[derive(Serialize)]
struct CalibrateReport {
    schema: &'static str,
    version: &'static str,
    wanted: Parameter,
    sampler: SamplerKind,
    #[serde(flatten)]
    found: Found,
    delta: f64,
    target_epsilon: f64,
    kind: Kind,
    accountant: &'static str,
    settings: Settings,
    /// What Poisson accounting would have asked for, where the sampler is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    poisson: Option<Found>,
}

/// The value under its name, and the ε that it gives.
#[derive(Clone, Copy, Serialize)]
struct Found {
    #[serde(skip_serializing_if = "Option::is_none")]
    noise_multiplier: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epochs: Option<u64>,
    epsilon: f64,
}

/// What was given.
#[derive(Serialize)]
struct Settings {
    noise_multiplier: Option<f64>,
    steps: Option<u64>,
    epochs: Option<u64>,
    sampling_rate: Option<f64>,
}

impl Found {
    fn new(wanted: Parameter, found: Calibrated) -> Self {
        let whole = |is_wanted: bool| is_wanted.then_some(found.value as u64);
        Found {
            noise_multiplier: (wanted == Parameter::Noise).then_some(found.value),
            steps: whole(wanted == Parameter::Steps),
            epochs: whole(wanted == Parameter::Epochs),
            epsilon: found.epsilon,
        }
    }
}

pub(crate) fn run(args: &CalibrateArgs) -> Done {
    let CalibrateArgs { sampler, noise_multiplier, steps, epochs, sampling_rate, .. } = *args;
    let wanted = Parameter::from(args.wanted);
    let asked = Calibration {
        parameter: wanted,
        sampler,
        epsilon: args.epsilon,
        delta: args.delta,
        noise_multiplier,
        steps,
        epochs,
        sampling_rate,
    };
    let found = asked.run().map_err(|error| refused(error, &asked))?;
    let is_poisson = sampler == SamplerKind::Poisson;
    // A comparison that cannot be made costs no answer.
    let poisson = if is_poisson { None } else { asked.run_as_poisson().ok() };
    let rate = is_poisson.then(|| asked.sampling_rate()).transpose();
    let sampling_rate = rate.map_err(|error| refused(error, &asked))?;
    let epochs = if wanted == Parameter::Noise { epochs.or(Some(1)) } else { None };
    let report = CalibrateReport {
        schema: "dpscope.calibrate/1",
        version: env!("CARGO_PKG_VERSION"),
        wanted,
        sampler,
        found: Found::new(wanted, found),
        delta: args.delta,
        target_epsilon: args.epsilon,
        kind: Kind::Upper,
        accountant: accountant(sampler),
        settings: Settings { noise_multiplier, steps, epochs, sampling_rate },
        poisson: poisson.map(|found| Found::new(wanted, found)),
    };
    if args.json {
        print_json(&report)?;
    } else {
        print(&to_text(&report))?;
    }
    Ok(Exit::Done)
}

/// What the library refuses, in words of options.
fn refused(error: CalibrationError, asked: &Calibration) -> Failure {
    let is_poisson = asked.sampler == SamplerKind::Poisson;
    Failure::input(match error {
        CalibrationError::Accounting(error) => return error.into(),
        CalibrationError::NoAccountant { .. } => {
            "--sampler sliding-buffer has no proven accountant; use a sampler that has one"
        }
        CalibrationError::Unused { name: "sampling_rate" } if is_poisson => {
            "--sampling-rate is not for `calibrate epochs`, where it is 1/T; use `calibrate steps`"
        }
        CalibrationError::Unused { name: "sampling_rate" } => {
            "--sampling-rate is for --sampler poisson alone: elsewhere each record is in one of \
             --steps batches an epoch"
        }
        CalibrationError::Unused { name: "noise_multiplier" } => {
            "--noise-multiplier is what `calibrate noise` finds; leave it out"
        }
        CalibrationError::Unused { .. } => "--epochs is for `calibrate noise`; leave it out",
        CalibrationError::StepsOfEpoch => {
            "`calibrate steps` is for --sampler poisson: elsewhere an epoch costs the same however \
             many steps it has; use `calibrate epochs`"
        }
        CalibrationError::Missing { name: "noise_multiplier" } => {
            "--noise-multiplier is missing; add it"
        }
        CalibrationError::Missing { .. } if is_poisson && asked.sampling_rate.is_none() => {
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
        SamplerKind::Deterministic => "closed formula of deterministic batches",
        _ => "deterministic batches, the only bound that is proven for shuffles",
    }
}

fn to_text(report: &CalibrateReport) -> String {
    let CalibrateReport { found, settings, delta, .. } = report;
    let mut out = format!(
        "{}: ε ≤ {} at δ = {delta:e}\n\n",
        found.in_words(),
        plain(found.epsilon, report.kind, 4)
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
        let text = format!("{} would do, if batches were Poisson sampled", poisson.in_words());
        out.push_str(&row("Poisson", &text));
    }
    out
}

impl Found {
    /// The value, rounded to where ε is smaller.
    fn in_words(&self) -> String {
        match (self.noise_multiplier, self.steps, self.epochs) {
            (Some(noise), ..) => format!("noise multiplier {}", plain(noise, Kind::Upper, 4)),
            (_, Some(steps), _) => format!("{} steps", grouped(steps)),
            (_, _, epochs) => format!("{} epochs", grouped(epochs.unwrap_or(0))),
        }
    }
}
