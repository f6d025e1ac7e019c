//! `dpscope check`: checks a training set-up against its claim.

mod args;
mod correlated_noise;
mod file;
mod import;
mod loader;

pub(crate) use args::CheckArgs;
use import::Import;

use std::path::Path;

use dpscope_core::training_check::{CheckVerdict, NamedLoader, TrainingError, diagnose};
use dpscope_report::figure::{Sampled, curves_of_sampled, to_svg};
use dpscope_report::record::CheckReport;
use dpscope_report::words::{PrivacyStatement, unread_arguments_sentence};

use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{Delivery, print, print_note};

pub(crate) fn run(args: &CheckArgs) -> CommandResult {
    args.page.check()?;
    if args.example {
        print(file::EXAMPLE)?;
        return Ok(Exit::Done);
    }
    if args.list_loaders {
        loader::list(args.json)?;
        return Ok(Exit::Done);
    }
    refuse_value_as_file(args)?;
    let path = args.file.as_ref().or(args.import.as_ref());
    let about = |failure: Failure| match path {
        Some(path) => failure.about(path),
        None => failure,
    };
    let (mut training, loader) = match (&args.file, &args.import) {
        (Some(path), _) => file::read(path, args.training, args.loader.clone())?,
        (None, None) => (args.training, args.loader.clone()),
        (None, Some(path)) => match import::read(path, args)? {
            Import::Training(training, loader) => (*training, Some(loader)),
            Import::Phases(source, phases) => {
                return import::report(source, phases, args).map_err(about);
            }
        },
    };
    if let Some(loader) = &loader {
        if let Some(noise) = loader.correlated_noise {
            return Err(about(correlated_noise::refused(noise, &training)));
        }
        loader.describe(&mut training);
    }
    // a file has fields, the command line options
    let refused = |error: TrainingError| match args.file {
        Some(_) => about(Failure::input(error)),
        None => about(error.into()),
    };
    let complete = training.complete().map_err(|error| match &loader {
        Some(loader) => loader.explain(error),
        None => error,
    });
    let (setup, accounting, target) = complete.map_err(refused)?;
    if let Some(loader) = &loader {
        loader.compare(&training, &setup).map_err(refused)?;
    }
    let found = diagnose(&setup, &accounting, target).map_err(refused)?;
    let verdict = found.verdict;
    let mut report = CheckReport::new(setup, accounting, target, found);
    if let Some(loader) = loader {
        report.library_loader = loader.library.copied();
        warn_of_unread(&loader, &mut report);
    }
    let of = |command| PrivacyStatement::of_check(&report, command);
    if !args.privacy_statement.print(of)? {
        args.delivery().print(&report)?;
    }
    args.page.write(&report, args.file.as_deref(), || figure(&report))?;
    Ok(match verdict {
        Some(CheckVerdict::Refuted) => Exit::Refuted,
        Some(CheckVerdict::HoldsAsDescribed) | None => Exit::Done,
        Some(CheckVerdict::Inconclusive) => Exit::Inconclusive,
    })
}

/// `--drop-last true`, in which `true` is read as the file.
fn refuse_value_as_file(args: &CheckArgs) -> Result<(), Failure> {
    let value = args.file.as_deref().and_then(Path::to_str);
    match (value, args.training.drop_last) {
        (Some(value @ ("true" | "false")), Some(_)) => Err(Failure::input(format!(
            "--drop-last takes its value after `=`; write --drop-last={value}"
        ))),
        _ => Ok(()),
    }
}

fn warn_of_unread(loader: &NamedLoader, report: &mut CheckReport) {
    let unread = loader.unread();
    if !unread.is_empty() {
        let sentence = unread_arguments_sentence(&unread);
        print_note(&format!("warning: {sentence}"));
        report.claim.says.push_str(&format!(" Warning: {sentence}"));
    }
}

/// The curves that theory has of the described training.
fn figure(report: &CheckReport) -> Result<String, String> {
    let setup = &report.setup;
    let sampler = setup.loader.kind().sampler().ok_or("nothing is known of these batches")?;
    let sampled = Sampled { setting: setup.schedule(), sampler };
    Ok(to_svg(&curves_of_sampled(&sampled, report.claim.target.delta)))
}

impl CheckArgs {
    fn delivery(&self) -> Delivery<'_> {
        Delivery { file: self.file.as_deref(), ..Delivery::new(&self.page, self.json) }
    }
}
