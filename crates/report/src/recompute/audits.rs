//! Audits with two worlds, and of generators.

use dpscope_core::audit::bayesian::{ConfusionCounts, JointBetaPosterior};
use dpscope_core::audit::bound::{
    BoundError, EpsilonLowerBound, ExpectedRates, at_expected_rates, at_fixed_cut,
    ceiling_of_regions,
};
use dpscope_core::audit::claim::{ClaimVerdict, Verdict, VerdictReason};
use dpscope_core::audit::trade_off::{Cut, ErrorCounts, Trials};
use dpscope_core::audit::{AuditResult, Outcome, OutcomeKind};
use dpscope_core::mechanism::BatchedGaussian;
use serde_json::Value;

use super::checker::Checker;
use super::result::RecomputeError;
use super::verdict::Coverage;
use crate::record::{AuditedEpsilon, TheoryComparison};
use crate::words::{CONSTANT_ROWS, GeneratorResult, PateGanFinding, headline_of};

/// Limits of both rates, the bound and what follows from it.
pub(super) fn two_worlds(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    let [delta, tail] = [report.number("/result/delta")?, report.number("/result/tail_per_rate")?];
    let trials = trials_at(report, "/observations/evaluated")?;
    let errors = errors_at(report, "/result")?;
    let regions: Option<ExpectedRates> = report.optional("/result/expected_rates");
    let bound = match regions {
        Some(expected) => at_rates(errors, trials, expected, delta, tail)?,
        None => at_tail(errors, trials, delta, tail)?,
    };
    let evidence = *bound.evidence();
    report.expect("/result/fpr_upper", evidence.fpr_upper);
    report.expect("/result/fnr_upper", evidence.fnr_upper);
    report.expect("/result/events_at_threshold", evidence.events_at_threshold);
    report.expect("/result/epsilon", bound.value());
    report.expect("/result/gain_at_10x", evidence.gain_at_10x);
    let epsilon = bound.value();
    // attacks on recorded outputs share the significance
    let is_one_attack = !report.is("/subject", "recorded_outputs");
    let is_by_limits = !report.is("/result/threshold_rule", "split") && is_one_attack;
    let significance = significance(report, is_by_limits, tail)?;
    match regions {
        None if is_one_attack => report.expect("/result/ceiling", evidence.ceiling),
        Some(_) if is_one_attack => {
            let ceiling = ceiling_of_regions(trials, delta, significance).map_err(impossible)?;
            report.expect("/result/ceiling", ceiling);
        }
        _ => {}
    }
    let is_bound = report.is("/result/kind", "bound");
    let gdp_mu = AuditResult::new(Outcome::Bound(bound), significance).gdp_mu();
    report.expect("/result/gdp_mu", gdp_mu.filter(|_| is_bound));
    values(report, (epsilon, gdp_mu), delta, significance);
    let coverage = Coverage::of_two_worlds(report)?;
    report.expect("/result/kind", coverage.kind());
    let claims = [report.compared("/claim/epsilon"), report.compared("/fail_above/epsilon")];
    let line =
        headline_of(kind(is_bound), (epsilon, delta, significance), claims.into_iter().flatten());
    report.expect("/headline", line);
    observations(report)?;
    plan(report)?;
    maximum(report, trials, delta, significance)?;
    credible(report, (errors, trials), delta, significance);
    theory(report, AuditedEpsilon { kind: kind(is_bound), epsilon, delta })?;
    claims_of(report, coverage, (epsilon, delta));
    Ok(())
}

/// The verdicts on claim and limit, and that on both.
fn claims_of(report: &mut Checker<'_>, coverage: Coverage, (epsilon, delta): (f64, f64)) {
    let claimed = report.compared("/claim/epsilon");
    let is_simulated = report.is("/subject", "simulated_mechanism");
    let proven = report.compared("/theory/lower/epsilon").filter(|_| is_simulated);
    let ceiling = report.compared("/result/ceiling");
    let verdict = |claimed| coverage.verdict(VerdictReason::of_bound(epsilon, ceiling, claimed));
    let is_refuted = |claimed| verdict(claimed).outcome == Verdict::Refuted;
    if claimed.is_some_and(|claimed| proven > Some(claimed) && !is_refuted(claimed)) {
        let verdict = ClaimVerdict::from(VerdictReason::ProvenLowerBound);
        report.expect_all("/claim/verdict", verdict);
    } else {
        report.expect_verdict("/claim", coverage, (epsilon, ceiling));
    }
    report.expect_verdict("/fail_above", coverage, (epsilon, ceiling));
    if report.has("/claim") {
        report.expect("/claim/delta", delta);
    }
    report.expect_overall_verdict(&["/claim/verdict", "/fail_above/verdict"]);
}

fn trials_at(report: &mut Checker<'_>, pointer: &str) -> Result<Trials, RecomputeError> {
    Ok(Trials {
        target: report.count(&format!("{pointer}/target"))?,
        zero_out: report.count(&format!("{pointer}/zero_out"))?,
    })
}

fn errors_at(report: &mut Checker<'_>, pointer: &str) -> Result<ErrorCounts, RecomputeError> {
    Ok(ErrorCounts {
        false_positives: report.count(&format!("{pointer}/false_positives"))?,
        false_negatives: report.count(&format!("{pointer}/false_negatives"))?,
    })
}

fn kind(is_bound: bool) -> OutcomeKind {
    if is_bound { OutcomeKind::Bound } else { OutcomeKind::Estimate }
}

/// The bound of one cut whose limits have this tail each.
fn at_tail(
    errors: ErrorCounts,
    trials: Trials,
    delta: f64,
    tail: f64,
) -> Result<EpsilonLowerBound, RecomputeError> {
    let cut = Cut { threshold: f64::NAN, errors };
    at_fixed_cut(cut, trials, delta, 2.0 * tail).map_err(impossible)
}

