//! Audits of one run in words.

use dpscope_core::accounting::Schedule;
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::VerdictReason;
use dpscope_core::audit::one_run::{
    CurveTest, OneRunFinding, OneRunResult, RedrawnCoins, ScoreMethod,
};
use dpscope_core::format::{given, rounded};
use dpscope_core::mechanism::SamplerKind;

use super::headline::canary_headline;
use super::null_finding::null_finding_sentence;
use super::one_run_design::{
    CanaryGameKind, CanaryScoreKind, CoinsStatus, GuessRuleKind, OneRunDesign,
};
use super::sampler::batches;
use crate::number::{bound, counted, grouped, up};

/// What a result that looks too good suggests.
pub const LOOK_FOR_A_LEAK: &str = "Look for a leak of the protocol first: scores that saw the coins, canaries that \
    differ before the training, or a canary inserted twice.";

/// What an audit means beside theory that refutes the claim.
pub const CANARIES_ALONE: &str = "These canaries alone do not refute the claim.";

/// Why a bound from pairs is not one for add/remove.
pub const PAIRS_FACTOR: &str = "Pairs certify the replacement of one record by another. Its μ is up to twice, for \
    Gaussian scores √2 times, that for adding or removing a record, and at one δ its ε can be more \
    than twice: never compare it with an add/remove ε directly.";

/// How to state that the coins were independent.
const STATE_INDEPENDENCE: &str =
    "if each canary had a coin of its own, state it (--independent-coins)";

/// What the estimate that treats canaries as independent assumes.
pub const INDEPENDENT_CANARIES: &str = "an estimate, as published: it assumes that canaries do not \
    influence each other, and is no bound";

/// An adjacency in words.
#[must_use]
pub const fn adjacency_in_words(adjacency: Adjacency) -> &'static str {
    match adjacency {
        Adjacency::AddRemove => "add/remove",
        Adjacency::Replace => "replace",
        Adjacency::ZeroOut => "zero-out",
    }
}

/// The largest of the values, its δ, confidence and adjacency.
#[must_use]
pub fn one_run_headline(result: &OneRunResult, design: &OneRunDesign) -> String {
    let first = result.bounds()[0];
    let values = (first.epsilon, first.delta, result.significance());
    canary_headline(result.kind(), values, adjacency_in_words(design.adjacency))
}

fn canaries_in_words(canaries: u64) -> String {
    format!("{} {}", grouped(canaries), if canaries == 1 { "canary" } else { "canaries" })
}

/// What the canaries are.
#[must_use]
pub fn canaries_sentence(design: &OneRunDesign) -> String {
    let OneRunDesign { game, canaries, set_size, .. } = *design;
    match game {
        CanaryGameKind::Coins => {
            format!("{}, each included or not by a fair coin", canaries_in_words(canaries))
        }
        CanaryGameKind::UnfairCoins => {
            format!("{}, each included with a known probability", canaries_in_words(canaries))
        }
        CanaryGameKind::FixedSize => format!(
            "{}; the number included suggests a draw of a fixed number",
            canaries_in_words(canaries)
        ),
        CanaryGameKind::Sets if set_size == 2 => {
            format!("{} of canaries, one of each included", counted(canaries, "pair"))
        }
        CanaryGameKind::Sets => {
            format!("{} of {set_size} canaries, one of each included", counted(canaries, "set"))
        }
        CanaryGameKind::MatchedPairs => format!(
            "{} of canaries, matched at random, since exactly half of the canaries were included: \
             coins drawn without replacement are not independent",
            counted(canaries, "pair")
        ),
    }
}

