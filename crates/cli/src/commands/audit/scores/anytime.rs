//! Results that may be looked at after every run.

use dpscope_core::audit::AuditResult;
use dpscope_core::audit::anytime::AnytimeTest;
use dpscope_report::number::{counted, grouped};
use dpscope_report::record::{AnytimeEvidence, AnytimeReport, ClaimTest};
use dpscope_report::words::finding_sentence;

use super::args::ScoresArgs;
use crate::failure::{CommandResult, Failure};
use crate::output::Delivery;

/// Most pairs of runs: some seconds.
const MOST_PAIRS: usize = 1_000_000;

/// Prints and writes the report of bets on pairs of runs.
pub(super) fn deliver(
    args: &ScoresArgs,
    [target, zero_out]: [&[f64]; 2],
    fixed: &AuditResult,
    test: &ClaimTest,
    started: web_time::Instant,
) -> CommandResult {
    if target.len() != zero_out.len() || target.len() > MOST_PAIRS {
        return Err(Failure::input(format!(
            "--anytime bets on pairs of runs, and the files have {} and {}: give both as many, at most {}, in the \
             order in which they were made",
            grouped(target.len() as u64),
            grouped(zero_out.len() as u64),
            grouped(MOST_PAIRS as u64)
        )));
    }
    if target.len() <= AnytimeTest::PILOT {
        return Err(Failure::input(format!(
            "--anytime has {} of runs, and the first {} choose thresholds; add runs",
            counted(target.len() as u64, "pair"),
            AnytimeTest::PILOT
        )));
    }
    if let Some(finding) = fixed.findings().iter().find(|finding| finding.costs_coverage()) {
        return Err(Failure::input(format!(
            "these scores have no bound: {}",
            finding_sentence(finding)
        )));
    }
    let pairs: Vec<[f64; 2]> = target.iter().zip(zero_out).map(|(&a, &b)| [a, b]).collect();
    let statement = &args.recorded.statement;
    let (delta, significance) = (statement.delta, statement.significance());
    let bound = AnytimeTest::bound(&pairs, delta, significance);
    let (epsilon, reached_after) = bound.map_err(Failure::input)?;
    let bets = (pairs.len() - AnytimeTest::PILOT) as u64;
    let ceiling = AnytimeTest::ceiling(bets, delta, significance).map_err(Failure::input)?;
    let found = AnytimeEvidence {
        delta,
        significance,
        epsilon,
        pairs: bets,
        pilot_pairs: AnytimeTest::PILOT as u64,
        reached_after,
        fixed_epsilon: fixed.epsilon(),
        ceiling,
    };
    let shown = &args.recorded.report;
    let report = AnytimeReport {
        input: Some(serde_json::json!({
            "target": args.target.display().to_string(),
            "zero_out": args.zero_out.display().to_string(),
            "higher_means": args.higher_means.name(),
            "count_non_finite": args.recorded.count_non_finite,
        })),
        elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
        ..AnytimeReport::new(&found, fixed.findings(), test)?
    };
    let delivery = Delivery::of_audit(&shown.page, shown.show.json, shown.brief, &shown.claim);
    delivery.deliver(&report, || Err("this audit has no drawing".to_owned()))?;
    Ok(shown.claim.exit(report.verdict, !report.findings.is_empty()))
}
