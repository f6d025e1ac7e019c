//! `dpscope audit bgm`: simulate the batched Gaussian mechanism.

use dpscope_engine::{Artefact, ArtefactError, Plan, Shard};

use super::simulate::{Job, run_and_report};
use crate::args::BgmArgs;
use crate::failure::{Done, Failure};
use crate::files::{check_writable, read_artefact};
use crate::seed::{SeedSource, seed_or_fresh};

pub(crate) fn run(args: &BgmArgs) -> Done {
    let checkpoint = args.checkpoint.as_ref();
    checkpoint.map_or(Ok(()), |path| check_writable(path))?;
    let earlier = match checkpoint.filter(|path| path.exists()) {
        Some(path) => Some((path, read_artefact(path)?)),
        None => None,
    };
    let (seed, seed_source) = match (&earlier, args.seed) {
        (Some((_, state)), None) => (state.plan.seed, SeedSource::Checkpoint),
        (_, given) => seed_or_fresh(given)?,
    };
    let plan = Plan {
        mechanism: args.sampler.mechanism(args.noise_multiplier, args.steps, args.epochs)?,
        observations: args.observations,
        delta: args.statement.delta,
        significance: args.statement.significance,
        threshold_rule: args.threshold_rule.into(),
        cuts: Plan::DEFAULT_CUTS,
        seed,
        training: None,
    };
    let valid = plan.validated()?;
    let range = args.shard.unwrap_or(Shard::WHOLE).range(&plan)?;
    let resumed = match earlier {
        Some((path, state)) => {
            let same = belongs_to(&state, &plan, range);
            same.map_err(|error| Failure::from(error).about(path))?;
            Some(state)
        }
        None => None,
    };
    let job = Job {
        plan: valid,
        range,
        resumed,
        seed_source,
        checkpoint: args.checkpoint.as_deref(),
        out: args.out.as_deref(),
    };
    run_and_report(&job, &args.device, &args.claim, &args.plot, &args.show)
}

fn belongs_to(
    state: &Artefact,
    plan: &Plan,
    range: dpscope_engine::ObservationRange,
) -> Result<(), ArtefactError> {
    if state.plan != *plan {
        let differences = plan.differences(&state.plan);
        return Err(ArtefactError::ForeignPlan { differences });
    }
    if state.range != range {
        let (found, expected) = (state.range.to_string(), range.to_string());
        return Err(ArtefactError::ForeignRange { found, expected });
    }
    Ok(())
}
