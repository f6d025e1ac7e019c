//! `dpscope resume`: go on with a checkpoint.

use super::simulate::{Job, run_and_report};
use crate::args::ResumeArgs;
use crate::failure::{Done, Failure};
use crate::files::read_artefact;
use crate::seed::SeedSource;

pub(crate) fn run(args: &ResumeArgs) -> Done {
    let state = read_artefact(&args.checkpoint)?;
    if state.plan.training.is_some() {
        return Err(Failure::input(
            "counts trained models, and names neither their model nor their data; go on by the \
             `dpscope audit dpsgd` command that began it, with --checkpoint and this file",
        )
        .about(&args.checkpoint));
    }
    let job = Job {
        plan: state.plan.validated()?,
        range: state.range,
        resumed: Some(state),
        seed_source: SeedSource::Checkpoint,
        checkpoint: Some(&args.checkpoint),
        out: args.out.as_deref(),
    };
    run_and_report(&job, &args.device, &args.claim, &args.plot, &args.show)
}
