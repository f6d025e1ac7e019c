//! Audits by something that was drawn at random, in words.

use dpscope_core::accounting::Kind;
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::AdjacencyBounds;
use dpscope_core::audit::claim::VerdictReason;
use dpscope_core::audit::drawn::{
    DrawnFinding, DrawnGuesses, DrawnValue, OddsGuesses, SecretGuesses,
};
use dpscope_core::audit::one_run::rank_lengths;
use dpscope_core::audit::split::{SplitCounts, SplitGuesses, SplitSets};
use dpscope_core::format::{given, rounded};

use crate::number::{bound, confidence, counted, delta, grouped, plain};

/// What such a report is.
#[must_use]
pub const fn drawn_title(guesses: &DrawnGuesses) -> &'static str {
    match guesses {
        DrawnGuesses::Split(_) | DrawnGuesses::UsedSplit(_) => "Privacy audit of a random hold-out",
        DrawnGuesses::Secrets(_) => "Privacy audit by random secrets",
        DrawnGuesses::Odds(_) => "Privacy audit by guesses with known odds",
    }
}

/// The adjacencies of which guesses say something, that of the draw first; for splits, that of most
/// accountants.
#[must_use]
pub const fn drawn_adjacencies(guesses: &DrawnGuesses) -> &'static [Adjacency] {
    match guesses {
        DrawnGuesses::Split(_) | DrawnGuesses::UsedSplit(_) => {
            &[Adjacency::AddRemove, Adjacency::Replace]
        }
        DrawnGuesses::Odds(OddsGuesses { value: DrawnValue::Membership, .. }) => {
            &[Adjacency::AddRemove]
        }
        DrawnGuesses::Secrets(_) | DrawnGuesses::Odds(_) => {
            &[Adjacency::Replace, Adjacency::AddRemove]
        }
    }
}

/// What neighbours differ in.
const fn change(guesses: &DrawnGuesses, adjacency: Adjacency) -> &'static str {
    match (guesses, adjacency) {
        (DrawnGuesses::Split(_) | DrawnGuesses::UsedSplit(_), Adjacency::Replace) => {
            "replacing one"
        }
        (DrawnGuesses::Split(_) | DrawnGuesses::UsedSplit(_), _) => "adding or removing a row",
        (DrawnGuesses::Secrets(_), Adjacency::Replace) => "replacing a secret",
        (DrawnGuesses::Odds(_), Adjacency::Replace) => "replacing a label",
        (DrawnGuesses::Secrets(_) | DrawnGuesses::Odds(_), _) => "adding or removing a record",
    }
}

/// What the bounds assume.
#[must_use]
pub fn drawn_assumption(guesses: &DrawnGuesses) -> String {
    match guesses {
        DrawnGuesses::Split(split) | DrawnGuesses::UsedSplit(split) => format!(
            "the hold-out was drawn uniformly from these rows{}, independently of the rows themselves, of the \
             training and of the score; that no row was dropped after the draw for a reason that involves other \
             rows; and that {}",
            within_strata(split),
            match guesses {
                DrawnGuesses::UsedSplit(_) => {
                    "the claim covers what was selected by held-out rows, as well as the training"
                }
                _ => "held-out rows were used for nothing that the score sees",
            }
        ),
        DrawnGuesses::Secrets(secrets) => {
            let (drawn, decoys) = match secrets.has_decoys() {
                true => (
                    String::new(),
                    format!(
                        " that its {} were drawn without replacement from the other values, and never \
                         trained on;",
                        counted(secrets.values().saturating_sub(1), "decoy")
                    ),
                ),
                false => (format!(" from {} values", grouped(secrets.values())), String::new()),
            };
            format!(
                "the secret of each record was drawn uniformly{drawn}, independently of everything else;{decoys} \
                 and that the attack sees secrets only through the training"
            )
        }
        DrawnGuesses::Odds(odds) => {
            let drawn = match odds.value {
                DrawnValue::Membership => "each record was included independently of all others",
                DrawnValue::Label => "each label was drawn independently of all others",
            };
            format!(
                "{drawn}, with the stated probability{}, and that guesses know the draws only through the \
                 training",
                match odds.odds_factor > 1.0 {
                    true => format!(" or odds within a factor of {}", given(odds.odds_factor)),
                    false => String::new(),
                }
            )
        }
    }
}

