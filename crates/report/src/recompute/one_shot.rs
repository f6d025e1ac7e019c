//! Audits with canaries of a known null distribution.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::{PrivacyClaim, VerdictReason};
use dpscope_core::audit::one_run::{OneRunFinding, implied_claim};
use dpscope_core::audit::one_shot::{
    AnyMechanism, CanaryDesign, CutHits, EpsilonEstimator, Gdp, IndependentCanaries, OneShotError,
    RankedCanary, SimultaneousRule,
};
use dpscope_core::gdp::gdp_epsilon;

use super::checker::Checker;
use super::findings;
use super::open::SEVERAL;
use super::result::RecomputeError;
use super::verdict::Coverage;
use crate::record::{OneShotEstimate, OneShotSimulation, PrivacyUnit};
use crate::words::{adjacency_sentence, canary_headline, one_shot_neighbours};

/// More are refused.
const MOST_CANARIES: u64 = 1_000_000_000_000;

/// More hits below a cut take too long.
const MOST_HITS: u64 = 1_000_000;

/// The bounds of the canaries that decide, and what follows from them: the report has no other scores.
pub(crate) fn one_shot(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    let rule = deciding(report)?;
    other_bounds(report)?;
    match rule {
        Some(rule) => detectable(report, &rule)?,
        None => report.leave("/bounds/epsilon", SEVERAL),
    }
    null_ranges(report)?;
    let field = |pointer: &str| report.compared(pointer).unwrap_or_default();
    let (delta, epsilon) = (field("/delta"), field("/bounds/epsilon"));
    let mu = report.compared("/bounds/independent_gdp_mu");
    let by_curve = mu.and_then(|mu| gdp_epsilon(mu, delta).ok()).filter(|it| it.is_finite());
    report.expect("/epsilon_by_gaussian_curve", by_curve);
    if report.has("/simulation") {
        let noise = report.number("/simulation/noise_multiplier")?;
        let (gdp_mu, truth) = OneShotSimulation::truth(noise, delta);
        report.expect("/simulation/gdp_mu", gdp_mu);
        report.expect("/simulation/epsilon", truth);
    }
    verdicts(report, (epsilon, delta))
}

/// The headline, and the verdicts on claim and limit.
fn verdicts(report: &mut Checker<'_>, (epsilon, delta): (f64, f64)) -> Result<(), RecomputeError> {
    let certified: Adjacency = report.read("/design/adjacency", "an adjacency")?;
    let unit: PrivacyUnit = report.read("/design/unit", "a unit of privacy")?;
    let significance = report.parsed("/significance", "a number")?;
    let findings = findings::of_canaries(report)?;
    if report.has("/evidence") {
        let design: CanaryDesign = report.parsed("/design/number", "a design")?;
        let inserted = report.parsed::<u64>("/design/inserted", "a count")?;
        let unlikely = design.number_finding(inserted.min(MOST_CANARIES));
        findings::expect(report, &findings, unlikely);
    }
    let coverage = Coverage::of_canaries(&findings);
    report.expect("/kind", coverage.kind());
    let neighbours = one_shot_neighbours(unit, certified);
    let line = canary_headline(coverage.kind(), (epsilon, delta, significance), &neighbours);
    report.expect("/headline", line);
    let is_blind = delta > 0.0 && !report.has("/detectable_epsilon");
    let ceiling = report.compared("/ceiling").or(is_blind.then_some(0.0));
    report.expect_verdict("/fail_above", coverage, (epsilon, ceiling));
    if report.has("/claim") {
        let adjacency = report.read("/claim/adjacency", "an adjacency")?;
        let claimed = report.compared("/claim/epsilon").unwrap_or_default();
        let claim = PrivacyClaim { epsilon: claimed, delta, adjacency };
        report.expect("/claim/delta", delta);
        report.expect("/claim/note", adjacency_sentence(certified, adjacency));
        let implied = implied_claim(&claim, certified);
        let reason = if implied.delta <= delta {
            VerdictReason::of_bound(epsilon, ceiling, implied.epsilon)
        } else {
            VerdictReason::CeilingWithinClaim
        };
        report.expect_all("/claim/verdict", coverage.verdict(reason));
        let far = OneRunFinding::far_above_claim(epsilon, implied.epsilon);
        findings::expect(report, &findings, far);
    }
    report.expect_overall_verdict(&["/claim/verdict", "/fail_above/verdict"]);
    Ok(())
}

fn impossible(error: OneShotError) -> RecomputeError {
    RecomputeError::Counts { pointer: "/bounds", problem: error.to_string() }
}

/// The significance that is left for scores.
fn level(report: &Checker<'_>) -> Result<f64, RecomputeError> {
    let spent = report.compared("/null_significance").unwrap_or_default();
    Ok(report.parsed::<f64>("/significance", "a number")? - spent)
}

