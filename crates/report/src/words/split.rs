//! Audits of a random hold-out in words.

use dpscope_core::accounting::Kind;
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::VerdictReason;
use dpscope_core::audit::split::{SplitBounds, SplitCounts, SplitFinding, SplitGuesses, SplitSets};
use dpscope_core::format::{given, rounded};

use crate::number::{bound, confidence, counted, delta, grouped, plain};

/// What the bounds of a split assume.
pub const UNIFORM_SPLIT: &str = "the hold-out was drawn uniformly from these rows, independently of \
    the rows themselves, of the training and of the score; that no row was dropped after the draw for a reason that \
    involves other rows; and that held-out rows were used for nothing that the score sees";

/// Both bounds in one line.
#[must_use]
pub fn split_headline(bounds: &SplitBounds, (at, significance): (f64, f64)) -> String {
    format!(
        "ε ≥ {} for adding or removing a row, and ≥ {} for replacing one, at δ = {}, with {} confidence",
        plain(bounds.add_remove, Kind::Lower, 4),
        plain(bounds.replace, Kind::Lower, 4),
        delta(at),
        confidence(significance)
    )
}

/// What a verdict means.
#[must_use]
pub fn split_claim_sentence(reason: VerdictReason, guesses: &SplitGuesses) -> String {
    let rows = guesses.members().saturating_add(guesses.non_members());
    match reason {
        VerdictReason::BoundExceedsClaim => format!(
            "The training is not (ε, δ)-DP as claimed, if the hold-out was drawn uniformly from these \
             {} rows.",
            grouped(rows)
        ),
        VerdictReason::AttackMismatch => {
            "The bound does not exceed the claim, but members have smaller scores than the others: the \
             other direction may show more. Fix the direction before the next training."
                .to_owned()
        }
        VerdictReason::CeilingWithinClaim => {
            "Even if all guesses were correct, so few rows could not refute the claim: it was not \
             tested. Hold out more rows."
                .to_owned()
        }
        _ => "This score does not tell members from non-members better than the claim allows. That \
              proves nothing about the claim."
            .to_owned(),
    }
}

/// How a bound of a split speaks about a claim's adjacency.
#[must_use]
pub const fn split_adjacency_sentence(claimed: Adjacency) -> &'static str {
    match claimed {
        Adjacency::Replace => "claim and bound are both for replacing a row",
        Adjacency::AddRemove => "claim and bound are both for adding or removing a row",
        Adjacency::ZeroOut => {
            "a zero-out claim is compared with the bound for adding or removing a row; for DP-SGD they \
             are the same unless another record takes its place in the batch"
        }
    }
}

/// How rows were guessed, a line for each side and stratum.
#[must_use]
pub fn split_guesses_in_words(guesses: &SplitGuesses) -> Vec<String> {
    match guesses {
        SplitGuesses::Cut { strata } => {
            let several = strata.len() > 1;
            let lines = strata.iter().enumerate().map(|(index, counts)| {
                let text = named_in_words(counts);
                if several { format!("stratum {}: {text}", index + 1) } else { text }
            });
            lines.collect()
        }
        SplitGuesses::Sets { members, non_members, guesses, correct } => {
            let Ok(sets) = SplitSets::new(*members, *non_members) else { return Vec::new() };
            let odd = if sets.odd_is_included() { "member" } else { "non-member" };
            vec![format!(
                "{} of {} with one {odd} in {} rows each, {} correct; {} in no set",
                grouped(*guesses),
                counted(sets.sets(), "random set"),
                grouped(sets.set_size()),
                grouped(*correct),
                counted(sets.left_over(), "row")
            )]
        }
    }
}

fn named_in_words(counts: &SplitCounts) -> String {
    let side = |guesses: u64, correct: u64, name: &str| {
        (guesses > 0).then(|| {
            format!("{} named as {name}, {} correct", counted(guesses, "row"), grouped(correct))
        })
    };
    let sides = [
        side(counts.guesses_in, counts.correct_in, "members"),
        side(counts.guesses_out, counts.correct_out, "non-members"),
    ];
    sides.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// What a finding says.
#[must_use]
pub fn split_finding_sentence(finding: &SplitFinding) -> String {
    match *finding {
        SplitFinding::TiedScores { share } => format!(
            "{} % of the rows share their score with another one; equal scores count against the attack, so \
             power is lost; use a score of more digits",
            rounded(100.0 * share, 0)
        ),
        SplitFinding::ScoresReversed { auc } => format!(
            "members have smaller scores than non-members (AUC {}): the scores are reversed; a direction \
             chosen after a look at them has no bound",
            rounded(auc, 3)
        ),
        SplitFinding::AllCorrect { guesses } => format!(
            "all {} guesses are correct, which is suspicious: look for a score that saw the sides, such as one \
             scaled by the members alone, before you blame the training",
            grouped(guesses)
        ),
        SplitFinding::FarAboveClaim { epsilon, claimed } => format!(
            "ε ≥ {} is more than three times the claim of {}, which is suspicious: look for a leak of \
             the protocol first",
            bound(epsilon, false, 2),
            given(claimed)
        ),
    }
}