/// Where the coins come from, and what the bound assumes of them; `inclusion` is their probability if
/// they are not fair.
#[must_use]
pub fn coins_sentence(design: &OneRunDesign, inclusion: Option<f64>) -> String {
    let known = match design.coins {
        CoinsStatus::Committed => {
            return "committed, and verified: the bound holds if the commitment was published before \
                    the training"
                .to_owned();
        }
        CoinsStatus::Drawn => {
            return "drawn by this program from random words that nothing else uses".to_owned();
        }
        CoinsStatus::NotCommitted => "not committed",
        CoinsStatus::StatedIndependent => {
            "not committed, but stated to be independent (--independent-coins)"
        }
        CoinsStatus::Unseen => "not seen, only counts",
    };
    let condition = match (design.game, inclusion) {
        (CanaryGameKind::FixedSize | CanaryGameKind::MatchedPairs, _) => {
            "the included canaries were drawn uniformly over all subsets of this size, independently \
             of canaries and data"
                .to_owned()
        }
        (_, None) => "they were fair and independent of canaries and data".to_owned(),
        (_, Some(inclusion)) => format!(
            "each canary was included with probability {}, independently of the others, of canaries \
             and data",
            given(inclusion)
        ),
    };
    format!("{known}: the bound holds if {condition}")
}

/// The score by which canaries are ranked, and who can compute it.
#[must_use]
pub fn canary_score_sentence(score: CanaryScoreKind, reference_models: u32) -> String {
    let score = match score {
        CanaryScoreKind::FinalLoss => "minus the loss of the trained model (black box)",
        CanaryScoreKind::LossDifference => {
            "loss before the training minus loss after it (black box, with the initial model)"
        }
        CanaryScoreKind::WhiteBox => {
            "log-likelihood ratio of the noisy sums of all steps (white box)"
        }
    };
    match reference_models {
        0 => score.to_owned(),
        models => format!(
            "{score}, relative to its mean over {} that did not include the canary",
            counted(u64::from(models), "reference model")
        ),
    }
}

/// The score that follows from projections of the releases.
#[must_use]
pub fn projected_score_sentence(score: ScoreMethod, sampling_rate: f64) -> String {
    let ratio = |noise: &str| {
        let rate = given(sampling_rate);
        format!("log-likelihood ratio of all steps at sampling rate {rate}, with {noise}")
    };
    let score = match score {
        ScoreMethod::Calibrated => ratio("centre and noise of the projections themselves"),
        ScoreMethod::Stated { noise_multiplier } => {
            ratio(&format!("the stated noise multiplier {}", given(noise_multiplier)))
        }
        ScoreMethod::Sum => "sum of the projections of all steps".to_owned(),
    };
    format!("{score} (white box)")
}

/// The noise of the steps of one run, by their projections.
#[must_use]
pub fn projected_noise_sentence(steps: u64, noise: Option<f64>, stated: Option<f64>) -> String {
    let stated = stated.map_or(String::new(), |stated| format!(", stated {}", given(stated)));
    match noise {
        Some(noise) => format!(
            "noise multiplier ≈ {}{stated}: an estimate from {}, where projections are in clip norms",
            rounded(noise, 4),
            counted(steps, "step")
        ),
        None => format!("none in {}{stated}", counted(steps, "step")),
    }
}

/// How the number of guesses was chosen.
#[must_use]
pub fn guess_rule_sentence(design: &OneRunDesign, guesses: u64, correct: u64) -> String {
    let counts = format!("{} of {} correct", grouped(correct), grouped(guesses));
    match design.rule {
        GuessRuleKind::Walk => format!(
            "{counts}; the number of guesses was not fixed: 8, 16, 32, … and all are tested at a \
             joint level"
        ),
        GuessRuleKind::Fixed if design.coins == CoinsStatus::Drawn => {
            format!("{counts}; the number of guesses was fixed before the coins were drawn")
        }
        GuessRuleKind::Fixed => {
            format!(
                "{counts}; the number of guesses must have been fixed before the coins were drawn"
            )
        }
        GuessRuleKind::OneSide => format!(
            "{counts}, all on one side; number and side must have been fixed before the coins were \
             drawn"
        ),
    }
}