/// The bound on ε for any training algorithm; none in reports that do not say what decides it.
fn deciding(report: &mut Checker<'_>) -> Result<Option<SimultaneousRule>, RecomputeError> {
    if !report.has("/deciding") && !report.has("/evidence") {
        return Ok(None);
    }
    let design: CanaryDesign = report.parsed("/design/number", "a design")?;
    let delta = report.parsed("/delta", "a number")?;
    let level = level(report)?;
    let rule = AnyMechanism::new(design).and_then(|any| any.simultaneous_rule(delta, level));
    let rule = rule.map_err(impossible)?;
    if report.has("/deciding") {
        let canary: RankedCanary = report.read("/deciding", "a rank and ln p")?;
        report.uses(&["/design/number", "/significance"]);
        report.expect("/bounds/epsilon", rule.epsilon_of(canary));
    } else {
        report.expect("/bounds/epsilon", 0.0);
    }
    report.expect("/canaries_lost_to_delta", rule.allowance().canaries());
    Ok(Some(rule))
}

/// The bounds that assume more.
fn other_bounds(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    if !report.has("/evidence") {
        return Ok(());
    }
    let level = level(report)?;
    let design: CanaryDesign = report.parsed("/design/number", "a design")?;
    let inserted: u64 = report.parsed("/design/inserted", "a count")?;
    match report.known::<CutHits>("/evidence/gdp_cut", "a cut and its hits")? {
        None => report.expect("/bounds/gdp_mu", 0.0),
        Some(cut) if cut.hits <= inserted.min(MOST_HITS) => {
            let mu = AnyMechanism::new(design).and_then(|any| any.mu_of(cut, level));
            report.expect("/bounds/gdp_mu", mu.map_err(impossible)?);
            report.uses(&["/evidence/gdp_cut", "/design/number", "/significance"]);
        }
        Some(cut) if cut.hits > inserted => {
            let problem = format!("{} of {inserted} canaries below a cut", cut.hits);
            return Err(RecomputeError::Counts { pointer: "/evidence/gdp_cut", problem });
        }
        Some(_) => {}
    }
    if inserted == 0 {
        report.expect("/bounds/independent_epsilon", 0.0);
        return Ok(());
    }
    let canaries = IndependentCanaries::new(inserted, level).map_err(impossible)?;
    let delta: f64 = report.parsed("/delta", "a number")?;
    match report.known::<RankedCanary>("/evidence/independent", "a rank and ln p")? {
        None => report.expect("/bounds/independent_epsilon", 0.0),
        Some(canary) => {
            report.expect("/bounds/independent_epsilon", canaries.epsilon_of(canary, delta));
            report.uses(&["/evidence/independent", "/design/inserted", "/significance"]);
        }
    }
    if let Some(mean) = report.known::<f64>("/evidence/mean_normal_score", "a number")? {
        let mu = Gdp::new(&canaries).mu_of_mean(mean);
        report.expect("/bounds/independent_gdp_mu", mu);
        if mu > 0.0 {
            report.uses(&["/evidence/mean_normal_score", "/design/inserted", "/significance"]);
        }
    }
    Ok(())
}

/// Whether every canary has a score.
fn is_whole(report: &Checker<'_>) -> bool {
    let missing = ["missing_cosines", "no_scores"];
    let codes = (0..report.len("/findings")).map(|index| format!("/findings/{index}/code"));
    let mut codes = codes.filter(|code| missing.iter().any(|name| report.is(code, name)));
    report.has("/evidence") && codes.next().is_none()
}

/// The leak that canaries detect, where their null probabilities are exact.
fn detectable(report: &mut Checker<'_>, rule: &SimultaneousRule) -> Result<(), RecomputeError> {
    let is_exact = report.is("/design/null/kind", "cosines")
        && !report.is("/design/attacker", "all_updates")
        && is_whole(report);
    if !is_exact {
        return Ok(());
    }
    let design: CanaryDesign = report.parsed("/design/number", "a design")?;
    let delta = report.compared("/delta").unwrap_or_default();
    let mu = rule.detectable_mu(design.mean(), 1);
    let epsilon = mu.and_then(|mu| gdp_epsilon(mu, delta).ok()).filter(|it| it.is_finite());
    report.expect("/detectable_epsilon", epsilon);
    Ok(())
}

/// The ranges of estimates without a leak.
fn null_ranges(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    if !is_whole(report) {
        return Ok(());
    }
    let inserted: u64 = report.parsed("/design/inserted", "a count")?;
    let delta = report.compared("/delta").unwrap_or_default();
    let methods = [EpsilonEstimator::Mean, EpsilonEstimator::TwoGaussians];
    let ranges = methods.map(|method| method.null_range(inserted, delta, OneShotEstimate::OUTSIDE));
    let is_listed = report.is("/design/null/kind", "cosines") && report.has("/standardised_mean");
    if is_listed && ranges.iter().all(Result::is_ok) {
        for (index, method) in methods.iter().enumerate() {
            report.expect(&format!("/estimates/{index}/method"), method);
        }
    }
    for index in 0..report.len("/estimates") {
        let method: EpsilonEstimator =
            report.parsed(&format!("/estimates/{index}/method"), "a method of estimation")?;
        let pointer = format!("/estimates/{index}/null_range");
        let [mean, two_gaussians] = ranges.clone();
        let range = match method {
            EpsilonEstimator::Mean => mean,
            EpsilonEstimator::TwoGaussians => two_gaussians,
        };
        report.expect_all(&pointer, range.map_err(impossible)?);
    }
    Ok(())
}