/// The bounds in one line.
#[must_use]
pub fn drawn_headline(
    guesses: &DrawnGuesses,
    bounds: &AdjacencyBounds,
    (at, significance): (f64, f64),
) -> String {
    let of = |&adjacency: &Adjacency| {
        let epsilon = plain(bounds.of(adjacency), Kind::Lower, 4);
        format!("≥ {epsilon} for {}", change(guesses, adjacency))
    };
    let shown: Vec<String> = drawn_adjacencies(guesses).iter().map(of).collect();
    let condition = match guesses {
        DrawnGuesses::UsedSplit(_) => ", of training and selection together".to_owned(),
        DrawnGuesses::Odds(odds) if odds.odds_factor > 1.0 => {
            format!(", if the stated odds are right within a factor of {}", given(odds.odds_factor))
        }
        _ => String::new(),
    };
    format!(
        "ε {}, at δ = {}, with {} confidence{condition}",
        shown.join(", and "),
        delta(at),
        confidence(significance)
    )
}

/// What a verdict means.
#[must_use]
pub fn drawn_claim_sentence(
    reason: VerdictReason,
    guesses: &DrawnGuesses,
    claimed: Adjacency,
) -> String {
    let is_membership =
        matches!(guesses, DrawnGuesses::Odds(odds) if odds.value == DrawnValue::Membership);
    if is_membership && claimed == Adjacency::Replace {
        return "Guesses of memberships bound ε for adding or removing a record alone: the claim was not tested. \
                Audit a split, or guesses of labels."
            .to_owned();
    }
    let [condition, units, remedy, unable] = match guesses {
        DrawnGuesses::Split(split) | DrawnGuesses::UsedSplit(split) => [
            format!(
                "the hold-out was drawn uniformly from these {} rows{}",
                grouped(split.members().saturating_add(split.non_members())),
                within_strata(split)
            ),
            "rows".to_owned(),
            "Hold out more rows, or name more of them".to_owned(),
            "does not distinguish members from non-members".to_owned(),
        ],
        DrawnGuesses::Secrets(secrets) => [
            match secrets.has_decoys() {
                true => "secrets were uniform, and decoys were drawn as stated".to_owned(),
                false => format!("secrets were uniform on {} values", grouped(secrets.values())),
            },
            "secrets".to_owned(),
            match secrets {
                SecretGuesses::Ranks { .. } => {
                    "Testing several list lengths together costs power: fix one (--list-length) before the next training"
                }
                SecretGuesses::Lists { records, guesses, .. } if guesses < records => {
                    "Guess more of them, or draw them from more values"
                }
                SecretGuesses::Lists { .. } => "Plant more of them, or draw them from more values",
            }
            .to_owned(),
            "does not distinguish secrets from other values".to_owned(),
        ],
        DrawnGuesses::Odds(_) => [
            "the draws had the stated odds".to_owned(),
            "guesses".to_owned(),
            "Guess more".to_owned(),
            "does not guess".to_owned(),
        ],
    };
    match reason {
        VerdictReason::BoundExceedsClaim => {
            let subject = match guesses {
                DrawnGuesses::UsedSplit(_) => "Training and selection together are",
                _ => "The training is",
            };
            format!("{subject} not (ε, δ)-DP as claimed, if {condition}.")
        }
        VerdictReason::AttackMismatch => format!(
            "The bound does not exceed the claim, but {}. Fix the direction before the next training.",
            reversed(guesses)
        ),
        VerdictReason::CeilingWithinClaim => format!(
            "Even if all guesses were correct, these {units} could not refute the claim: it was not tested. \
             {remedy}."
        ),
        VerdictReason::BoundAssumesMore => {
            "A bound for odds that are only known within a factor decides no \
             claim: it holds if the factor does."
                .to_owned()
        }
        _ => format!(
            "This attack {unable} better than the claim allows. That proves nothing about the claim."
        ),
    }
}

