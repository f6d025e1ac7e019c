//! `dpscope audit outputs`: outputs recorded from the user's own training runs.

mod args;
mod hypotheses;
mod independence;
mod load;

pub(crate) use args::OutputsArgs;

use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::audit::{AuditOptions, Finding};
use dpscope_report::figure::curves_of_report;
use dpscope_report::record::IndependenceRecord;
use dpscope_report::words::Subject;

use crate::commands::audit::recorded::{RecordedEvidence, TrainingInfo, recorded_audit};
use crate::failure::CommandResult;
use crate::seed::seed_or_content;
use hypotheses::ScoredOutputs;
use load::{load, prepare, searches_buffer};

pub(crate) fn run(args: &OutputsArgs) -> CommandResult {
    let started = std::time::Instant::now();
    let test = args.recorded.report.check(args.recorded.statement.delta)?;
    let loaded = load(args)?;
    let (mechanism, target, zero_out, input) = prepare(args, loaded)?;
    let (seed, seed_source) =
        seed_or_content(args.recorded.seed, [&target.values, &zero_out.values]);
    let rule: ThresholdRule = args.threshold_rule.into();
    let audit = recorded_audit(rule, &args.recorded.statement, seed);
    let scored = ScoredOutputs::new(args, &mechanism, [&target, &zero_out])?;
    let (hypothesis, result) = scored.audit(&audit)?;
    // A search scores every prefix as a shuffle, whatever the sampler is.
    let known = (!searches_buffer(args)).then_some(mechanism);
    let sampler = known.map(|mechanism| mechanism.sampler);
    let checks = independence::checks(sampler, [&target, &zero_out], hypothesis)?;
    let result =
        result.with_findings(independence::causes(&scored.noise, &checks, [&target, &zero_out])?);
    let has_coverage = !result.findings().iter().any(Finding::costs_coverage);
    let evidence = RecordedEvidence {
        subject: Subject::RecordedOutputs,
        target: &hypothesis.target,
        zero_out: &hypothesis.zero_out,
        result,
        attacks: scored.hypotheses.len(),
        independence: Some(IndependenceRecord::from(&checks)),
        shuffle_window: scored.shuffle_window,
        training: Some(match known {
            Some(mechanism) => TrainingInfo::Mechanism(mechanism),
            None => TrainingInfo::Setting((&mechanism).into()),
        }),
        mechanism: known,
        input,
    };
    let report = evidence.report(&audit, seed_source, started, &test, &args.recorded.report)?;
    args.recorded.report.finish(&report, || {
        // The hypothesis was selected: its band shares the significance, as its bound does.
        let significance = audit.significance / scored.hypotheses.len() as f64;
        let shared = AuditOptions { significance, ..audit };
        Ok(curves_of_report(&report, &hypothesis.scores().curve(&shared, has_coverage)?)?)
    })
}