/// What canaries that certify one adjacency say about a claim for another.
#[must_use]
pub const fn adjacency_sentence(certified: Adjacency, claimed: Adjacency) -> &'static str {
    match (certified, claimed) {
        (Adjacency::Replace, Adjacency::Replace) => "claim and canaries both replace a record",
        (Adjacency::Replace, _) => {
            "the canaries replace a record, so the claim is tested by what it implies for that: twice \
             its ε, at (1 + e^ε) times its δ"
        }
        (Adjacency::AddRemove, Adjacency::AddRemove) => {
            "claim and canaries both add or remove a record"
        }
        (Adjacency::ZeroOut, Adjacency::ZeroOut) => {
            "claim and canaries both use zero-out adjacency"
        }
        (_, Adjacency::Replace) => {
            "a replace claim is tested by canaries without a replacement: this is valid only if a \
             record with zero gradient is admissible in the data"
        }
        _ => {
            "add/remove and zero-out adjacency are compared directly; for DP-SGD they are the same \
             unless another record takes its place in the batch"
        }
    }
}

/// What a verdict means.
#[must_use]
pub fn one_run_claim_sentence(
    reason: VerdictReason,
    design: &OneRunDesign,
    has_arrived: bool,
    findings: &[OneRunFinding],
) -> String {
    let says = match reason {
        VerdictReason::BoundExceedsClaim => match (design.coins, design.game) {
            (CoinsStatus::Drawn, _) => {
                "The training that produced these scores is not (ε, δ)-DP as claimed."
            }
            (CoinsStatus::Committed, _) => {
                "The training that produced these scores is not (ε, δ)-DP as claimed, if the \
                 commitment of the coins was published, and score and rule were fixed, before it."
            }
            (_, CanaryGameKind::FixedSize | CanaryGameKind::MatchedPairs) => {
                "The training that produced these scores is not (ε, δ)-DP as claimed, if the included \
                 canaries were drawn uniformly over all subsets of this size, independently of \
                 canaries, data and seeds of the training, and score and rule were fixed before that."
            }
            (_, CanaryGameKind::UnfairCoins) => {
                "The training that produced these scores is not (ε, δ)-DP as claimed, if the coins \
                 had the stated probability and were independent of each other, canaries, data and \
                 seeds of the training, and score and rule were fixed before them."
            }
            _ => {
                "The training that produced these scores is not (ε, δ)-DP as claimed, if the coins \
                 were fair, independent of canaries, data and seeds of the training, and score and \
                 rule were fixed before them."
            }
        },
        VerdictReason::AttackMismatch => {
            "The bound does not exceed the claim, but scores or guesses are reversed: the other \
             direction may show more. Fix the direction before drawing new coins."
        }
        VerdictReason::CeilingWithinClaim => {
            "Even if all guesses were correct, these canaries could not refute the claim: it was not \
             tested. Plan more canaries."
        }
        VerdictReason::BoundWithinClaim if !has_arrived => {
            "The guesses are not significantly better than chance: no leak was detected, and there is \
             no evidence that the canaries took part in the training. That says nothing about the \
             claim."
        }
        VerdictReason::BoundWithinClaim => {
            "This audit did not find more leakage than was claimed. That proves nothing about the \
             claim."
        }
        _ => "The result is an estimate without coverage: it refutes nothing.",
    };
    if findings.iter().any(OneRunFinding::suggests_a_leak) {
        format!("{says} {LOOK_FOR_A_LEAK}")
    } else {
        says.to_owned()
    }
}

/// A training, as accounting describes it.
#[must_use]
pub fn claimed_training_in_words(sampler: SamplerKind, run: &Schedule) -> String {
    let noise_multiplier = given(run.whole.noise_multiplier);
    let steps = counted(run.steps(), "step");
    match sampler {
        _ if sampler.draws_each_step_anew() => {
            let rate = given(run.whole.sampling_rate());
            format!("σ = {noise_multiplier}, q = {rate}, {steps}, {}", batches(sampler))
        }
        _ => format!(
            "σ = {noise_multiplier}, {steps}, {} per epoch, {} batches",
            grouped(run.whole.steps_per_epoch),
            sampler.name()
        ),
    }
}

