//! `dpscope resume`: resume an interrupted run from its checkpoint.

mod args;

pub(crate) use args::ResumeArgs;

use crate::commands::simulate::run_and_report;
use crate::failure::{CommandResult, reject_unused_options};
use crate::files::read_artefact;
use crate::job::Job;
use dpscope_simulation::Plan;

pub(crate) fn run(args: &ResumeArgs) -> CommandResult {
    let state = read_artefact::<Plan>(&args.checkpoint)?;
    let job = Job::of_checkpoint(state, &args.checkpoint, args.out.as_deref());
    if job.plan.training.is_some() {
        return crate::commands::audit::dpsgd::resume(args, job);
    }
    let unused =
        [("--data", args.data.data.is_some()), ("--outputs-to", args.outputs_to.is_some())];
    reject_unused_options(&unused, "on a checkpoint of a simulated mechanism")?;
    run_and_report(&job, &args.device, &args.report)
}
