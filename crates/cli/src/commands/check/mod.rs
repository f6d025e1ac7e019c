//! `dpscope check`: checks a training set-up against its claim.

mod args;
mod file;

pub(crate) use args::CheckArgs;

use dpscope_core::accounting::Accounted;
use dpscope_core::audit::claim::{PrivacyClaim, Verdict};
use dpscope_core::format::given;
use dpscope_core::training_check::{TrainingSetup, diagnose};
use dpscope_report::number::{counted, grouped, plain};
use dpscope_report::record::{CheckReport, CheckedClaim};
use dpscope_report::text::{Align, row, table};
use dpscope_report::words::PrivacyStatement;

use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print, print_json, print_text};

pub(crate) fn run(args: &CheckArgs) -> CommandResult {
    if args.example {
        print(file::EXAMPLE)?;
        return Ok(Exit::Done);
    }
    let about = |failure: Failure| match &args.file {
        Some(path) => failure.about(path),
        None => failure,
    };
    let training = match &args.file {
        Some(path) => file::read(path, args.training)?,
        None => args.training,
    };
    let (setup, accounting, claim) = training.complete().map_err(|error| about(error.into()))?;
    let found = diagnose(&setup, &accounting, &claim).map_err(|error| about(error.into()))?;
    let verdict = found.verdict;
    let report = CheckReport::new(setup, accounting, claim, found);
    let of = |command| PrivacyStatement::of_check(&report, command);
    if args.json {
        print_json(&report)?;
    } else if !args.privacy_statement.print(of)? {
        print_text(&to_text(&report))?;
    }
    Ok(if verdict == Verdict::Refuted { Exit::Refuted } else { Exit::Done })
}

fn to_text(report: &CheckReport) -> String {
    let CheckedClaim { claim, verdict, says, note } = &report.claim;
    let verdict = match verdict {
        Verdict::Refuted => "REFUTED",
        Verdict::NotRefuted => "not refuted",
        Verdict::Inconclusive => "inconclusive",
    };
    let PrivacyClaim { epsilon, delta, .. } = claim;
    let mut out = format!("claim ε = {} at δ = {delta:e}: {verdict}\n\n", given(*epsilon));
    for finding in &report.findings {
        out.push_str(&row(&finding.severity.to_string(), &finding.says));
    }
    out.push_str(&row("meaning", &format!("{says} Adjacency: {note}.")));
    out.push_str(&row("training", &training(report)));
    out.push('\n');
    out.push_str(&values(report));
    if !report.next.is_empty() {
        out.push_str(
            "\nTo find the noise for this claim, with this loader or with Poisson batches:\n",
        );
        for command in &report.next {
            out.push_str(&format!("  {command}\n"));
        }
    }
    out
}

fn training(report: &CheckReport) -> String {
    let TrainingSetup { dataset_size, epochs, loader, drop_last, .. } = report.setup;
    let dropped = if drop_last { ", last batch dropped" } else { "" };
    format!(
        "{loader}{dropped}: {} records, sampling rate {:.6}, {} per epoch, {} in {}, noise \
         multiplier {}",
        grouped(dataset_size),
        report.sampling_rate,
        counted(report.steps_per_epoch, "step"),
        grouped(report.steps),
        counted(epochs, "epoch"),
        given(report.noise_multiplier)
    )
}

fn values(report: &CheckReport) -> String {
    let rows = [
        ("this loader, at least (proven)", &report.lower),
        ("this loader, at most (proven)", &report.upper),
        ("Poisson accounting", &report.poisson),
    ];
    let shown = |value: &Accounted| plain(value.epsilon, value.kind, 4);
    let row = |(name, value): (&str, &Option<Accounted>)| {
        [name.to_owned(), value.as_ref().map_or_else(|| "unknown".to_owned(), shown)]
    };
    let claimed = ["claimed".to_owned(), given(report.claim.claim.epsilon)];
    let rows: Vec<[String; 2]> = [claimed].into_iter().chain(rows.map(row)).collect();
    table(&[("", Align::Left), ("ε", Align::Right)], &rows)
}
