//! Audits with two worlds.

use dpscope_core::audit::bayesian::{ConfusionCounts, JointBetaPosterior};
use dpscope_core::audit::bound::{
    BoundError, ExpectedRates, ThresholdRule, at_expected_rates, at_fixed_cut, ceiling_of_regions,
};
use dpscope_core::audit::trade_off::{Cut, ErrorCounts, Trials};
use dpscope_core::audit::{AuditResult, Finding, Outcome, OutcomeKind};
use dpscope_core::mechanism::BatchedGaussian;

use super::checker::Checker;
use super::findings;
use super::result::RecomputeError;
use super::sharing::Sharing;
use super::verdict::Coverage;
use crate::record::{
    AuditedEpsilon, BoundRecord, EstimateRecord, Quantity, TheoryComparison, bound_records,
    theory_decides,
};
use crate::words::headline_of;

/// Limits of both rates, the bound and what follows from it.
pub(crate) fn two_worlds(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    let findings = findings::of_two_worlds(report)?;
    let coverage = Coverage::of_two_worlds(report, &findings);
    let (trials, errors) =
        (trials_at(report, "/observations/evaluated")?, errors_at(report, "/result")?);
    let significance = report.number("/result/significance")?;
    let result = result(report, (trials, errors), significance, &findings)?;
    let (epsilon, delta) = (result.epsilon(), result.evidence().delta);
    report.expect("/result/kind", coverage.kind());
    let gdp_mu = result.gdp_mu().filter(|_| coverage.kind() == OutcomeKind::Bound);
    report.expect("/result/gdp_mu", gdp_mu);
    values(report, &result, coverage)?;
    let claims = [report.compared("/claim/epsilon"), report.compared("/fail_above/epsilon")];
    let line =
        headline_of(coverage.kind(), (epsilon, delta, significance), claims.into_iter().flatten());
    report.expect("/headline", line);
    observations(report)?;
    plan(report)?;
    maximum(report, trials, delta, significance)?;
    credible(report, (errors, trials), delta, significance);
    theory(report, AuditedEpsilon { kind: coverage.kind(), epsilon, delta })?;
    claims_of(report, coverage, (epsilon, delta));
    findings::expect_of_two_worlds(report, &findings)
}

/// The bound of the deciding cut.
fn result(
    report: &mut Checker<'_>,
    (trials, errors): (Trials, ErrorCounts),
    significance: f64,
    findings: &[Finding],
) -> Result<AuditResult, RecomputeError> {
    let [delta, tail] = [report.number("/result/delta")?, report.number("/result/tail_per_rate")?];
    let regions = expected_rates(report)?;
    let cut = Cut { threshold: f64::NAN, errors };
    let bound = match regions {
        Some(expected) => at_expected_rates(cut, trials, expected, delta, 2.0 * tail),
        None => at_fixed_cut(cut, trials, delta, 2.0 * tail),
    };
    let bound = bound.map_err(impossible)?;
    let evidence = *bound.evidence();
    report.expect("/result/fpr_upper", evidence.fpr_upper);
    report.expect("/result/fnr_upper", evidence.fnr_upper);
    report.expect("/result/events_at_threshold", evidence.events_at_threshold);
    report.expect("/result/epsilon", bound.value());
    report.expect("/result/direction", evidence.direction);
    report.expect("/result/limited_by_observations", evidence.limited_by_observations);
    report.expect("/result/gain_at_10x", evidence.gain_at_10x);
    let sharing = Sharing::of(report, significance, findings)?;
    sharing.expect_tail(report, tail, regions.is_some());
    match regions {
        None if sharing.is_one_attack => report.expect("/result/ceiling", evidence.ceiling),
        Some(_) if sharing.is_one_attack => {
            let ceiling = ceiling_of_regions(trials, delta, significance).map_err(impossible)?;
            report.expect("/result/ceiling", ceiling);
        }
        _ => {}
    }
    Ok(AuditResult::new(Outcome::Bound(bound), significance))
}

