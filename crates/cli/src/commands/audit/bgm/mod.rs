//! `dpscope audit bgm`: simulate the batched Gaussian mechanism.

mod args;

pub(crate) use args::BgmArgs;

use crate::commands::simulate::{plan, run_and_report};
use crate::failure::CommandResult;
use crate::job::{Job, ResumePoint};

pub(crate) fn run(args: &BgmArgs) -> CommandResult {
    let run = &args.run;
    let start = ResumePoint::read(run.checkpoint.as_deref(), run.seed)?;
    let plan = plan(run, args.mechanism.mechanism()?, args.observations, start.seed);
    plan.validated()?;
    run_and_report(&Job::new(plan, start, &run.destination())?, &run.device, &run.report)
}
