//! `dpscope audit bgm`: simulate the batched Gaussian mechanism.

use dpscope_engine::Plan;

use super::simulate::{Job, begun, run_and_report};
use crate::args::BgmArgs;
use crate::failure::Done;

pub(crate) fn run(args: &BgmArgs) -> Done {
    let begun = begun(args.checkpoint.as_deref(), args.seed)?;
    let plan = Plan {
        mechanism: args.sampler.mechanism(args.noise_multiplier, args.steps, args.epochs)?,
        observations: args.observations,
        delta: args.statement.delta,
        significance: args.statement.significance,
        threshold_rule: args.threshold_rule.into(),
        cuts: Plan::DEFAULT_CUTS,
        seed: begun.seed,
        training: None,
    };
    let job = Job::of(plan, begun, args.shard, args.checkpoint.as_deref(), args.out.as_deref())?;
    run_and_report(&job, &args.device, &args.claim, &args.plot, &args.show)
}
