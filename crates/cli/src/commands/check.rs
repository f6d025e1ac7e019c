//! `dpscope check`: does a described training set-up keep its claim?

use dpscope_core::adjacency::Adjacency;
use dpscope_core::claim::{PrivacyClaim, Verdict};
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::shown::given;
use dpscope_core::theory::{Accounted, ToAccounted};
use dpscope_core::training_check::{
    AssumedAccounting, Diagnosis, DrawnNoise, Finding, NoiseTarget, Severity, TrainingSetup,
    diagnose,
};
use serde::Serialize;

use crate::args::{CheckArgs, TrainingArgs};
use crate::failure::{Done, Exit, Failure};
use crate::report::{Align, counted, grouped, plain, print, print_json, row, table};
use crate::training_file;

#[derive(Debug, Serialize)]
struct CheckReport {
    schema: &'static str,
    version: &'static str,
    setup: TrainingSetup,
    accounting: AssumedAccounting,
    claim: ClaimVerdict,
    sampling_rate: f64,
    steps_per_epoch: u64,
    steps: u64,
    noise_multiplier: f64,
    findings: Vec<Told>,
    /// ε that the loader leaks at least.
    lower: Option<Accounted>,
    /// ε that it leaks at most.
    upper: Option<Accounted>,
    /// What Poisson accounting gives with this rate, these steps and this noise.
    poisson: Option<Accounted>,
    /// Commands that say what would keep the claim.
    next: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ClaimVerdict {
    #[serde(flatten)]
    claim: PrivacyClaim,
    verdict: Verdict,
    says: String,
    note: &'static str,
}

#[derive(Debug, Serialize)]
struct Told {
    severity: Severity,
    #[serde(flatten)]
    finding: Finding,
    says: String,
}

pub(crate) fn run(args: &CheckArgs) -> Done {
    if args.example {
        print(training_file::EXAMPLE)?;
        return Ok(Exit::Done);
    }
    let about = |failure: Failure| match &args.file {
        Some(path) => failure.about(path),
        None => failure,
    };
    let in_file = args.file.as_deref().map(training_file::read).transpose()?;
    let told = args.training.clone().or(in_file.unwrap_or_default());
    let (setup, accounting, claim) = described(&told).map_err(about)?;
    let found = diagnose(&setup, &accounting, &claim).map_err(|error| about(error.into()))?;
    let verdict = found.verdict;
    let report = report(setup, accounting, claim, found);
    if args.json {
        print_json(&report)?;
    } else {
        print(&to_text(&report))?;
    }
    Ok(if verdict == Verdict::Refuted { Exit::Refuted } else { Exit::Done })
}

fn described(
    told: &TrainingArgs,
) -> Result<(TrainingSetup, AssumedAccounting, PrivacyClaim), Failure> {
    fn needed<T>(value: Option<T>, name: &str) -> Result<T, Failure> {
        let key = name.replace('-', "_");
        let message = || format!("{key} is missing; give --{name}, or {key} in the file");
        value.ok_or_else(|| Failure::input(message()))
    }
    let drawn_noise = match told.noise_std {
        None => None,
        Some(standard_deviation) => Some(DrawnNoise {
            standard_deviation,
            clip_norm: needed(told.clip_norm, "clip-norm")?,
            added_to: told.noise_on.map_or(NoiseTarget::Sum, Into::into),
        }),
    };
    let unused = [("clip_norm", told.clip_norm.is_some()), ("noise_on", told.noise_on.is_some())];
    if let Some((name, _)) = unused.iter().find(|(_, given)| *given && drawn_noise.is_none()) {
        return Err(Failure::input(format!(
            "{name} is given without noise_std; give --noise-std as well, or leave it out"
        )));
    }
    let setup = TrainingSetup {
        dataset_size: needed(told.dataset_size, "dataset-size")?,
        batch_size: needed(told.batch_size, "batch-size")?,
        epochs: needed(told.epochs, "epochs")?,
        noise_multiplier: needed(told.noise_multiplier, "noise-multiplier")?,
        drawn_noise,
        loader: needed(told.loader, "loader")?.with_buffer(told.buffer_examples)?,
        drop_last: told.drop_last.unwrap_or(false),
    };
    let accounting = AssumedAccounting {
        sampler: told.accountant,
        sampling_rate: told.accounted_sampling_rate,
        steps: told.accounted_steps,
    };
    let claim = PrivacyClaim {
        epsilon: needed(told.claim, "claim")?,
        delta: needed(told.delta, "delta")?,
        adjacency: told.claim_adjacency.map_or(Adjacency::AddRemove, Into::into),
    };
    Ok((setup, accounting, claim))
}

fn report(
    setup: TrainingSetup,
    accounting: AssumedAccounting,
    claim: PrivacyClaim,
    found: Diagnosis,
) -> CheckReport {
    let delta = claim.delta;
    let next = next(&setup, &claim, &found);
    let says = match found.verdict {
        Verdict::Refuted => {
            "A training run as described, releasing every noisy sum, is not (epsilon, delta)-DP under \
             zero-out adjacency. This is about the description: the trained model and the code were \
             not looked at."
        }
        Verdict::NotRefuted => {
            "Nothing that is proven about the description exceeds the claim. Not refuted proves \
             nothing: neither that the claim holds, nor that the code does what is described."
        }
    };
    let Diagnosis { sampling_rate, steps_per_epoch, steps, noise_multiplier, verdict, .. } = found;
    CheckReport {
        schema: "dpscope.check/1",
        version: env!("CARGO_PKG_VERSION"),
        setup,
        accounting,
        claim: ClaimVerdict { claim, verdict, says: says.to_owned(), note: claim.adjacency_note() },
        sampling_rate,
        steps_per_epoch,
        steps,
        noise_multiplier,
        findings: found.findings.into_iter().map(told).collect(),
        lower: found.lower.map(|bound| bound.at(delta)),
        upper: found.upper.map(|bound| bound.at(delta)),
        poisson: found.poisson.map(|bound| bound.at(delta)),
        next,
    }
}

fn told(finding: Finding) -> Told {
    Told { severity: finding.severity(), finding, says: finding.to_string() }
}

/// Which noise keeps the claim, with this loader and with Poisson batches.
fn next(setup: &TrainingSetup, claim: &PrivacyClaim, found: &Diagnosis) -> Vec<String> {
    let is_sound = found.findings.iter().all(|finding| finding.severity() == Severity::Note);
    // `calibrate` knows no replaced records
    let is_replace = claim.adjacency == Adjacency::Replace;
    if is_sound || is_replace || !(claim.epsilon > 0.0) {
        return Vec::new();
    }
    // every shuffle is calibrated by the bound of deterministic batches
    let loader = match setup.loader.kind() {
        SamplerKind::SlidingBuffer => SamplerKind::Deterministic,
        kind => kind,
    };
    let mut samplers = vec![loader, SamplerKind::Poisson];
    samplers.dedup();
    let command = |sampler: SamplerKind| {
        format!(
            "dpscope calibrate noise --sampler {sampler} --epsilon {} --delta {:e} --steps {} \
             --epochs {}",
            claim.epsilon, claim.delta, found.steps_per_epoch, setup.epochs
        )
    };
    samplers.into_iter().map(command).collect()
}

fn to_text(report: &CheckReport) -> String {
    let ClaimVerdict { claim, verdict, says, note } = &report.claim;
    let verdict = match verdict {
        Verdict::Refuted => "REFUTED",
        Verdict::NotRefuted => "not refuted",
    };
    let PrivacyClaim { epsilon, delta, .. } = claim;
    let mut out = format!("claim ε = {} at δ = {delta:e}: {verdict}\n\n", given(*epsilon));
    for told in &report.findings {
        out.push_str(&row(&told.severity.to_string(), &told.says));
    }
    out.push_str(&row("meaning", &format!("{says} Adjacency: {note}.")));
    out.push_str(&row("training", &training(report)));
    out.push('\n');
    out.push_str(&values(report));
    if !report.next.is_empty() {
        out.push_str(
            "\nFind the noise that keeps the claim, with this loader or with Poisson batches:\n",
        );
        for command in &report.next {
            out.push_str(&format!("  {command}\n"));
        }
    }
    out
}

fn training(report: &CheckReport) -> String {
    let TrainingSetup { dataset_size, epochs, loader, drop_last, .. } = report.setup;
    let dropped = if drop_last { ", last batch left out" } else { "" };
    format!(
        "{loader}{dropped}: {} records, sampling rate {:.6}, {} an epoch, {} in {}, noise \
         multiplier {}",
        grouped(dataset_size),
        report.sampling_rate,
        counted(report.steps_per_epoch, "step"),
        grouped(report.steps),
        counted(epochs, "epoch"),
        report.noise_multiplier
    )
}

fn values(report: &CheckReport) -> String {
    let rows = [
        ("this loader, at least (proven)", &report.lower),
        ("this loader, at most (proven)", &report.upper),
        ("Poisson accounting would say", &report.poisson),
    ];
    let shown = |value: &Accounted| plain(value.epsilon, value.kind, 4);
    let row = |(name, value): (&str, &Option<Accounted>)| {
        [name.to_owned(), value.as_ref().map_or_else(|| "unknown".to_owned(), shown)]
    };
    let claimed = ["claimed".to_owned(), given(report.claim.claim.epsilon)];
    let rows: Vec<[String; 2]> = [claimed].into_iter().chain(rows.map(row)).collect();
    table(&[("", Align::Left), ("ε", Align::Right)], &rows)
}
