//! The report of trainings with canaries.

use dpscope_core::adjacency::Adjacency;
use dpscope_engine::Artefact;
use dpscope_report::number::counted;
use dpscope_report::record::{ClaimTest, RunFacts};
use dpscope_train::one_run::{OneRunDescription, OneRunOutcome, OneRunOutcomeError, OneRunPlan};

use crate::args::ReportArgs;
use crate::commands::audit::one_run::{check_plot, print_report};
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::output::{claim_test, print_note};

/// The claim; also rejects options without effect and files that cannot be written.
pub(super) fn check(
    args: &ReportArgs,
    plan: &OneRunPlan,
    certified: Adjacency,
) -> Result<ClaimTest, Failure> {
    let unused = [("--metrics", args.metrics), ("--curves", args.plot.curves.is_some())];
    reject_unused_options(&unused, "on guesses of many canaries in one run")?;
    args.plot.plot.as_deref().map_or(Ok(()), check_plot)?;
    args.page.check()?;
    let test = claim_test(&args.claim, plan.deltas[0])?;
    let is_replace = test.claim.is_some_and(|claim| claim.adjacency == Adjacency::Replace);
    if is_replace && certified == Adjacency::AddRemove {
        return Err(Failure::input(
            "--claim-adjacency is replace, but absent canaries only test add-remove; pass the \
             claim for add-remove",
        ));
    }
    Ok(test)
}

/// Prints the report of trainings, and returns its exit code.
pub(super) fn finish(
    state: &Artefact<OneRunPlan>,
    facts: &RunFacts,
    args: &ReportArgs,
) -> CommandResult {
    let plan = &state.plan;
    if !state.is_complete() {
        print_note(&format!(
            "{} of {} are trained; a result needs all of them",
            state.done(),
            counted(plan.models(), "model")
        ));
        return Ok(Exit::Done);
    }
    let description = OneRunDescription::from_json(&state.evidence.description)?;
    let test = check(args, plan, description.settings.slots.adjacency())?;
    let outcome = OneRunOutcome::of(state)?;
    let is_drawn = args.plot.plot.is_some() || args.page.report.is_some();
    let figure = is_drawn.then(|| outcome.figure()).transpose()?;
    let report = outcome.report(facts, &test)?;
    print_report(&report, &args.delivery(), args.plot.plot.as_deref(), figure)?;
    Ok(args.claim.exit(report.verdict, !report.findings.is_empty()))
}

impl From<OneRunOutcomeError> for Failure {
    fn from(error: OneRunOutcomeError) -> Self {
        match error {
            OneRunOutcomeError::Diverged { failed, trainings } => Failure::input(format!(
                "{failed} of {} diverged, and their canaries have no scores; pass a lower \
                 --learning-rate",
                counted(trainings, "training")
            )),
            OneRunOutcomeError::Training(error) => error.into(),
            OneRunOutcomeError::Canaries(error) => error.into(),
            OneRunOutcomeError::Claim(error) => error.into(),
            error => Failure::input(error),
        }
    }
}
