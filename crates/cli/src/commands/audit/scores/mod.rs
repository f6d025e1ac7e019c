//! `dpscope audit scores`: scores of any attack.

mod anytime;
mod args;

pub(crate) use args::ScoresArgs;

use dpscope_core::audit::Scores;
use dpscope_report::figure::curves_of_report;
use dpscope_report::words::Subject;

use crate::commands::audit::recorded::{
    RecordedEvidence, TrainingInfo, array_of, check_runs, flat, recorded_audit,
};
use crate::failure::{CommandResult, Failure};
use crate::seed::seed_or_content;
use args::WorldArg;

pub(crate) fn run(args: &ScoresArgs) -> CommandResult {
    let started = web_time::Instant::now();
    let test = args.recorded.report.check(args.recorded.statement.delta)?;
    let world = |path, name| -> Result<Vec<f64>, Failure> {
        let array = array_of(path, name, args.recorded.count_non_finite)?;
        check_runs(&array, path, args.recorded.count_non_finite)?;
        let expected = "one score per run (`dpscope audit outputs` scores whole outputs)";
        flat(array, expected).map_err(|failure| failure.about(path))
    };
    let (mut target, mut zero_out) =
        (world(&args.target, "target")?, world(&args.zero_out, "zero_out")?);
    if args.higher_means == WorldArg::ZeroOut {
        target.iter_mut().chain(&mut zero_out).for_each(|score| *score = -*score);
    }
    let (seed, seed_source) = seed_or_content(args.recorded.seed, [&target, &zero_out]);
    let audit = recorded_audit(args.threshold_rule.into(), &args.recorded.statement, seed);
    let scores = Scores::new(&target, &zero_out);
    let result = scores.audit(&audit)?;
    if args.anytime {
        return anytime::deliver(args, [&target, &zero_out], &result, &test, started);
    }
    let is_reversed = args.higher_means == WorldArg::ZeroOut;
    let evidence = RecordedEvidence {
        subject: Subject::Scores,
        target: &target,
        zero_out: &zero_out,
        result: if is_reversed { result.reversed() } else { result },
        significance: audit.significance,
        independence: None,
        training: args.training.schedule()?.map(TrainingInfo::Setting),
        mechanism: None,
        input: serde_json::json!({
            "target": args.target.display().to_string(),
            "zero_out": args.zero_out.display().to_string(),
            "higher_means": args.higher_means.name(),
        }),
    };
    let report = evidence.report(&audit, seed_source, started, &test, &args.recorded.report)?;
    let curves = || Ok(curves_of_report(&report, &scores.curve(&audit, true)?)?);
    args.recorded.report.finish(&report, curves)
}
