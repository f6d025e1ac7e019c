//! `dpscope audit bgm`: simulate the batched Gaussian mechanism.

mod args;

pub(crate) use args::BgmArgs;

use crate::commands::simulate::{Job, begun, run_and_report};
use crate::failure::Done;

pub(crate) fn run(args: &BgmArgs) -> Done {
    let run = &args.run;
    let begun = begun(run.checkpoint.as_deref(), run.seed)?;
    let mechanism = args.sampler.mechanism(args.noise_multiplier, args.steps, args.epochs)?;
    let plan = run.plan(mechanism, args.observations, begun.seed);
    let job = Job::of(plan, begun, run)?;
    run_and_report(&job, run.asked())
}
