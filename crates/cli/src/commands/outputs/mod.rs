//! `dpscope audit outputs`: outputs recorded from the user's own training runs.

mod independence;
mod load;
mod looks;

pub(crate) use independence::Independence;

use dpscope_core::bound::ThresholdRule;

use super::recorded::{Recorded, audit_of};
use crate::args::OutputsArgs;
use crate::failure::Done;
use crate::report::{Subject, check_claim};
use crate::seed::seed_or_fresh;
use load::{load, prepare};
use looks::Scored;

pub(crate) fn run(args: &OutputsArgs) -> Done {
    let started = std::time::Instant::now();
    check_claim(&args.claim, args.statement.delta)?;
    let (seed, seed_source) = seed_or_fresh(args.seed)?;
    let loaded = load(args)?;
    let (mechanism, target, zero_out, input) = prepare(args, loaded)?;
    let rule: ThresholdRule = args.threshold_rule.into();
    let audit = audit_of(rule, &args.statement, seed);
    let scored = Scored::new(args, &mechanism, [&target, &zero_out])?;
    let (best, outcome, uncorrected) = scored.audit(&audit)?;
    let look = &scored.looks[best];
    let independence = Independence::of(mechanism.sampler, &target, &zero_out, look)?;
    let findings = [scored.notes(best), independence.findings()].concat();
    let recorded = Recorded {
        subject: Subject::RecordedOutputs,
        target: &look.target,
        zero_out: &look.zero_out,
        outcome,
        uncorrected,
        findings,
        independence: Some(independence),
        mechanism: Some(mechanism),
        input,
    };
    recorded.report(&audit, seed_source, started, &args.claim)?.finish(args.show.json)
}