/// The rates that a pilot predicted.
fn expected_rates(report: &Checker<'_>) -> Result<Option<ExpectedRates>, RecomputeError> {
    let pointer = "/result/expected_rates";
    let rates: Option<ExpectedRates> = report.known(pointer, "two rates")?;
    let is_rate = |rate: f64| (0.0..=1.0).contains(&rate);
    match rates {
        Some(ExpectedRates { fpr, fnr }) if !(is_rate(fpr) && is_rate(fnr)) => {
            let problem = format!("{fpr} and {fnr} are no rates");
            Err(RecomputeError::Counts { pointer, problem })
        }
        rates => Ok(rates),
    }
}

/// The verdicts on claim and limit, and that on both.
fn claims_of(report: &mut Checker<'_>, coverage: Coverage, (epsilon, delta): (f64, f64)) {
    let is_simulated = report.is("/subject", "simulated_mechanism");
    let decides = theory_decides(is_simulated, coverage.contradicts_description());
    let proven = report.compared("/theory/lower/epsilon").filter(|_| decides);
    let ceiling = report.compared("/result/ceiling");
    report.expect_verdict_with(proven, "/claim", coverage, (epsilon, ceiling));
    report.expect_verdict("/fail_above", coverage, (epsilon, ceiling));
    if report.has("/claim") {
        report.expect("/claim/delta", delta);
    }
    report.expect_overall_verdict(&["/claim/verdict", "/fail_above/verdict"]);
}

pub(crate) fn trials_at(
    report: &mut Checker<'_>,
    pointer: &'static str,
) -> Result<Trials, RecomputeError> {
    let trials = Trials {
        target: report.count(&format!("{pointer}/target"))?,
        zero_out: report.count(&format!("{pointer}/zero_out"))?,
    };
    if trials.target == 0 || trials.zero_out == 0 {
        let problem = "a world has no observations".to_owned();
        return Err(RecomputeError::Counts { pointer, problem });
    }
    Ok(trials)
}

pub(crate) fn errors_at(
    report: &mut Checker<'_>,
    pointer: &str,
) -> Result<ErrorCounts, RecomputeError> {
    Ok(ErrorCounts {
        false_positives: report.count(&format!("{pointer}/false_positives"))?,
        false_negatives: report.count(&format!("{pointer}/false_negatives"))?,
    })
}

fn impossible(error: BoundError) -> RecomputeError {
    RecomputeError::Counts { pointer: "/result", problem: error.to_string() }
}

/// The lists of bounds and estimates.
fn values(
    report: &mut Checker<'_>,
    result: &AuditResult,
    coverage: Coverage,
) -> Result<(), RecomputeError> {
    let rule: ThresholdRule = report.parsed("/result/threshold_rule", "a rule")?;
    let is_bound = coverage.kind() == OutcomeKind::Bound;
    let bounds = if is_bound { bound_records(result) } else { Vec::new() };
    let bounds = bounds.into_iter().map(|bound| BoundRecord { threshold_rule: rule, ..bound });
    report.expect_all("/bounds", bounds.collect::<Vec<_>>());
    let maximum = match report.is("/subject", "counts") {
        true => report.compared("/uncorrected_maximum/epsilon"),
        false => Some(report.parsed("/uncorrected_maximum/epsilon", "a number")?),
    };
    let estimate = |value, threshold_rule| EstimateRecord {
        quantity: Quantity::Epsilon,
        value,
        delta: result.evidence().delta,
        threshold_rule,
    };
    let mut estimates = Vec::new();
    estimates.extend((!is_bound).then(|| estimate(result.epsilon(), rule)));
    estimates.extend(maximum.map(|value| estimate(value, ThresholdRule::MaxUncorrected)));
    estimates.dedup();
    report.expect_all("/estimates", estimates);
    Ok(())
}

