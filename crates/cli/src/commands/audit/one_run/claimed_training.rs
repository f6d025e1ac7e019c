//! A claimed training, tested by the curve that accounting proves of it.

use dpscope_core::accounting::Schedule;
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_run::OneRunResult;
use dpscope_core::mechanism::SamplerKind;
use dpscope_report::record::{ClaimTest, ClaimedTraining, ClaimedTrainingError};

use super::args::ClaimedTrainingArgs;
use crate::failure::Failure;

/// The claimed training, if options describe one.
pub(super) fn schedule_of(args: &ClaimedTrainingArgs) -> Result<Option<Schedule>, Failure> {
    let Some(mut schedule) = args.accounted.schedule()? else { return Ok(None) };
    let sampler = args.sampler;
    if sampler.truncates() {
        return Err(Failure::input(format!(
            "--sampler {sampler} does not apply here: its bound depends on the maximum batch \
             size; use `bound {sampler}`, and its value as --claim",
        )));
    }
    if args.sampling_rate.is_some() && !args.sampler.draws_each_step_anew() {
        return Err(Failure::input(
            "--sampling-rate applies to --sampler poisson and fixed-size only: otherwise each \
             record is in one of --steps batches per epoch",
        ));
    }
    schedule.whole.sampling_rate = args.sampling_rate.or(schedule.whole.sampling_rate);
    if sampler.has_uses() {
        schedule.whole.sampling_rate = None; // one use per epoch
    }
    Ok(Some(schedule))
}

/// Its test, and what is proven of it.
pub(super) fn tested(
    sampler: SamplerKind,
    schedule: Schedule,
    result: &OneRunResult,
    certified: Adjacency,
    test: &ClaimTest,
) -> Result<ClaimedTraining, Failure> {
    let claim = test.claim.as_ref();
    ClaimedTraining::new(sampler, schedule, result, certified, claim).map_err(|error| match error {
        ClaimedTrainingError::Canaries(error) => error.into(),
        ClaimedTrainingError::Accounting(error) => error.into(),
    })
}
