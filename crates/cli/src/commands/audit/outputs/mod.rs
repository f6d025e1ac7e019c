//! `dpscope audit outputs`: outputs recorded from the user's own training runs.

mod args;
mod hypotheses;
mod independence;
mod load;

pub(crate) use args::OutputsArgs;

use dpscope_core::audit::bound::ThresholdRule;
use dpscope_report::figure::curves_of_report;
use dpscope_report::words::Subject;
use independence::Independence;

use dpscope_engine::{RecordedAudit, RecordedScores};

use crate::commands::audit::recorded::{RecordedEvidence, TrainingInfo, recorded_audit};
use crate::failure::CommandResult;
use crate::output::{claim_test, finish};
use crate::seed::seed_or_fresh;
use hypotheses::ScoredOutputs;
use load::{load, prepare, searches_buffer};

pub(crate) fn run(args: &OutputsArgs) -> CommandResult {
    let started = std::time::Instant::now();
    let test = claim_test(&args.recorded.claim, args.recorded.statement.delta)?;
    args.recorded.plot.check()?;
    let (seed, seed_source) = seed_or_fresh(args.recorded.seed)?;
    let loaded = load(args)?;
    let (mechanism, target, zero_out, input) = prepare(args, loaded)?;
    let rule: ThresholdRule = args.threshold_rule.into();
    let audit = recorded_audit(rule, &args.recorded.statement, seed);
    let scored = ScoredOutputs::new(args, &mechanism, [&target, &zero_out])?;
    let (best, outcome, uncorrected) = scored.audit(&audit)?;
    let hypothesis = &scored.hypotheses[best];
    // A search scores every prefix as a shuffle, whatever the sampler is.
    let known = (!searches_buffer(args)).then_some(mechanism);
    let sampler = known.map(|mechanism| mechanism.sampler);
    let independence = Independence::of(sampler, &target, &zero_out, hypothesis)?;
    let mut findings = [scored.notes(best), independence.findings()].concat();
    let has_coverage = !independence.invalidates_coverage();
    let outcome = if !has_coverage {
        findings.push(
            "the runs are not independent, so the result is an estimate: a bound needs independent \
             runs"
                .to_owned(),
        );
        outcome.into_estimate()
    } else {
        outcome
    };
    let evidence = RecordedEvidence {
        subject: Subject::RecordedOutputs,
        target: &hypothesis.target,
        zero_out: &hypothesis.zero_out,
        outcome,
        uncorrected,
        findings,
        independence: Some(independence.record),
        shuffle_window: scored.shuffle_window,
        training: Some(match known {
            Some(mechanism) => TrainingInfo::Mechanism(mechanism),
            None => TrainingInfo::Setting((&mechanism).into()),
        }),
        mechanism: known,
        input,
    };
    let report = evidence.report(&audit, seed_source, started, &test)?;
    let exit = finish(&report, args.recorded.show.json)?;
    args.recorded.plot.write(|| {
        let scores = RecordedScores {
            target: &hypothesis.target,
            zero_out: &hypothesis.zero_out,
            likelihood_ratios: true,
        };
        // The hypothesis was selected: its band shares the significance, as its bound does.
        let significance = audit.significance / scored.hypotheses.len() as f64;
        let shared = RecordedAudit { significance, ..audit };
        Ok(curves_of_report(&report, &scores.curve(&shared, has_coverage)?)?)
    })?;
    Ok(exit)
}