/// What a verdict on a whole training means.
#[must_use]
pub fn claimed_training_sentence(test: Option<&CurveTest>) -> String {
    let Some(test) = test else {
        return "The claimed training is not tested as a whole: that needs a number of guesses that was \
                fixed before the coins were drawn."
            .to_owned();
    };
    let p_value = up(test.p_value);
    match test.verdict.reason {
        VerdictReason::BoundExceedsClaim => format!(
            "Noise, sampling or number of steps is not as claimed: the claimed training is \
             ({}, {})-DP and gives this many correct guesses with probability at most {p_value}.",
            rounded(test.epsilon, 2),
            up(test.delta)
        ),
        VerdictReason::AttackMismatch => {
            "The scores are reversed: the other direction may show more. \
             Fix the direction before drawing new coins."
                .to_owned()
        }
        VerdictReason::BoundWithinClaim => format!(
            "This many correct guesses are consistent with the claimed training (p = {p_value}). \
             That proves nothing about it."
        ),
        _ => "The result is an estimate without coverage: it refutes nothing.".to_owned(),
    }
}

/// How the runs of a plan are evaluated together.
#[must_use]
pub fn runs_sentence(made: u64, planned: u64, rule: GuessRuleKind) -> String {
    let runs = format!("{} of {}", grouped(made), counted(planned, "planned run"));
    match rule {
        GuessRuleKind::Walk => format!(
            "{runs}; their e-values are multiplied, and the bound counts the canaries of all \
             planned runs, so you may stop after any run"
        ),
        GuessRuleKind::Fixed | GuessRuleKind::OneSide => {
            format!("{runs}; their guesses are pooled")
        }
    }
}

/// What redrawn coins show.
#[must_use]
pub fn self_test_sentence(test: &RedrawnCoins) -> String {
    format!(
        "{} of {} redraws of the coins reject ε = 0; about {} are expected at most",
        grouped(test.rejections.into()),
        grouped(test.redraws.into()),
        rounded(f64::from(test.redraws) * test.significance, 0)
    )
}

fn few_correct_sentence(guesses: u64, correct: u64, p_value: f64) -> String {
    format!(
        "only {} of {} guesses are correct, fewer than by chance (p = {p_value:.1e}): they are \
         reversed, or the wrong ones were counted",
        grouped(correct),
        grouped(guesses)
    )
}

fn exactly_half_sentence(pairs: u64) -> String {
    format!(
        "exactly half of the canaries are included: drawn without replacement, coins are not \
         independent, so the canaries were matched into {} at random; the bound certifies the \
         replacement of a record; {STATE_INDEPENDENCE}",
        counted(pairs, "pair")
    )
}

fn fixed_size_sentence(included: u64, canaries: u64, chance_with_coins: f64) -> String {
    format!(
        "{} of {} are included, which suggests a draw of a fixed number (independent coins come this \
         close to their mean with probability {}); the bound allows for such a draw, and holds if it was \
         uniform over all subsets of this size; draws within groups are not detected; \
         {STATE_INDEPENDENCE}",
        grouped(included),
        canaries_in_words(canaries),
        rounded(chance_with_coins, 3)
    )
}

fn noise_missing_sentence(skipped_steps: u64, steps: u64) -> String {
    format!(
        "{} of {} have no noise: more than half of their projections are equal, and a calibrated score \
         leaves these steps out; check that the noisy gradients were projected",
        grouped(skipped_steps),
        counted(steps, "step")
    )
}

