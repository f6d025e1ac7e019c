//! The report of federated trainings with canaries.

use dpscope_engine::Artefact;
use dpscope_report::number::counted;
use dpscope_report::record::{ClaimTest, RunFacts};
use dpscope_report::words::OneShotDesign;
use dpscope_train::federated::{FederatedOutcome, FederatedOutcomeError, FederatedPlan};

use crate::args::{ReportArgs, check_drawing};
use crate::commands::audit::canary_report::Shown;
use crate::commands::audit::federated::{check_adjacency, option_of};
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::output::{claim_test, print_note};

/// The claim; also rejects options without effect and files that cannot be written.
pub(super) fn check(args: &ReportArgs, plan: &FederatedPlan) -> Result<ClaimTest, Failure> {
    let unused = [("--metrics", args.metrics), ("--curves", args.plot.curves.is_some())];
    reject_unused_options(&unused, "on cosines of canaries")?;
    args.plot.plot.as_deref().map_or(Ok(()), check_drawing)?;
    args.page.check()?;
    let test = claim_test(&args.claim, plan.delta)?;
    check_adjacency(&test, OneShotDesign::certified(plan.design))?;
    Ok(test)
}

/// Prints the report of trainings, and returns its exit code.
pub(super) fn finish(
    state: &Artefact<FederatedPlan>,
    facts: &RunFacts,
    args: &ReportArgs,
) -> CommandResult {
    let plan = &state.plan;
    if !state.is_complete() {
        print_note(&format!(
            "{} of {} are done; a result needs all of them",
            state.done(),
            counted(plan.models(), "training")
        ));
        return Ok(Exit::Done);
    }
    let test = check(args, plan)?;
    let (report, tails) = FederatedOutcome::of(state)?.report(facts, &test)?;
    let shown =
        Shown { delivery: args.delivery(), plot: args.plot.plot.as_deref(), claim: &args.claim };
    shown.finish(&report, &tails)
}

impl From<FederatedOutcomeError> for Failure {
    fn from(error: FederatedOutcomeError) -> Self {
        match error {
            FederatedOutcomeError::Diverged { failed, trainings } => Failure::input(format!(
                "{failed} of {} diverged, and their canaries have no scores; pass a lower \
                 --local-learning-rate or --server-learning-rate",
                counted(trainings, "training")
            )),
            FederatedOutcomeError::Training(error) => error.into(),
            FederatedOutcomeError::Canaries(error) => option_of(error),
            FederatedOutcomeError::Claim(error) => error.into(),
            error => Failure::input(error),
        }
    }
}
