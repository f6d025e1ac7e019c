//! `dpscope resume`: resume an interrupted run from its checkpoint.

mod args;

pub(crate) use args::ResumeArgs;

use crate::commands::audit::{dpsgd, fedavg, gaussian, pategan};
use crate::commands::simulate::run_and_report;
use crate::failure::{CommandResult, reject_unused_options};
use crate::job::Job;
use crate::saved_run::SavedRun;

pub(crate) fn run(args: &ResumeArgs) -> CommandResult {
    let state = SavedRun::read(&args.checkpoint)?;
    if !matches!(state, SavedRun::PateGan(_)) {
        let unused = [("--columns", args.columns.is_some())];
        reject_unused_options(&unused, "on a checkpoint of a run that is not of `audit pategan`")?;
    }
    let state = match state {
        SavedRun::PateGan(state) => return pategan::resume(args, *state),
        SavedRun::OneRun(state) => return dpsgd::one_run::resume(args, *state),
        SavedRun::NoisySum(state) => return gaussian::resume(args, *state),
        SavedRun::Federated(state) => return fedavg::resume(args, *state),
        SavedRun::TwoWorlds(state) => *state,
    };
    let canary_file = [("--canary-file", args.canary_file.is_some())];
    reject_unused_options(&canary_file, "on a checkpoint of a run without a canary file")?;
    let job = Job::of_checkpoint(state, &args.checkpoint, args.out.as_deref());
    if job.plan.training.is_some() {
        return dpsgd::resume(args, job);
    }
    let unused =
        [("--data", args.data.data.is_some()), ("--outputs-to", args.outputs_to.is_some())];
    reject_unused_options(&unused, "on a checkpoint of a simulated mechanism")?;
    run_and_report(&job, &args.device, &args.report)
}
