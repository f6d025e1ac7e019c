//! Audits with canaries and coins.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::PrivacyClaim;
use dpscope_core::audit::one_run::{
    CanaryError, CanaryGame, GuessEvidence, Guesses, KnownSides, OneRunResult, implied_claim,
};

use super::checker::Checker;
use super::result::RecomputeError;
use crate::record::IndependentCanaries;

/// Bounds from correct guesses.
pub(super) fn one_run(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    let certified: Adjacency = report.read("/design/adjacency", "an adjacency")?;
    let bounds = 0..report.len("/bounds");
    let delta = |index| report.compared(&format!("/bounds/{index}/delta"));
    let deltas: Vec<f64> = bounds.filter_map(delta).collect();
    if report.compared("/runs/made").is_none_or(|made| made == 1.0) {
        let significance = report.number("/significance")?;
        let result = result(report, &deltas, significance)?;
        report.expect_all("/bounds", result.bounds());
        report.expect("/significance_per_delta", result.level());
        report.expect("/gdp_mu", result.gdp_mu());
        let first = deltas.first().copied().unwrap_or_default();
        let independent = result.independent_mu().map(|gdp_mu| IndependentCanaries {
            gdp_mu,
            epsilon: result.independent_epsilon(first),
        });
        report.expect_all("/independent_canaries", independent);
    }
    if let Some(epsilon) = report.compared("/bounds/0/epsilon") {
        report.expect_verdict("/fail_above", epsilon, None);
    }
    claim(report, certified, &deltas)
}

/// The verdict on a claim at the δ of a bound.
fn claim(
    report: &mut Checker<'_>,
    certified: Adjacency,
    deltas: &[f64],
) -> Result<(), RecomputeError> {
    if !report.has("/claim") {
        return Ok(());
    }
    let [epsilon, delta] = ["epsilon", "delta"]
        .map(|field| report.compared(&format!("/claim/{field}")).unwrap_or_default());
    let claim = PrivacyClaim {
        epsilon,
        delta,
        adjacency: report.read("/claim/adjacency", "an adjacency")?,
    };
    if implied_claim(&claim, certified) != claim {
        return Ok(()); // group privacy compares another claim
    }
    match deltas.iter().position(|delta| *delta == claim.delta) {
        Some(index) => {
            report.expect("/claim/delta", deltas[index]);
            if let Some(bound) = report.compared(&format!("/bounds/{index}/epsilon")) {
                report.expect_verdict("/claim", bound, None);
            }
        }
        None => report.expect("/claim/delta", deltas.first()),
    }
    Ok(())
}

/// The result of the counted guesses.
fn result(
    report: &mut Checker<'_>,
    deltas: &[f64],
    significance: f64,
) -> Result<OneRunResult, RecomputeError> {
    let impossible = |problem: String| RecomputeError::Counts { pointer: "/ranking", problem };
    let canaries = report.count("/design/canaries")?;
    let set_size: u32 = report.read("/design/set_size", "a count")?;
    let game =
        CanaryGame::sets(canaries, set_size).map_err(|error| impossible(error.to_string()))?;
    let is_walk = report.is("/design/rule", "walk");
    let mut steps = Vec::new();
    for index in 0..report.len("/ranking") {
        let [guesses, correct] =
            ["guesses", "correct"].map(|field| format!("/ranking/{index}/{field}"));
        // a step of a walk matters only where it decides
        steps.push(match is_walk {
            true => {
                let step = [&guesses, &correct].map(|it| report.compared(it).unwrap_or_default());
                (step[0] as u64, step[1] as u64)
            }
            false => (report.count(&guesses)?, report.count(&correct)?),
        });
    }
    let inclusion: Option<f64> = report.optional("/inclusion_probability");
    let is_one_side = report.is("/design/rule", "one_side");
    let of = |inclusion: Option<f64>| -> Result<OneRunResult, CanaryError> {
        let evidence = if is_walk {
            let (sizes, correct) = steps.iter().copied().unzip();
            GuessEvidence::walk(game, sizes, correct)?
        } else {
            let &(guesses, correct) = steps.first().unwrap_or(&(0, 0));
            let guesses = Guesses::new(game, guesses, correct)?;
            GuessEvidence::fixed(match inclusion {
                Some(inclusion) => guesses.with_inclusion_probability(inclusion)?,
                None if is_one_side => guesses.with_sides(KnownSides::One),
                None => guesses,
            })
        };
        OneRunResult::new(evidence, deltas, significance)
    };
    // the report does not say which side was guessed
    let stated = report.compared("/bounds/0/epsilon");
    let other = inclusion.map(|inclusion| of(Some(1.0 - inclusion)));
    let is_stated = |result: &OneRunResult| Some(result.bounds()[0].epsilon) == stated;
    match other {
        Some(Ok(other)) if is_stated(&other) => Ok(other),
        _ => of(inclusion).map_err(|error| impossible(error.to_string())),
    }
}
