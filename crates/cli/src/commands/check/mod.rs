//! `dpscope check`: checks a training set-up against its claim.

mod args;
mod file;
mod import;
mod loader;
mod verdict;

pub(crate) use args::CheckArgs;
use import::Import;

use dpscope_core::accounting::Accounted;
use dpscope_core::audit::claim::PrivacyClaim;
use dpscope_core::format::given;
use dpscope_core::training_check::{CheckVerdict, TrainingSetup, diagnose};
use dpscope_report::number::{counted, grouped, plain};
use dpscope_report::record::{CheckReport, CheckedClaim};
use dpscope_report::text::{Align, row, table};
use dpscope_report::words::{PrivacyStatement, is_loose, library_loader_sentence};

use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print, print_json, print_text};

pub(crate) fn run(args: &CheckArgs) -> CommandResult {
    if args.example {
        print(file::EXAMPLE)?;
        return Ok(Exit::Done);
    }
    if args.list_loaders {
        loader::list(args.json)?;
        return Ok(Exit::Done);
    }
    let path = args.file.as_ref().or(args.import.as_ref());
    let about = |failure: Failure| match path {
        Some(path) => failure.about(path),
        None => failure,
    };
    let (mut training, loader) = match (&args.file, &args.import) {
        (Some(path), _) => file::read(path, args.training, args.loader)?,
        (None, None) => (args.training, args.loader),
        (None, Some(path)) => match import::read(path, args)? {
            Import::Training(training, loader) => (*training, Some(loader)),
            Import::Phases(source, phases) => {
                return import::report(source, phases, args).map_err(about);
            }
        },
    };
    if let Some(loader) = loader {
        loader.describe(&mut training);
    }
    let (setup, accounting, claim) = training.complete().map_err(|error| about(error.into()))?;
    let found = diagnose(&setup, &accounting, &claim).map_err(|error| about(error.into()))?;
    let verdict = found.verdict;
    let report = CheckReport {
        library_loader: loader.and_then(|loader| loader.library).copied(),
        ..CheckReport::new(setup, accounting, claim, found)
    };
    let of = |command| PrivacyStatement::of_check(&report, command);
    if args.json {
        print_json(&report)?;
    } else if !args.privacy_statement.print(of)? {
        print_text(&to_text(&report))?;
    }
    Ok(match verdict {
        CheckVerdict::Refuted => Exit::Refuted,
        CheckVerdict::HoldsAsDescribed => Exit::Done,
        CheckVerdict::Inconclusive => Exit::Inconclusive,
    })
}

fn to_text(report: &CheckReport) -> String {
    let CheckedClaim { claim, verdict, says, note } = &report.claim;
    let verdict = verdict::in_capitals(*verdict);
    let PrivacyClaim { epsilon, delta, .. } = claim;
    let mut out = format!("claim ε = {} at δ = {delta:e}: {verdict}\n\n", given(*epsilon));
    for finding in &report.findings {
        out.push_str(&row(&finding.severity.to_string(), &finding.says));
    }
    if let Some(loader) = &report.library_loader {
        out.push_str(&row("loader", &library_loader_sentence(loader)));
        for trap in loader.traps {
            out.push_str(&row("note", trap));
        }
    }
    out.push_str(&row("meaning", &format!("{says} Adjacency: {note}.")));
    out.push_str(&row("training", &training(report)));
    out.push('\n');
    out.push_str(&values(report));
    if !report.next.is_empty() {
        let loaders =
            if report.next.len() > 1 { ", with this loader or with Poisson batches" } else { "" };
        out.push_str(&format!("\nTo find the noise for this claim{loaders}:\n"));
        for command in &report.next {
            out.push_str(&format!("  {command}\n"));
        }
    }
    out
}

fn training(report: &CheckReport) -> String {
    let TrainingSetup { dataset_size, loader, drop_last, .. } = report.setup;
    let dropped = if drop_last { ", last batch dropped" } else { "" };
    format!(
        "{loader}{dropped}: {} records, sampling rate {:.6}, {} per epoch, {} in {}, noise \
         multiplier {}",
        grouped(dataset_size),
        report.sampling_rate,
        counted(report.steps_per_epoch, "step"),
        grouped(report.steps),
        length(&report.setup),
        given(report.noise_multiplier)
    )
}

/// E, with the steps of an incomplete epoch.
fn length(setup: &TrainingSetup) -> String {
    let epochs = counted(setup.epochs, "epoch");
    match setup.partial_epoch_steps {
        0 => epochs,
        steps => format!("{epochs} and {}", counted(steps, "step")),
    }
}

fn values(report: &CheckReport) -> String {
    let rows = [
        ("this loader, at least", " (proven)", &report.lower),
        ("this loader, at most", " (proven)", &report.upper),
        ("Poisson accounting", "", &report.poisson),
    ];
    let shown = |value: &Accounted| plain(value.epsilon, value.kind, 4);
    let row = |(name, proven, value): (&str, &str, &Option<Accounted>)| match value {
        Some(value) if is_loose(value, value.epsilon) => {
            [format!("{name} (numeric error comparable to it)"), shown(value)]
        }
        Some(value) => [format!("{name}{proven}"), shown(value)],
        None => [name.to_owned(), "unknown".to_owned()],
    };
    let claimed = ["claimed".to_owned(), given(report.claim.claim.epsilon)];
    let rows: Vec<[String; 2]> = [claimed].into_iter().chain(rows.map(row)).collect();
    table(&[("", Align::Left), ("ε", Align::Right)], &rows)
}
