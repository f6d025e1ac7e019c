//! `dpscope merge`: joins the shards of a run.

mod args;

pub(crate) use args::MergeArgs;

use std::time::Instant;

use dpscope_engine::{Artefact, ArtefactError, MergeOptions, Plan};
use dpscope_report::figure::curves_of_report;
use dpscope_simulation::Evaluate;

use crate::commands::audit::{dpsgd, fedavg, gaussian, pategan};
use crate::commands::simulate::idealised;
use crate::failure::{CommandResult, Failure, reject_unused_options};
use crate::files::{read_own_artefact, remember_input};
use crate::job::report_merged;
use crate::saved_run::SavedRun;

pub(crate) fn run(args: &MergeArgs) -> CommandResult {
    let started = Instant::now();
    args.files.iter().for_each(|path| remember_input(path));
    let first = SavedRun::read(args.files.first().ok_or(ArtefactError::Nothing)?)?;
    if !matches!(first, SavedRun::PateGan(_)) {
        let unused = [("--data", args.table.data.is_some())];
        reject_unused_options(&unused, "on runs that are not of `audit pategan`")?;
    }
    match first {
        SavedRun::PateGan(first) => pategan::merge(args, &merged(args, *first)?, started),
        SavedRun::TwoWorlds(first) => two_worlds(args, &merged(args, *first)?, started),
        SavedRun::NoisySum(first) => gaussian::merge(args, &merged(args, *first)?, started),
        SavedRun::OneRun(first) => dpsgd::one_run::merge(args, &merged(args, *first)?, started),
        SavedRun::Federated(first) => fedavg::merge(args, &merged(args, *first)?, started),
    }
}

fn two_worlds(
    args: &MergeArgs,
    merged: &dpscope_simulation::Artefact,
    started: Instant,
) -> CommandResult {
    let test = args.report.check(merged.plan.delta)?;
    report_merged(merged, args.out.as_deref(), started, |facts| {
        let idealised = idealised(merged, None, args.report.show.quiet);
        let report = dpscope_simulation::report(
            merged,
            facts,
            idealised,
            &test,
            args.report.shows_metrics(),
        )?;
        args.report.finish(&report, || Ok(curves_of_report(&report, &merged.curve()?)?))
    })
}

/// The sum of all files; errors name the file that does not match.
fn merged<P: Plan>(args: &MergeArgs, first: Artefact<P>) -> Result<Artefact<P>, Failure> {
    let mut sum = first;
    for path in args.files.iter().skip(1) {
        let part = read_own_artefact(path)?;
        sum.absorb(part).map_err(|error| Failure::from(error).about(path))?;
    }
    let options = MergeOptions { allow_gaps: args.allow_gaps, allow_mixed_modes: args.allow_mixed };
    Ok(sum.merged(options)?)
}
