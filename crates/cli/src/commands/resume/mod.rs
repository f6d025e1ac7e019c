//! `dpscope resume`: resume an interrupted run from its checkpoint.

mod args;

pub(crate) use args::ResumeArgs;

use crate::commands::simulate::{Job, run_and_report};
use crate::failure::{CommandResult, reject_unused_options};
use crate::files::read_artefact;
use dpscope_report::record::SeedSource;

pub(crate) fn run(args: &ResumeArgs) -> CommandResult {
    let state = read_artefact(&args.checkpoint)?;
    let job = Job {
        plan: state.plan.validated()?,
        range: state.range,
        resumed: Some(state),
        seed_source: SeedSource::Checkpoint,
        checkpoint: Some(&args.checkpoint),
        out: args.out.as_deref(),
        resume_options: String::new(),
    };
    if job.plan.plan().training.is_some() {
        return crate::commands::audit::dpsgd::resume(args, job);
    }
    let unused =
        [("--data", args.data.data.is_some()), ("--outputs-to", args.outputs_to.is_some())];
    reject_unused_options(&unused, "on a checkpoint of a simulated mechanism")?;
    run_and_report(&job, &args.device, &args.report)
}