/// How a bound speaks about a claim's adjacency.
#[must_use]
pub const fn drawn_adjacency_sentence(claimed: Adjacency, guesses: &DrawnGuesses) -> &'static str {
    let is_split = matches!(guesses, DrawnGuesses::Split(_) | DrawnGuesses::UsedSplit(_));
    let is_membership =
        matches!(guesses, DrawnGuesses::Odds(OddsGuesses { value: DrawnValue::Membership, .. }));
    match (claimed, is_split) {
        (Adjacency::Replace, _) if is_membership => {
            "the claim is for replacing a record, for which these guesses have no bound"
        }
        (Adjacency::Replace, true) => "claim and bound are both for replacing a row",
        (Adjacency::Replace, false) => "claim and bound are both for replacing a record",
        (Adjacency::AddRemove, true) => "claim and bound are both for adding or removing a row",
        (Adjacency::AddRemove, false) => "claim and bound are both for adding or removing a record",
        (Adjacency::ZeroOut, _) => {
            "a zero-out claim is compared with the bound for adding or removing a record; for DP-SGD they \
             are the same unless another record takes its place in the batch"
        }
    }
}

/// What was drawn: a label and its text.
#[must_use]
pub fn drawn_subject(guesses: &DrawnGuesses) -> (&'static str, String) {
    match guesses {
        DrawnGuesses::Split(split) | DrawnGuesses::UsedSplit(split) => {
            let members = counted(split.members(), "row");
            let text = format!(
                "{members} that were trained on, {} held out",
                grouped(split.non_members())
            );
            ("split", text)
        }
        DrawnGuesses::Secrets(secrets) => {
            let records = counted(secrets.records(), "record");
            let kind = if secrets.has_decoys() { "candidates" } else { "values" };
            ("secrets", format!("{records}, each with one of {} {kind}", grouped(secrets.values())))
        }
        DrawnGuesses::Odds(odds) => {
            let drawn = match odds.value {
                DrawnValue::Membership => "included",
                DrawnValue::Label => "labelled 1",
            };
            let probabilities = || odds.classes.iter().map(|class| class.inclusion);
            let least = probabilities().fold(1.0, f64::min);
            let most = probabilities().fold(0.0, f64::max);
            let range = match least < most {
                true => format!("probabilities from {} to {}", rounded(least, 4), rounded(most, 4)),
                false => format!("probability {}", given(least)),
            };
            ("odds", format!("{}, {drawn} with {range}", counted(odds.canaries(), "record")))
        }
    }
}

/// How guesses were made, a line for each side and stratum.
#[must_use]
pub fn drawn_guesses_in_words(guesses: &DrawnGuesses) -> Vec<String> {
    match guesses {
        DrawnGuesses::Split(split) | DrawnGuesses::UsedSplit(split) => split_in_words(split),
        DrawnGuesses::Secrets(secrets) => vec![secrets_in_words(secrets)],
        DrawnGuesses::Odds(odds) => {
            let of = |guesses: u64, says: &str| {
                let noun = if guesses == 1 { "guess that says" } else { "guesses that say" };
                (guesses > 0).then(|| format!("{} {noun} {says}", grouped(guesses)))
            };
            let [says_in, says_out] = match odds.value {
                DrawnValue::Membership => ["\"included\"", "\"not included\""],
                DrawnValue::Label => ["1", "0"],
            };
            let ins = odds.classes.iter().map(|class| class.guesses_in).sum();
            let outs = odds.classes.iter().map(|class| class.guesses_out).sum();
            let said: Vec<String> =
                [of(ins, says_in), of(outs, says_out)].into_iter().flatten().collect();
            vec![format!("{}; {} correct", said.join(", "), grouped(odds.correct))]
        }
    }
}

/// Most counts of ranks that are shown.
const MOST_STEPS: usize = 4;

fn secrets_in_words(secrets: &SecretGuesses) -> String {
    match secrets {
        SecretGuesses::Lists { list_length, guesses, correct, .. } => format!(
            "{} for each of {}; {}",
            counted(*list_length, "value"),
            counted(*guesses, "guessed secret"),
            match list_length {
                1 => format!("{} correct", grouped(*correct)),
                _ => format!("{} have the true one among them", grouped(*correct)),
            }
        ),
        SecretGuesses::Ranks { records, within, .. } => {
            let lengths = rank_lengths(secrets.values()).into_iter().zip(within.iter().copied());
            let mut before = 0;
            let steps = lengths.filter(|&(_, count)| std::mem::replace(&mut before, count) < count);
            let steps: Vec<(u64, u64)> = steps.collect();
            // the first of them and every so many that follow
            let stride = steps.len().div_ceil(MOST_STEPS).max(1);
            let shown: Vec<String> = steps
                .iter()
                .step_by(stride)
                .map(|&(length, count)| {
                    format!("{} with rank ≤ {}", grouped(count), grouped(length))
                })
                .collect();
            match shown.is_empty() {
                true => format!("of {} ranks, none is in the better half", grouped(*records)),
                false => format!("of {} ranks, {}", grouped(*records), shown.join(", ")),
            }
        }
    }
}