/// What a finding says.
#[must_use]
pub fn one_run_finding_sentence(finding: &OneRunFinding) -> String {
    match *finding {
        OneRunFinding::CoinsFollowOrder { p_value } => format!(
            "the coins follow the order of the file (p = {p_value:.1e}): they were not drawn \
             independently, so the result is an estimate; commit the coins before the next training"
        ),
        OneRunFinding::ExactlyHalf { pairs } => exactly_half_sentence(pairs),
        OneRunFinding::FixedSizeInclusion { included, canaries, chance_with_coins } => {
            fixed_size_sentence(included, canaries, chance_with_coins)
        }
        OneRunFinding::FailedScores { count, canaries } => format!(
            "{} of {} scores are NaN; their guesses come last and count as wrong",
            grouped(count),
            grouped(canaries)
        ),
        OneRunFinding::NoiseMissing { skipped_steps, steps } => {
            noise_missing_sentence(skipped_steps, steps)
        }
        OneRunFinding::TiedScores { share } => format!(
            "{} % of the canaries share their score with another one: the order among them is \
             arbitrary, and power is lost; use a score of more digits",
            rounded(100.0 * share, 0)
        ),
        OneRunFinding::ScoresFollowOrder { correlation, p_value } => format!(
            "the scores follow the order of the file (rank correlation {}, p = {p_value:.1e}): the \
             scorer may depend on the place of a canary",
            rounded(correlation, 3)
        ),
        OneRunFinding::ScoresReversed { auc } => format!(
            "included canaries have lower scores than the others (AUC {}): the scores are \
             reversed; a direction chosen after a look at them has no bound, so fix it before new \
             coins are drawn",
            rounded(auc, 3)
        ),
        OneRunFinding::FewCorrect { guesses, correct, p_value } => {
            few_correct_sentence(guesses, correct, p_value)
        }
        OneRunFinding::AllCorrect { guesses, canaries } => format!(
            "all {} guesses of {} are correct, which is suspicious",
            grouped(guesses),
            canaries_in_words(canaries)
        ),
        OneRunFinding::FarAboveClaim { epsilon, claimed } => format!(
            "ε ≥ {} is more than three times the claim of {}, which is suspicious",
            bound(epsilon, false, 2),
            given(claimed)
        ),
        OneRunFinding::SecondScores => "other scores of this plan were audited before: the better of \
            two attacks on the same coins has no coverage, so the result is an estimate; commit a new \
            plan and train again"
            .to_owned(),
        OneRunFinding::EqualCanaries { copies, canaries } => format!(
            "{} of {} canaries equal an earlier one: the bound holds, but an equal canary that is \
             included hides the coin of the other",
            grouped(copies),
            grouped(canaries)
        ),
        OneRunFinding::CanariesInBaseData { copies, canaries } => format!(
            "{} of {} canaries are also records of the base data: the bound holds, but their coins \
             change little, so power is lost; remove them from the base data before the next training",
            grouped(copies),
            grouped(canaries)
        ),
        OneRunFinding::FailedTrainings { count, trainings } => format!(
            "{} of {} diverged; use a lower learning rate",
            grouped(count),
            counted(trainings, "training")
        ),
        ref of_scores => null_finding_sentence(of_scores),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_too_good_says_so_in_the_verdict() {
        let design = OneRunDesign {
            game: CanaryGameKind::Coins,
            canaries: 100,
            set_size: 2,
            adjacency: Adjacency::AddRemove,
            rule: GuessRuleKind::Fixed,
            coins: CoinsStatus::NotCommitted,
        };
        let sentence = |findings: &[OneRunFinding]| {
            one_run_claim_sentence(VerdictReason::BoundExceedsClaim, &design, true, findings)
        };
        let leak = OneRunFinding::AllCorrect { guesses: 60, canaries: 100 };
        assert!(sentence(&[leak]).ends_with(LOOK_FOR_A_LEAK));
        assert!(!sentence(&[]).contains("leak of the protocol"));
    }
}
