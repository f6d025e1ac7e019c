//! `dpscope audit counts`: error counts at one threshold.

mod args;

pub(crate) use args::CountsArgs;

use dpscope_core::audit::Outcome;
use dpscope_core::audit::bayesian::{ConfusionCounts, JointBetaPosterior};
use dpscope_core::audit::bound::{BoundError, at_fixed_cut};
use dpscope_core::audit::curve::AuditCurve;
use dpscope_core::audit::trade_off::{Cut, ErrorCounts, Trials};
use dpscope_report::figure::curves_of_report;
use dpscope_report::record::{Credible, Report, TheoryComparison};
use dpscope_report::words::Subject;

use crate::failure::{CommandResult, Failure};
use crate::output::{claim_test, finish};

pub(crate) fn run(args: &CountsArgs) -> CommandResult {
    let started = std::time::Instant::now();
    let (delta, significance) = (args.statement.delta, args.statement.significance);
    let test = claim_test(&args.claim, delta)?;
    args.plot.check()?;
    let trials = Trials { target: args.target_trials, zero_out: args.zero_out_trials };
    let errors = ErrorCounts {
        false_positives: args.false_positives,
        false_negatives: args.false_negatives,
    };
    for (name, events, of, trials) in [
        ("--false-positives", errors.false_positives, "--zero-out-trials", trials.zero_out),
        ("--false-negatives", errors.false_negatives, "--target-trials", trials.target),
    ] {
        if trials == 0 || events > trials {
            return Err(Failure::input(format!(
                "{name} is {events}, but {of} is {trials}; there must be at least one trial, and no more \
                 errors than trials"
            )));
        }
    }
    let training = args.training.setting();
    let cut = Cut { threshold: f64::NAN, errors };
    let outcome = Outcome::Bound(at_fixed_cut(cut, trials, delta, significance)?);
    let counts = ConfusionCounts {
        true_positives: trials.target - errors.false_negatives,
        false_negatives: errors.false_negatives,
        false_positives: errors.false_positives,
        true_negatives: trials.zero_out - errors.false_positives,
    };
    // If there is no credible value, the bound is still reported.
    let credible = JointBetaPosterior::new(counts, delta)
        .and_then(|posterior| posterior.credible_lower(significance))
        .ok();
    let report = Report::new(Subject::Counts, &outcome, significance, trials, &test)?;
    let report = Report {
        elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
        credible: credible.as_ref().map(Credible::new),
        theory: training.map(|setting| TheoryComparison::of_training(setting, &report.result)),
        ..report
    };
    let exit = finish(&report, args.show.json)?;
    args.plot.write(|| {
        let seen = AuditCurve::at_fixed_cut(cut, trials, significance);
        Ok(curves_of_report(&report, &seen.map_err(BoundError::from)?)?)
    })?;
    Ok(exit)
}
