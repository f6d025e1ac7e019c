//! The report of an audit.

use dpscope_core::audit::claim::Verdict;
use dpscope_engine::Artefact;
use dpscope_report::figure::{pategan_svg, utility_svg};
use dpscope_report::number::counted;
use dpscope_report::record::{LimitRecord, PateGanData, PateGanReport, RunFacts};
use dpscope_synth::audit::{Audit, Replay};
use dpscope_synth::detect::Check;
use dpscope_synth::workload::{EvaluationError, PateGanPlan};

use super::refusals::named;
use super::utility::UtilityRequest;
use crate::args::{ReportArgs, check_drawing, write_drawing};
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::output::print_note;

/// What is audited, and what a report says of the user's data.
pub(super) struct Subject {
    pub(super) audit: Audit,
    pub(super) data: Option<PateGanData>,
    pub(super) utility: Option<UtilityRequest>,
}

/// Rejects options without effect and files that cannot be written.
pub(super) fn check(args: &ReportArgs) -> Result<(), Failure> {
    let unused = [
        ("--metrics", args.metrics),
        ("--brief", args.brief),
        ("--curves", args.plot.curves.is_some()),
        ("--claim", args.claim.claim.is_some()),
    ];
    reject_unused_options(&unused, "on runs of PATE-GAN, whose epsilon is accounted for")?;
    args.plot.plot.as_deref().map_or(Ok(()), check_drawing)?;
    args.page.check()
}

/// Prints the report of all runs, and returns its exit code.
pub(super) fn finish(
    state: &Artefact<PateGanPlan>,
    subject: &Subject,
    facts: &RunFacts,
    args: &ReportArgs,
) -> CommandResult {
    let (plan, audit) = (&state.plan, &subject.audit);
    if !state.is_complete() {
        print_note(&format!(
            "no report yet: the attack needs all {} of each world, and {} are done",
            counted(plan.runs, "run"),
            state.done()
        ));
        return Ok(Exit::Done);
    }
    let outcome = audit.evaluate_saved(plan, &state.evidence).map_err(|error| match error {
        EvaluationError::Audit(error) => named(error),
        other => Failure::with(Exit::Artefact, other),
    })?;
    let replay = Replay {
        version: env!("CARGO_PKG_VERSION"),
        seed_source: facts.seed_source,
        elapsed_ms: facts.elapsed_ms,
    };
    let report = audit.report(&outcome, replay);
    let limit = |epsilon| LimitRecord::of_bound(epsilon, report.epsilon, report.ceiling);
    let fail_above = args.claim.fail_above.map(limit).transpose()?;
    let report = PateGanReport { data: subject.data.clone(), fail_above, ..report };
    let request = subject.utility.as_ref();
    let utility = request.map(|request| request.evaluate(plan, &report)).transpose()?;
    if let (Some(path), Some(utility)) =
        (request.and_then(|request| request.plot.as_deref()), &utility)
    {
        write_drawing(path, &utility_svg(utility))?;
    }
    let report = PateGanReport { utility, ..report };
    let [with, without] = &outcome.attack.scores;
    let drawing = || pategan_svg([with, without], &report);
    args.delivery().deliver(&report, || Ok(drawing()))?;
    if let Some(path) = &args.plot.plot {
        write_drawing(path, &drawing())?;
    }
    let has_finding = args.claim.fail_on_finding && outcome.checks.iter().any(Check::has_fired);
    let limit = report.fail_above.map(|limit| limit.verdict.outcome);
    let is = |verdict| report.verdict == verdict || limit == Some(verdict);
    Ok(if has_finding || is(Verdict::Refuted) {
        Exit::Refuted
    } else if is(Verdict::Inconclusive) {
        Exit::Inconclusive
    } else {
        Exit::Done
    })
}