/// The bound of one cut by a region of both rates.
fn at_rates(
    errors: ErrorCounts,
    trials: Trials,
    expected: ExpectedRates,
    delta: f64,
    tail: f64,
) -> Result<EpsilonLowerBound, RecomputeError> {
    let cut = Cut { threshold: f64::NAN, errors };
    at_expected_rates(cut, trials, expected, delta, 2.0 * tail).map_err(impossible)
}

fn impossible(error: BoundError) -> RecomputeError {
    RecomputeError::Counts { pointer: "/result", problem: error.to_string() }
}

/// The significance, from the tail of each limit where the rule says how it is shared.
fn significance(
    report: &mut Checker<'_>,
    is_by_limits: bool,
    tail: f64,
) -> Result<f64, RecomputeError> {
    if !is_by_limits && report.len("/bounds") == 0 {
        return Ok(report.compared("/result/significance").unwrap_or_default());
    }
    let significance = report.number("/result/significance")?;
    if is_by_limits {
        let sharing = match report.is("/result/threshold_rule", "simultaneous") {
            true => report.count("/result/cuts")?,
            false => 1,
        };
        let expected = significance / (2.0 * sharing.max(1) as f64);
        if tail != expected {
            report.expect("/result/tail_per_rate", expected);
        }
    }
    Ok(significance)
}

/// The lists of bounds and estimates.
fn values(
    report: &mut Checker<'_>,
    (epsilon, gdp_mu): (f64, Option<f64>),
    delta: f64,
    significance: f64,
) {
    for index in 0..report.len("/bounds") {
        let at = |field: &str| format!("/bounds/{index}/{field}");
        report.expect(&at("significance"), significance);
        if report.is(&at("quantity"), "epsilon") {
            report.expect(&at("value"), epsilon);
            report.expect(&at("delta"), delta);
        } else {
            report.expect(&at("value"), gdp_mu);
        }
    }
    let maximum = report.compared("/uncorrected_maximum/epsilon");
    for index in 0..report.len("/estimates") {
        let at = |field: &str| format!("/estimates/{index}/{field}");
        report.expect(&at("delta"), delta);
        let is_maximum = index > 0 || report.is("/result/kind", "bound");
        report.expect(&at("value"), maximum.filter(|_| is_maximum).unwrap_or(epsilon));
    }
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
    let value = |trials| at_tail(errors, trials, delta, significance / 2.0).map(|it| it.value());
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

/// The bound of the attack on released rows, and the verdict on the accounted ε.
pub(super) fn pategan(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    attack(report, "/counts")?;
    let values = ["/epsilon", "/ceiling", "/accounted_epsilon", "/significance"];
    let [Some(epsilon), Some(ceiling), Some(accounted), Some(significance)] =
        values.map(|pointer| report.compared(pointer))
    else {
        return Ok(());
    };
    let has_fired = |index: &usize| report.is(&format!("/checks/{index}/outcome"), "fired");
    let fired = (0..report.len("/checks")).filter(has_fired).count();
    let found = PateGanFinding { epsilon, ceiling, accounted, fired, significance };
    report.expect("/verdict", found.verdict());
    report.expect_verdict("/fail_above", Coverage::default(), (epsilon, Some(ceiling)));
    report.expect("/headline", found.headline());
    report.expect("/says", found.meaning());
    Ok(())
}

/// The bound of the attack on released rows, and the verdict on the claimed ε.
pub(super) fn generator(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    attack(report, "/attack/counts")?;
    if !report.has("/attack") {
        if report.has("/indicative") {
            report.expect("/verdict", Value::Null); // nothing certifies an ε
        }
        return Ok(());
    }
    let number = |pointer: &str| report.parsed::<f64>(pointer, "a number");
    let failed: [u64; 2] = report.parsed("/failed", "two counts")?;
    let found = GeneratorResult {
        claimed: report.compared("/claimed_epsilon"),
        epsilon: number("/attack/epsilon")?,
        ceiling: number("/attack/ceiling")?,
        significance: number("/significance")?,
        runs: report.parsed("/runs", "a count")?,
        failed: failed[0].max(failed[1]),
        is_constant: (0..report.len("/findings"))
            .any(|index| report.is(&format!("/findings/{index}/name"), CONSTANT_ROWS)),
    };
    report.expect("/verdict", found.verdict());
    report.expect("/headline", found.headline());
    report.expect("/says", found.meaning());
    Ok(())
}

/// The bound of an attack whose threshold other runs chose.
fn attack(report: &mut Checker<'_>, pointer: &'static str) -> Result<(), RecomputeError> {
    if !report.has(pointer) {
        return Ok(());
    }
    let (trials, errors) = (trials_at(report, pointer)?, errors_at(report, pointer)?);
    let delta = report.parsed("/delta", "a number")?;
    let significance = report.number("/significance")?;
    let cut = Cut { threshold: f64::NAN, errors };
    let bound = at_fixed_cut(cut, trials, delta, significance)
        .map_err(|error| RecomputeError::Counts { pointer, problem: error.to_string() })?;
    let at = |field: &str| format!("{}{field}", pointer.trim_end_matches("counts"));
    report.expect(&at("counts/fpr_upper"), bound.evidence().fpr_upper);
    report.expect(&at("counts/fnr_upper"), bound.evidence().fnr_upper);
    report.expect(&at("epsilon"), bound.value());
    report.expect(&at("ceiling"), bound.evidence().ceiling);
    report.expect(&at("evaluated"), trials.target.min(trials.zero_out));
    Ok(())
}