fn split_in_words(guesses: &SplitGuesses) -> Vec<String> {
    match guesses {
        SplitGuesses::Cut { strata } => {
            let several = strata.len() > 1;
            let lines = strata.iter().enumerate().map(|(index, counts)| {
                let text = named_in_words(counts);
                if several { format!("stratum {}: {text}", index + 1) } else { text }
            });
            let is_named = |side: fn(&SplitCounts) -> u64| strata.iter().any(|it| side(it) > 0);
            let are_both = is_named(|it| it.guesses_in) && is_named(|it| it.guesses_out);
            let both = "each side is tested at half the significance; the larger bound holds";
            lines.chain(are_both.then(|| both.to_owned())).collect()
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

/// The most that could have been shown.
#[must_use]
pub fn drawn_ceiling_in_words(guesses: &DrawnGuesses, ceilings: &AdjacencyBounds) -> String {
    let of = |&adjacency: &Adjacency| {
        let name = match adjacency {
            Adjacency::Replace => "replace",
            Adjacency::AddRemove | Adjacency::ZeroOut => "add or remove",
        };
        format!("{} ({name})", plain(ceilings.of(adjacency), Kind::Lower, 4))
    };
    let shown: Vec<String> = drawn_adjacencies(guesses).iter().map(of).collect();
    let verb = if shown.len() > 1 { "are" } else { "is" };
    format!("ε {} {verb} the most that these guesses can show", shown.join(" and "))
}

/// Where rows were drawn, if not from all of them.
fn within_strata(split: &SplitGuesses) -> &'static str {
    match split {
        SplitGuesses::Cut { strata } if strata.len() > 1 => ", within each stratum",
        _ => "",
    }
}

/// What reversed scores look like.
const fn reversed(guesses: &DrawnGuesses) -> &'static str {
    match guesses {
        DrawnGuesses::Secrets(_) => {
            "in the stated direction, other values look more like secrets than the true ones do"
        }
        DrawnGuesses::Split(_) | DrawnGuesses::UsedSplit(_) | DrawnGuesses::Odds(_) => {
            "in the stated direction, non-members look more like members than members do"
        }
    }
}

/// What a finding says.
#[must_use]
pub fn drawn_finding_sentence(finding: &DrawnFinding, guesses: &DrawnGuesses) -> String {
    match *finding {
        DrawnFinding::TiedScores { share } => format!(
            "{} % of the {}; equal scores count against the attack, and a finer score may show more",
            rounded(100.0 * share, 0),
            match guesses {
                DrawnGuesses::Secrets(_) => "true secrets share their score with another value",
                _ => "rows share their score with another one",
            }
        ),
        DrawnFinding::ScoresReversed { auc } => format!(
            "{} (AUC {}); a direction chosen after a look at the scores has no bound",
            reversed(guesses),
            rounded(auc, 3)
        ),
        DrawnFinding::AllCorrect { guesses: all } => format!(
            "every guess of {} is correct, which is suspicious: {}, before you blame the training",
            grouped(all),
            match guesses {
                DrawnGuesses::Split(_) | DrawnGuesses::UsedSplit(_) => {
                    "look for a score that saw the sides, such as one scaled by the members alone"
                }
                DrawnGuesses::Secrets(_) => {
                    "look for a secret in the prompt, in another record or in the base data, and for decoys \
                     that are easier than secrets"
                }
                DrawnGuesses::Odds(_) => "look for guesses that saw what was drawn",
            }
        ),
        DrawnFinding::FarAboveClaim { epsilon, claimed } => format!(
            "ε ≥ {} is more than three times the claim of {}: first check that {}",
            bound(epsilon, false, 2),
            given(claimed),
            match guesses {
                DrawnGuesses::Split(_) | DrawnGuesses::UsedSplit(_) => {
                    "the hold-out was random and that the score did not see the sides"
                }
                DrawnGuesses::Secrets(_) => {
                    "secrets occur in no prompt and no other record, and that decoys are no easier than secrets"
                }
                DrawnGuesses::Odds(_) =>
                    "the draws had the stated odds and that guesses did not see them",
            }
        ),
    }
}
