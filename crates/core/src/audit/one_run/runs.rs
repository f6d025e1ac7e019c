//! Several runs of one plan, from their scores.

use super::coin_checks::check_order;
use super::planned_runs::of_all_runs;
use super::{
    CanaryError, CanaryFeature, CanaryScores, GuessEvidence, GuessRecord, OneRunError,
    OneRunQuestion, OneRunResult, PlannedRuns,
};

/// Checks coins and scores of several runs of one plan, and bounds ε from all of them.
///
/// With the rule [`GuessRule::Walk`](super::GuessRule), evidence of runs multiplies
/// ([`PlannedRuns`]), and any number of planned runs is enough; with a fixed number of guesses, those
/// of all planned runs are one count. Coins of a run must be drawn anew and independently.
///
/// | argument | meaning |
/// |---|---|
/// | `runs` | scores and coins, in the order of the runs |
/// | `planned` | runs that the plan allows |
/// | `features` | as in [`CanaryScores::audit`], of the canaries of every run |
/// | `tie` | order of equal scores, by run and index |
///
/// # Errors
/// As [`CanaryScores::audit`], and [`CanaryError::MissingRuns`], [`CanaryError::OtherRun`],
/// [`CanaryError::SameScores`], [`OneRunError::Runs`].
pub fn audit_runs(
    runs: &[CanaryScores<'_>],
    planned: u64,
    question: &OneRunQuestion<'_>,
    features: &[(CanaryFeature, &[f64])],
    tie: impl Fn(u64, u64) -> u64,
) -> Result<OneRunResult, CanaryError> {
    check_order(runs)?;
    let mut found = Vec::with_capacity(runs.len());
    let mut findings = Vec::new();
    for (run, number) in runs.iter().zip(0..) {
        found.push(run.checked_evidence(question.rule, features, |index| tie(number, index))?);
        findings.extend(run.findings(question.is_committed)?);
    }
    let evidence = joined(&found, planned)?;
    let result = OneRunResult::new(evidence, question.deltas, question.significance);
    let draw = runs.first().and_then(CanaryScores::inferred_draw);
    let result = result.map_err(|error| error.of_draw(draw))?;
    let pairs = match runs {
        [one] => one.ordered_pairs(),
        _ => None,
    };
    Ok(result.with_findings(findings).with_pairs(pairs))
}

fn joined(runs: &[GuessEvidence], planned: u64) -> Result<GuessEvidence, CanaryError> {
    let count = runs.len();
    let Some(first) = runs.first().filter(|_| count as u64 <= planned) else {
        return Err(OneRunError::Runs { runs: count, planned }.into());
    };
    if planned == 1 {
        return Ok(first.clone());
    }
    if !first.is_fixed() {
        let record = |run: &GuessEvidence| {
            let (sizes, correct) = run.steps().iter().map(|k| (k.guesses(), k.correct())).unzip();
            GuessRecord::new(run.steps()[0].game(), sizes, correct)
        };
        let records = runs.iter().map(record).collect::<Result<_, _>>()?;
        let all = GuessEvidence::runs(PlannedRuns::new(planned, records)?)?;
        return Ok(all.of_sizes(runs));
    }
    if (count as u64) < planned {
        return Err(CanaryError::MissingRuns { runs: count, planned });
    }
    let design = |run: &GuessEvidence| (run.steps()[0].game(), run.steps()[0].guesses());
    if let Some(run) = runs.iter().position(|run| design(run) != design(first)) {
        return Err(OneRunError::DifferentRuns { run }.into());
    }
    let game = of_all_runs(first.steps()[0].game(), planned)?;
    let correct = runs.iter().map(|run| run.steps()[0].correct()).sum();
    let guesses = first.steps()[0].guesses() * planned;
    let all = first.steps()[0].with_counts(game, guesses, correct)?;
    Ok(GuessEvidence::fixed(all).of_sizes(runs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::one_run::{CanaryGame, GuessRule, Guesses};

    #[test]
    fn fixed_guesses_of_all_planned_runs_are_one_count() {
        let run = |correct| {
            let game = CanaryGame::coins(64).unwrap();
            GuessEvidence::fixed(Guesses::new(game, 20, correct).unwrap())
        };
        let all = joined(&[run(18), run(15)], 2).unwrap();
        let expected = Guesses::new(CanaryGame::coins(128).unwrap(), 40, 33).unwrap();
        assert_eq!(all, GuessEvidence::fixed(expected));
        let missing = joined(&[run(18)], 2).unwrap_err();
        assert_eq!(missing, CanaryError::MissingRuns { runs: 1, planned: 2 });
    }

    #[test]
    fn one_planned_run_is_audited_as_one_run() {
        let scores: Vec<f64> = (0..64).map(|i| f64::from(i * 37 % 64)).collect();
        let coins: Vec<bool> = scores.iter().map(|&score| score > 30.0).collect();
        let run = CanaryScores::coins(&scores, &coins).unwrap();
        for rule in [GuessRule::Walk, GuessRule::Most(30)] {
            let question =
                OneRunQuestion { deltas: &[1e-5], significance: 0.05, rule, is_committed: true };
            let alone = run.audit(&question, &[], |index| index).unwrap();
            let joined =
                audit_runs(std::slice::from_ref(&run), 1, &question, &[], |_, index| index)
                    .unwrap();
            assert_eq!(alone, joined);
        }
    }
}
