//! `dpscope resume`: go on with a checkpoint.

use super::simulate::{Job, run_and_report};
use crate::args::ResumeArgs;
use crate::failure::Done;
use crate::files::read_artefact;
use crate::seed::SeedSource;

pub(crate) fn run(args: &ResumeArgs) -> Done {
    let state = read_artefact(&args.checkpoint)?;
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
