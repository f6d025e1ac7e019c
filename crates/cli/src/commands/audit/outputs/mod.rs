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

use crate::commands::audit::recorded::{KnownTraining, Recorded, audit_of};
use crate::failure::Done;
use crate::output::{claim_test, finish};
use crate::seed::seed_or_fresh;
use hypotheses::Scored;
use load::{load, prepare, searches_buffer};

pub(crate) fn run(args: &OutputsArgs) -> Done {
    let started = std::time::Instant::now();
    let test = claim_test(&args.recorded.claim, args.recorded.statement.delta)?;
    args.recorded.plot.check()?;
    let (seed, seed_source) = seed_or_fresh(args.recorded.seed)?;
    let loaded = load(args)?;
    let (mechanism, target, zero_out, input) = prepare(args, loaded)?;
    let rule: ThresholdRule = args.threshold_rule.into();
    let audit = audit_of(rule, &args.recorded.statement, seed);
    let scored = Scored::new(args, &mechanism, [&target, &zero_out])?;
    let (best, outcome, uncorrected) = scored.audit(&audit)?;
    let look = &scored.looks[best];
    // A search scores every prefix as a shuffle, whatever the sampler was.
    let known = (!searches_buffer(args)).then_some(mechanism);
    let sampler = known.map(|mechanism| mechanism.sampler);
    let independence = Independence::of(sampler, &target, &zero_out, look)?;
    let mut findings = [scored.notes(best), independence.findings()].concat();
    let coverage = !independence.costs_coverage();
    let outcome = if !coverage {
        findings.push(
            "the runs are not independent of each other, so the result is an estimate: a bound \
             needs independent runs"
                .to_owned(),
        );
        outcome.into_estimate()
    } else {
        outcome
    };
    let recorded = Recorded {
        subject: Subject::RecordedOutputs,
        target: &look.target,
        zero_out: &look.zero_out,
        outcome,
        uncorrected,
        findings,
        independence: Some(independence.record),
        reach: scored.reach,
        training: Some(match known {
            Some(mechanism) => KnownTraining::Mechanism(mechanism),
            None => KnownTraining::Setting((&mechanism).into()),
        }),
        mechanism: known,
        input,
    };
    let report = recorded.report(&audit, seed_source, started, &test)?;
    let exit = finish(&report, args.recorded.show.json)?;
    args.recorded.plot.write(|| {
        let scores = RecordedScores {
            target: &look.target,
            zero_out: &look.zero_out,
            likelihood_ratios: true,
        };
        // The look was chosen among all: its band shares the significance as its bound does.
        let significance = audit.significance / scored.looks.len() as f64;
        let shared = RecordedAudit { significance, ..audit };
        Ok(curves_of_report(&report, &scores.curve(&shared, coverage)?)?)
    })?;
    Ok(exit)
}
