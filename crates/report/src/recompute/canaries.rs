//! Audits with canaries and coins.

use dpscope_core::accounting::Schedule;
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::{PrivacyClaim, VerdictReason};
use dpscope_core::audit::one_run::{
    CanaryError, CanaryGame, CurveTest, FixedSize, GuessEvidence, Guesses, KnownSides,
    OneRunFinding, OneRunResult, implied_claim,
};
use dpscope_core::mechanism::SamplerKind;

use super::checker::Checker;
use super::findings;
use super::open::SEVERAL;
use super::result::RecomputeError;
use super::verdict::Coverage;
use crate::record::{ClaimedTraining, IndependentCanaries, IndependentPairs, ProjectionsRecord};
use crate::words::{
    adjacency_in_words, adjacency_sentence, canary_headline, claimed_training_sentence,
};

/// Bounds from correct guesses.
pub(crate) fn one_run(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    let certified: Adjacency = report.read("/design/adjacency", "an adjacency")?;
    let bounds = 0..report.len("/bounds");
    let delta = |index| report.compared(&format!("/bounds/{index}/delta"));
    let deltas: Vec<f64> = bounds.filter_map(delta).collect();
    let first = deltas.first().copied().unwrap_or_default();
    let significance = report.number("/significance")?;
    let findings = findings::of_canaries(report)?;
    let mut counted = None;
    if report.has("/runs") {
        for field in ["/runs/made", "/runs/planned"] {
            report.parsed::<u64>(field, "a count")?;
        }
        report.leave("/bounds/0/epsilon", SEVERAL);
    } else {
        let result = result(report, &findings, &deltas, significance)?;
        report.expect_all("/bounds", result.bounds());
        report.expect("/significance_per_delta", result.level());
        report.expect("/gdp_mu", result.gdp_mu());
        let independent = result.independent_mu().map(|gdp_mu| IndependentCanaries {
            gdp_mu,
            epsilon: result.independent_epsilon(first),
        });
        report.expect_all("/independent_canaries", independent);
        if report.has("/independent_pairs") {
            let pairs = report.count("/independent_pairs/pairs")?;
            let counts = [pairs, report.count("/independent_pairs/correct")?];
            let units = result.game().canaries();
            if pairs > units || counts[1] > pairs {
                let problem =
                    format!("{} of {pairs} pairs of {units} canaries or pairs", counts[1]);
                return Err(RecomputeError::Counts { pointer: "/independent_pairs", problem });
            }
            let found = IndependentPairs::new(counts, first, significance);
            report.expect_all("/independent_pairs", found);
        }
        counted = Some(result);
    }
    let coverage = Coverage::of_canaries(&findings);
    report.expect("/kind", coverage.kind());
    if let Some(epsilon) = report.compared("/bounds/0/epsilon") {
        let neighbours = adjacency_in_words(certified);
        let line = canary_headline(coverage.kind(), (epsilon, first, significance), neighbours);
        report.expect("/headline", line);
        let ceiling = report.compared("/bounds/0/ceiling");
        report.expect_verdict("/fail_above", coverage, (epsilon, ceiling));
    }
    let far = claim(report, certified, coverage, counted.as_ref())?;
    let counted_findings = counted.iter().flat_map(OneRunResult::findings).copied();
    let projections: Option<ProjectionsRecord> = report.known("/projections", "projections")?;
    let missing = projections.as_ref().and_then(ProjectionsRecord::finding);
    findings::expect(report, &findings, counted_findings.chain(far).chain(missing));
    if let Some(result) = &counted {
        claimed_training(report, certified, coverage, result)?;
    }
    let tested = ["/claimed_training/test/verdict", "/claim/verdict", "/fail_above/verdict"];
    report.expect_overall_verdict(&tested);
    Ok(())
}

/// The verdict on a claim at the δ of a bound, or of the claim that group privacy implies, and whether
/// the bound is far above it.
fn claim(
    report: &mut Checker<'_>,
    certified: Adjacency,
    coverage: Coverage,
    counted: Option<&OneRunResult>,
) -> Result<Option<OneRunFinding>, RecomputeError> {
    if !report.has("/claim") {
        return Ok(None);
    }
    let [epsilon, delta] = ["epsilon", "delta"]
        .map(|field| report.compared(&format!("/claim/{field}")).unwrap_or_default());
    let adjacency = report.read("/claim/adjacency", "an adjacency")?;
    let claim = PrivacyClaim { epsilon, delta, adjacency };
    report.expect("/claim/note", adjacency_sentence(certified, adjacency));
    let implied = implied_claim(&claim, certified);
    let at = |index| report.compared(&format!("/bounds/{index}/delta"));
    let bound_at = |delta| (0..report.len("/bounds")).find(|index| at(*index) == Some(delta));
    let known = bound_at(implied.delta);
    let far = bound_at(delta).and_then(|index| {
        let bound = report.compared(&format!("/bounds/{index}/epsilon"))?;
        OneRunFinding::far_above_claim(bound, implied.epsilon)
    });
    if implied == claim {
        let first = at(0);
        report.expect("/claim/delta", known.map_or(first, |_| Some(delta)));
    }
    let reason = match (known, counted) {
        (Some(index), _) => {
            let [bound, ceiling] = ["epsilon", "ceiling"]
                .map(|field| report.compared(&format!("/bounds/{index}/{field}")));
            bound.map(|bound| VerdictReason::of_bound(bound, ceiling, implied.epsilon))
        }
        (None, Some(result)) => {
            let verdict = result.verdict(&claim, certified).map_err(|error| {
                RecomputeError::Counts { pointer: "/claim", problem: error.to_string() }
            })?;
            Some(verdict.reason) // the counted result has no findings
        }
        (None, None) => None,
    };
    if let Some(reason) = reason {
        let verdict = coverage.verdict(reason).with_proven(proven(report, &claim), epsilon);
        report.expect_all("/claim/verdict", verdict);
    }
    Ok(far)
}

