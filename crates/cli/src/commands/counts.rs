//! `dpscope audit counts`: error counts at one threshold.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::Outcome;
use dpscope_core::bayesian::{ConfusionCounts, JointBetaPosterior};
use dpscope_core::bound::at_fixed_cut;
use dpscope_core::trade_off::{Cut, ErrorCounts, Trials};

use crate::args::CountsArgs;
use crate::failure::{Done, Failure};
use crate::report::{
    ClaimFields, Credible, Observations, Report, ResultFields, Subject, check_claim,
};

pub(crate) fn run(args: &CountsArgs) -> Done {
    let started = std::time::Instant::now();
    let (delta, significance) = (args.statement.delta, args.statement.significance);
    check_claim(&args.claim, delta)?;
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
                "{name} is {events} and {of} is {trials}; errors are counted among at least one \
                 trial"
            )));
        }
    }
    let cut = Cut { threshold: f64::NAN, errors };
    let outcome = Outcome::Bound(at_fixed_cut(cut, trials, delta, significance)?);
    let counts = ConfusionCounts {
        true_positives: trials.target - errors.false_negatives,
        false_negatives: errors.false_negatives,
        false_positives: errors.false_positives,
        true_negatives: trials.zero_out - errors.false_positives,
    };
    // A companion of the bound: where it is not to be had, the bound still is.
    let credible = JointBetaPosterior::new(counts, delta)
        .and_then(|posterior| posterior.credible_lower(significance))
        .ok();
    let report = Report {
        schema: "dpscope.report/1",
        version: env!("CARGO_PKG_VERSION"),
        subject: Subject::Counts,
        adjacency: Adjacency::ZeroOut,
        result: ResultFields::new(&outcome, significance)?,
        uncorrected_maximum: None,
        observations: Observations {
            target: trials.target,
            zero_out: trials.zero_out,
            evaluated: trials,
            planned: trials.target.saturating_add(trials.zero_out),
        },
        non_finite: Trials { target: 0, zero_out: 0 },
        saturated: None,
        seed: None,
        seed_source: None,
        device: "cpu".to_owned(),
        float_mode: "exact".to_owned(),
        fallback_shards: 0,
        elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
        normals_per_second: None,
        histogram_digest: None,
        resumed_from: None,
        score_slope: None,
        credible: credible.as_ref().map(Credible::new),
        plan: None,
        input: None,
        findings: Vec::new(),
        independence: None,
        claim: ClaimFields::new(&args.claim, &outcome, Subject::Counts)?,
        fail_above: args.claim.fail_above,
    };
    report.finish(args.show.json)
}
