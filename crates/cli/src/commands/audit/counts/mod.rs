//! `dpscope audit counts`: error counts at one threshold.

mod args;

pub(crate) use args::CountsArgs;

use dpscope_core::audit::Counts;
use dpscope_core::audit::bayesian::{ConfusionCounts, JointBetaPosterior};
use dpscope_core::audit::bound::{BoundError, Statement};
use dpscope_core::audit::curve::AuditCurve;
use dpscope_core::audit::metrics::{AttackMetrics, MetricOptions};
use dpscope_report::figure::curves_of_report;
use dpscope_report::record::{Credible, Report, TheoryComparison};
use dpscope_report::words::Subject;

use crate::failure::{CommandResult, Failure};

pub(crate) fn run(args: &CountsArgs) -> CommandResult {
    let started = web_time::Instant::now();
    let (delta, significance) = (args.statement.delta, args.statement.significance());
    let test = args.report.check(delta)?;
    let counts = Counts {
        false_positives: args.false_positives,
        zero_out_trials: args.zero_out_trials,
        false_negatives: args.false_negatives,
        target_trials: args.target_trials,
    };
    let Counts { false_positives, zero_out_trials, false_negatives, target_trials } = counts;
    for (name, events, of, trials) in [
        ("--false-positives", false_positives, "--zero-out-trials", zero_out_trials),
        ("--false-negatives", false_negatives, "--target-trials", target_trials),
    ] {
        if trials == 0 || events > trials {
            return Err(Failure::input(format!(
                "{name} is {events}, but {of} is {trials}; there must be at least one trial, and no more \
                 errors than trials"
            )));
        }
    }
    let training = args.training.schedule()?;
    let statement = Statement { delta, significance };
    let result = counts.audit(statement)?;
    let metrics = AttackMetrics::of_counts(
        &counts,
        &MetricOptions { statement, seed: 0, has_coverage: true },
    )?;
    let confusion = ConfusionCounts {
        true_positives: target_trials - false_negatives,
        false_negatives,
        false_positives,
        true_negatives: zero_out_trials - false_positives,
    };
    // If there is no credible value, the bound is still reported.
    let credible = JointBetaPosterior::new(confusion, delta)
        .and_then(|posterior| posterior.credible_lower(significance))
        .ok();
    let report = Report::new(Subject::Counts, &result, counts.trials(), &test)?;
    let report = Report {
        elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
        credible: credible.as_ref().map(Credible::new),
        metrics: Some(metrics),
        theory: training.map(|setting| TheoryComparison::of_training(setting, &report.result)),
        ..report
    };
    args.report.finish(&report, || {
        let seen = AuditCurve::at_fixed_cut(counts.cut(), counts.trials(), significance);
        Ok(curves_of_report(&report, &seen.map_err(BoundError::from)?)?)
    })
}