/// What theory proves against a claim, of the claimed or of the audited training.
fn proven(report: &mut Checker<'_>, claim: &PrivacyClaim) -> Option<f64> {
    let places = ["/claimed_training/proven", "/training/theory/lower"];
    let place = places.into_iter().find(|place| report.has(place))?;
    let [epsilon, delta] =
        ["epsilon", "delta"].map(|field| report.compared(&format!("{place}/{field}")));
    epsilon.filter(|_| delta == Some(claim.delta) && claim.adjacency != Adjacency::Replace)
}

/// The test of a training as a whole, and what is proven of it.
fn claimed_training(
    report: &mut Checker<'_>,
    certified: Adjacency,
    coverage: Coverage,
    result: &OneRunResult,
) -> Result<(), RecomputeError> {
    if !report.has("/claimed_training") {
        return Ok(());
    }
    let sampler: SamplerKind = report.parsed("/claimed_training/sampler", "a sampler")?;
    let schedule: Schedule = report.parsed("/claimed_training", "a training")?;
    let claim: Option<PrivacyClaim> = report.optional("/claim");
    let found = ClaimedTraining::new(sampler, schedule, result, certified, claim.as_ref());
    let found = found.map_err(|error| RecomputeError::Counts {
        pointer: "/claimed_training",
        problem: error.to_string(),
    })?;
    let with_findings =
        |test: CurveTest| CurveTest { verdict: coverage.verdict(test.verdict.reason), ..test };
    let test = found.test.map(with_findings);
    report.expect_all("/claimed_training/test", test);
    report.expect_all("/claimed_training/proven", found.proven);
    report.expect("/claimed_training/says", claimed_training_sentence(test.as_ref()));
    Ok(())
}

/// The number of included canaries, if it may have been fixed.
fn fixed_size(
    report: &mut Checker<'_>,
    findings: &[OneRunFinding],
    canaries: u64,
) -> Result<Option<FixedSize>, String> {
    let included = findings.iter().find_map(|finding| match finding {
        OneRunFinding::FixedSizeInclusion { included, .. } => Some(*included),
        _ => None,
    });
    match included {
        Some(included) => {
            FixedSize::new(canaries, included).map(Some).map_err(|error| error.to_string())
        }
        None if report.is("/design/game", "fixed_size") => {
            Err("the finding about the number of included canaries is missing".to_owned())
        }
        None => Ok(None),
    }
}

/// The result of the counted guesses.
fn result(
    report: &mut Checker<'_>,
    findings: &[OneRunFinding],
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
    let stated: Option<f64> = report.optional("/inclusion_probability");
    let fixed_size = fixed_size(report, findings, canaries).map_err(impossible)?;
    let inclusion = fixed_size.map_or(stated, |size| Some(size.share()));
    let is_one_side = report.is("/design/rule", "one_side");
    let of = |inclusion: Option<f64>| -> Result<OneRunResult, CanaryError> {
        let evidence = if is_walk {
            let (sizes, correct) = steps.iter().copied().unzip();
            GuessEvidence::walk(game, sizes, correct)?
        } else {
            let &(guesses, correct) = steps.first().unwrap_or(&(0, 0));
            let guesses = Guesses::new(game, guesses, correct)?;
            GuessEvidence::fixed(match inclusion {
                Some(inclusion) if is_one_side => guesses.with_inclusion_probability(inclusion)?,
                None if is_one_side => guesses.with_sides(KnownSides::One),
                _ => guesses,
            })
        };
        let Some(size) = fixed_size else {
            return OneRunResult::new(evidence, deltas, significance);
        };
        let result = OneRunResult::new(evidence.of_fixed_size(size), deltas, significance)?;
        Ok(result.with_findings([size.finding(stated.unwrap_or(0.5))?]))
    };
    // the report does not say which side was guessed
    let shown = report.compared("/bounds/0/epsilon");
    let other = inclusion.map(|inclusion| of(Some(1.0 - inclusion)));
    let is_stated = |result: &OneRunResult| Some(result.bounds()[0].epsilon) == shown;
    match other {
        Some(Ok(other)) if is_stated(&other) => Ok(other),
        _ => of(inclusion).map_err(|error| impossible(error.to_string())),
    }
}