/// The largest value over all cuts: that of its own counts.
fn maximum(
    report: &mut Checker<'_>,
    evaluated: Trials,
    delta: f64,
    significance: f64,
) -> Result<(), RecomputeError> {
    // many counts give 0
    if report.compared("/uncorrected_maximum/epsilon").is_none_or(|epsilon| epsilon <= 0.0) {
        return Ok(());
    }
    let errors = errors_at(report, "/uncorrected_maximum")?;
    let seen = trials_at(report, "/observations")?;
    let stated = report.number("/uncorrected_maximum/epsilon")?;
    let cut = Cut { threshold: f64::NAN, errors };
    let value = |trials| {
        at_fixed_cut(cut, trials, delta, significance).map(|it| it.value()).map_err(impossible)
    };
    // attacks on recorded outputs may share the significance, and a split evaluates a part
    let expected = value(seen)?;
    if stated != expected && value(evaluated)? != stated {
        report.expect("/uncorrected_maximum/epsilon", expected);
    }
    Ok(())
}

fn observations(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    let is_partial = (0..report.len("/findings"))
        .any(|index| report.is(&format!("/findings/{index}/code"), "partial_run"));
    if is_partial {
        return Ok(());
    }
    let Trials { target, zero_out } = trials_at(report, "/observations")?;
    let seen = target.saturating_add(zero_out);
    let planned = report.optional::<u64>("/plan/observations").unwrap_or(seen);
    report.expect("/observations/planned", planned);
    let evaluated = ["target", "zero_out"].map(|world| format!("/observations/evaluated/{world}"));
    for (pointer, most) in evaluated.iter().zip([target, zero_out]) {
        let found = report.count(pointer)?;
        if found > most || (report.is("/subject", "counts") && found != most) {
            report.expect(pointer, most);
        }
    }
    if seen != planned {
        report.expect("/observations/target", planned.saturating_sub(zero_out));
    }
    Ok(())
}

/// The plan repeats what the result says.
fn plan(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    if !report.has("/plan") {
        return Ok(());
    }
    for field in ["delta", "significance"] {
        let value = report.compared(&format!("/result/{field}"));
        report.expect(&format!("/plan/{field}"), value);
    }
    Ok(())
}

fn credible(
    report: &mut Checker<'_>,
    (errors, trials): (ErrorCounts, Trials),
    delta: f64,
    significance: f64,
) {
    if !report.has("/credible") {
        return;
    }
    let confusion = ConfusionCounts {
        true_positives: trials.target - errors.false_negatives,
        false_negatives: errors.false_negatives,
        false_positives: errors.false_positives,
        true_negatives: trials.zero_out - errors.false_positives,
    };
    let found = JointBetaPosterior::new(confusion, delta)
        .and_then(|posterior| posterior.credible_lower(significance));
    report.expect("/credible/epsilon", found.ok().map(|found| found.lower));
    report.expect("/credible/credibility", 1.0 - significance);
}

/// Theory of a mechanism whose parameters are in the report.
fn theory(report: &mut Checker<'_>, audited: AuditedEpsilon) -> Result<(), RecomputeError> {
    if !report.has("/theory") {
        return Ok(());
    }
    let place = ["/plan/mechanism", "/mechanism"].into_iter().find(|place| report.has(place));
    match place {
        Some(place) => {
            let mechanism: BatchedGaussian = report.parsed(place, "a mechanism")?;
            for field in ["noise_multiplier", "steps_per_epoch", "epochs"] {
                report.number(&format!("{place}/{field}"))?;
            }
            report.expect_all("/theory", TheoryComparison::of_mechanism(&mechanism, audited));
        }
        None => {
            let poisson: Option<f64> = report.optional("/theory/poisson/epsilon");
            report.expect("/theory/gap", poisson.map(|poisson| audited.epsilon - poisson));
        }
    }
    Ok(())
}
