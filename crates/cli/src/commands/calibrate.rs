//! `dpscope calibrate`: noise, steps or epochs for a wanted ε and δ.

use dpscope_core::accounting::{
    Calibrated, PrivacyTarget, balls_in_bins_epochs, balls_in_bins_noise, deterministic_epochs,
    deterministic_noise, poisson_epochs, poisson_noise, poisson_steps,
};
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::theory::Kind;
use serde::Serialize;

use crate::args::{CalibrateArgs, Wanted};
use crate::failure::{Done, Exit, Failure};
use crate::report::{grouped, plain, print, print_json, row};

#[derive(Serialize)]
struct CalibrateReport {
    schema: &'static str,
    version: &'static str,
    wanted: Wanted,
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
    fn noise(found: Calibrated) -> Self {
        let noise_multiplier = Some(found.value);
        Found { noise_multiplier, steps: None, epochs: None, epsilon: found.epsilon }
    }

    fn steps(found: Calibrated) -> Self {
        let steps = Some(found.value as u64);
        Found { noise_multiplier: None, steps, epochs: None, epsilon: found.epsilon }
    }

    fn epochs(found: Calibrated) -> Self {
        let epochs = Some(found.value as u64);
        Found { noise_multiplier: None, steps: None, epochs, epsilon: found.epsilon }
    }
}

pub(crate) fn run(args: &CalibrateArgs) -> Done {
    refuse(args)?;
    let (found, poisson) = match args.sampler {
        SamplerKind::Poisson => (by_poisson(args)?, None),
        // A comparison that cannot be made costs no answer.
        SamplerKind::BallsInBins => (by_balls_in_bins(args)?, by_poisson(args).ok()),
        _ => (by_deterministic(args)?, by_poisson(args).ok()),
    };
    let CalibrateArgs { wanted, sampler, noise_multiplier, steps, epochs, .. } = *args;
    let epochs = if wanted == Wanted::Noise { epochs.or(Some(1)) } else { None };
    let sampling_rate = (sampler == SamplerKind::Poisson).then(|| rate(args)).transpose()?;
    let report = CalibrateReport {
        schema: "dpscope.calibrate/1",
        version: env!("CARGO_PKG_VERSION"),
        wanted,
        sampler,
        found,
        delta: args.delta,
        target_epsilon: args.epsilon,
        kind: Kind::Upper,
        accountant: accountant(sampler),
        settings: Settings { noise_multiplier, steps, epochs, sampling_rate },
        poisson,
    };
    if args.json {
        print_json(&report)?;
    } else {
        print(&to_text(&report))?;
    }
    Ok(Exit::Done)
}

/// Refuses options that would have no effect, and samplers of which nothing is proven.
fn refuse(args: &CalibrateArgs) -> Result<(), Failure> {
    let is_poisson = args.sampler == SamplerKind::Poisson;
    let is_noise = args.wanted == Wanted::Noise;
    Failure::first_of(&[
        (
            args.sampler == SamplerKind::SlidingBuffer,
            "--sampler sliding-buffer has no proven accountant; use a sampler that has one",
        ),
        (
            args.sampling_rate.is_some() && !is_poisson,
            "--sampling-rate is for --sampler poisson alone: elsewhere each record is in one of \
             --steps batches an epoch",
        ),
        (
            args.sampling_rate.is_some() && args.wanted == Wanted::Epochs,
            "--sampling-rate is not for `calibrate epochs`, where it is 1/T; use `calibrate steps`",
        ),
        (
            is_noise && args.noise_multiplier.is_some(),
            "--noise-multiplier is what `calibrate noise` finds; leave it out",
        ),
        (!is_noise && args.epochs.is_some(), "--epochs is for `calibrate noise`; leave it out"),
        (
            args.wanted == Wanted::Steps && !is_poisson,
            "`calibrate steps` is for --sampler poisson: elsewhere an epoch costs the same however \
             many steps it has; use `calibrate epochs`",
        ),
    ])
}

fn target(args: &CalibrateArgs) -> PrivacyTarget {
    let error = (1e-4 * args.epsilon).clamp(1e-7, 1e-3);
    PrivacyTarget { epsilon: args.epsilon, delta: args.delta, error }
}

fn needed<T>(given: Option<T>, option: &str) -> Result<T, Failure> {
    given.ok_or_else(|| Failure::input(format!("{option} is missing; add it")))
}

/// q of Poisson sampled batches.
fn rate(args: &CalibrateArgs) -> Result<f64, Failure> {
    if let (None, Some(steps @ 1_000_000_001..)) = (args.sampling_rate, args.steps) {
        let why = "at most 1e9: the sampling rate is one over it";
        return Err(Failure::input(format!("--steps is {steps}; it must be {why}")));
    }
    let rate = args.sampling_rate.or(args.steps.map(|steps| 1.0 / steps as f64));
    needed(rate, "--steps (or --sampling-rate)")
}

fn by_poisson(args: &CalibrateArgs) -> Result<Found, Failure> {
    let (target, rate) = (target(args), rate(args)?);
    if args.wanted == Wanted::Noise {
        let steps = needed(args.steps, "--steps")?.saturating_mul(args.epochs.unwrap_or(1));
        return Ok(Found::noise(poisson_noise(target, rate, steps)?));
    }
    let noise_multiplier = needed(args.noise_multiplier, "--noise-multiplier")?;
    Ok(if args.wanted == Wanted::Steps {
        Found::steps(poisson_steps(target, noise_multiplier, rate)?)
    } else {
        let steps = needed(args.steps, "--steps")?;
        Found::epochs(poisson_epochs(target, noise_multiplier, steps)?)
    })
}

/// Also for every shuffle: no smaller upper bound is proven.
fn by_deterministic(args: &CalibrateArgs) -> Result<Found, Failure> {
    let target = target(args);
    if args.wanted == Wanted::Noise {
        return Ok(Found::noise(deterministic_noise(target, args.epochs.unwrap_or(1))?));
    }
    let noise_multiplier = needed(args.noise_multiplier, "--noise-multiplier")?;
    Ok(Found::epochs(deterministic_epochs(target, noise_multiplier)?))
}

fn by_balls_in_bins(args: &CalibrateArgs) -> Result<Found, Failure> {
    // finer grids take many seconds
    let error = (3e-3 * args.epsilon).clamp(1e-4, 1e-2);
    let target = PrivacyTarget { error, ..target(args) };
    let steps = needed(args.steps, "--steps")?;
    if args.wanted == Wanted::Noise {
        return Ok(Found::noise(balls_in_bins_noise(target, steps, args.epochs.unwrap_or(1))?));
    }
    let noise_multiplier = needed(args.noise_multiplier, "--noise-multiplier")?;
    Ok(Found::epochs(balls_in_bins_epochs(target, noise_multiplier, steps)?))
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
    let given = [
        settings.noise_multiplier.map(|value| format!("σ = {value}")),
        settings.steps.map(|steps| format!("T = {}", grouped(steps))),
        settings.epochs.map(|epochs| format!("E = {}", grouped(epochs))),
        settings.sampling_rate.map(|rate| format!("q = {rate}")),
    ];
    let given: Vec<String> = given.into_iter().flatten().collect();
    out.push_str(&row("given", &format!("ε = {}, {}", report.target_epsilon, given.join(", "))));
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
