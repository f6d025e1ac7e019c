//! `dpscope audit outputs`: outputs recorded from the user's own training runs.

mod args;
mod load;

pub(crate) use args::OutputsArgs;

use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::audit::{Finding, OutputAttack, RecordedOutputs, Scores};
use dpscope_core::mechanism::{BatchedGaussian, OutputOptions, OutputReference, OutputScorer};
use dpscope_core::recorded::independence::RecordedRuns;
use dpscope_report::figure::curves_of_report;
use dpscope_report::record::{IndependenceRecord, RecordedUsesRecord, SamplerEvidenceRecord};
use dpscope_report::words::Subject;

use crate::commands::audit::recorded::{RecordedEvidence, TrainingInfo, recorded_audit};
use crate::failure::{CommandResult, Failure};
use crate::seed::seed_or_content;
use load::{Outputs, load, prepare, searches_buffer};

pub(crate) fn run(args: &OutputsArgs) -> CommandResult {
    let started = web_time::Instant::now();
    let test = args.recorded.report.check(args.recorded.statement.delta)?;
    let loaded = load(args)?;
    let (mechanism, [target, zero_out], beside, input) = prepare(args, loaded)?;
    let (seed, seed_source) =
        seed_or_content(args.recorded.seed, [&target.values, &zero_out.values]);
    let rule: ThresholdRule = args.threshold_rule.into();
    let audit = recorded_audit(rule, &args.recorded.statement, seed);
    let scorer = scorer(args, &mechanism)?;
    let outputs = RecordedOutputs {
        scorer: &scorer,
        target: view(&target)?,
        zero_out: view(&zero_out)?,
        sums: views(beside.sums.as_ref())?,
        uses: views(beside.uses.as_ref())?,
        searches_buffer: searches_buffer(args),
        counts_failed_runs: args.recorded.count_non_finite,
    };
    let found = outputs.audit(&audit).map_err(Failure::input)?;
    // A search scores every prefix as a shuffle, whatever the sampler is.
    let known = (!outputs.searches_buffer).then_some(mechanism);
    let has_coverage = !found.result.findings().iter().any(Finding::costs_coverage);
    let evidence = RecordedEvidence {
        subject: Subject::RecordedOutputs,
        target: &found.target,
        zero_out: &found.zero_out,
        result: found.result,
        significance: found.options.significance,
        independence: Some(IndependenceRecord::from(&found.checks)),
        training: Some(match known {
            Some(mechanism) => TrainingInfo::Mechanism(mechanism),
            None => TrainingInfo::Setting((&mechanism).into()),
        }),
        mechanism: known,
        input,
    };
    let mut report = evidence.report(&audit, seed_source, started, &test, &args.recorded.report)?;
    report.samplers = found.samplers.map(SamplerEvidenceRecord::from);
    report.uses = found.uses.map(RecordedUsesRecord::from);
    report.canary = found.canary;
    report.score_slope = found.slope;
    report.phases = found.phases;
    report.noise_ratio_found = found.noise_ratio_found;
    report.step_comparison = found.step_comparison;
    report.noiseless_steps_decide = found.noiseless_steps_decide;
    report.fixed_step = match found.attack {
        OutputAttack::FixedStep { step } => Some(step),
        _ => None,
    };
    args.recorded.report.finish(&report, || {
        // The attack was selected: its band has its share of the significance, as its bound does.
        let likelihood_ratios = found.attack != OutputAttack::NoiselessSteps;
        let scores = Scores { target: &found.target, zero_out: &found.zero_out, likelihood_ratios };
        Ok(curves_of_report(&report, &scores.curve(&found.options, has_coverage)?)?)
    })
}

fn scorer(args: &OutputsArgs, mechanism: &BatchedGaussian) -> Result<OutputScorer, Failure> {
    let options = OutputOptions { reference: OutputReference::Sum, target_slot: args.target_step };
    OutputScorer::new(mechanism, options).map_err(|error| load::refused(args, &error))
}

fn view(outputs: &Outputs) -> Result<RecordedRuns<'_>, Failure> {
    RecordedRuns::new(&outputs.values, outputs.epochs, outputs.steps).map_err(Failure::input)
}

fn views(worlds: Option<&[Outputs; 2]>) -> Result<Option<[RecordedRuns<'_>; 2]>, Failure> {
    let Some([target, zero_out]) = worlds else { return Ok(None) };
    Ok(Some([view(target)?, view(zero_out)?]))
}
