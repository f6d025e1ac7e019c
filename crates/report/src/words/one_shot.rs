//! Audits with canaries of a known null distribution, in words.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::VerdictReason;
use dpscope_core::audit::one_run::OneRunFinding;
use dpscope_core::audit::one_shot::{CanaryDesign, OneShotResult};
use dpscope_core::format::{given, rounded};
use serde::{Deserialize, Serialize};

use super::headline::canary_headline;
use super::one_run::adjacency_in_words;
use crate::number::grouped;
use crate::record::{OneShotQuantity, OneShotSimulation, PrivacyUnit};

/// What a bound of 0 means where canaries left no trace.
pub const NO_ARRIVAL: &str =
    "No leak was detected, and there is no evidence that the canaries took part in the training.";

/// What a result that looks too good suggests.
pub const LOOK_FOR_AN_ERROR: &str = "Look for an error in the protocol first: canaries that were drawn \
    after the training, or took part more often or with a larger norm than stated.";

/// Canaries, their null distribution, and who attacks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneShotDesign {
    /// How their number was drawn.
    pub number: CanaryDesign,
    /// Canaries that were inserted.
    pub inserted: u64,
    /// Scores of canaries that are not in.
    pub null: CanaryNull,
    /// What the attacker sees.
    pub attacker: OneShotAttacker,
    /// Whose participation is protected.
    pub unit: PrivacyUnit,
    /// What the bound certifies.
    pub adjacency: Adjacency,
    /// Whether the plan was committed before the training, and verified.
    pub is_committed: bool,
}

impl OneShotDesign {
    /// What canaries of a design certify: slots are filled or left empty, others join.
    #[must_use]
    pub const fn certified(number: CanaryDesign) -> Adjacency {
        match number {
            CanaryDesign::Bernoulli { .. } => Adjacency::ZeroOut,
            CanaryDesign::Poisson { .. } | CanaryDesign::Fixed { .. } => Adjacency::AddRemove,
        }
    }
}

/// Where the scores of canaries that are not in come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CanaryNull {
    /// The exact distribution of the cosine of a uniform direction.
    Cosines {
        /// Dimension of the directions.
        dimension: u64,
    },
    /// Upper limits from fresh draws.
    FreshDraws {
        /// Number of draws.
        draws: u64,
    },
    /// All members of the pool from which canaries were drawn.
    Pool {
        /// Size of the pool.
        members: u64,
    },
}

/// What the attacker sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OneShotAttacker {
    /// The final model.
    FinalModel,
    /// Every server update, without the times of participation: the largest cosine.
    AllUpdates,
    /// Every server update, in all of which each client took part: the sum of updates of norm 1.
    SumOfUpdates,
    /// Every server update, and when each client took part.
    KnownServerRounds,
    /// The noisy sum of all canaries.
    NoisySum,
    /// Whatever the scores were computed from.
    Scores,
}

/// The bound for any training algorithm, with δ, confidence, unit and adjacency.
#[must_use]
pub fn one_shot_headline(result: &OneShotResult, design: &OneShotDesign) -> String {
    let question = result.question();
    let values = (result.bounds().epsilon, question.delta, question.significance);
    canary_headline(result.kind(), values, &one_shot_neighbours(design.unit, design.adjacency))
}

/// Unit and adjacency.
pub(crate) fn one_shot_neighbours(unit: PrivacyUnit, adjacency: Adjacency) -> String {
    let unit = match unit {
        PrivacyUnit::User => "user level, ",
        PrivacyUnit::Record => "",
    };
    format!("{unit}{}", adjacency_in_words(adjacency))
}

/// How many canaries there are, and how their number was drawn.
#[must_use]
pub fn canary_number_sentence(design: &OneShotDesign) -> String {
    let inserted = grouped(design.inserted);
    let source = match design.attacker {
        OneShotAttacker::NoisySum => "",
        _ if design.is_committed => "; drawn and committed before the training",
        _ => "",
    };
    match design.number {
        CanaryDesign::Poisson { mean } => format!(
            "{inserted} added; their number is a draw of a Poisson distribution of mean {}{source}",
            given(mean)
        ),
        CanaryDesign::Bernoulli { slots, inclusion } => format!(
            "{inserted} in {} slots, each filled with probability {}{source}",
            grouped(slots),
            given(inclusion)
        ),
        CanaryDesign::Fixed { .. } => format!(
            "{inserted} added, a fixed number{source}; a Poisson number gives a stronger bound"
        ),
    }
}

/// What is known of canaries that are not in.
#[must_use]
pub fn canary_null_sentence(null: CanaryNull) -> String {
    match null {
        CanaryNull::Cosines { dimension } => {
            format!("exact: cosines of uniform directions in {} dimensions", grouped(dimension))
        }
        CanaryNull::FreshDraws { draws } => {
            format!(
                "limits from {} fresh draws, which use a tenth of the significance",
                grouped(draws)
            )
        }
        CanaryNull::Pool { members } => {
            format!("exact: all {} members of the pool were scored", grouped(members))
        }
    }
}

/// What the attacker sees.
#[must_use]
pub const fn sees_sentence(attacker: OneShotAttacker) -> &'static str {
    match attacker {
        OneShotAttacker::FinalModel => {
            "an attacker who knows the update direction of a client and sees the final model; it says \
             nothing about attackers who see more"
        }
        OneShotAttacker::AllUpdates => {
            "an attacker who knows the update direction of a client and sees every server update"
        }
        OneShotAttacker::SumOfUpdates => {
            "an attacker who knows the update direction of a client and sees every server update, if \
             clients take part in most of them"
        }
        OneShotAttacker::KnownServerRounds => {
            "an attacker who knows the update direction of a client, sees every server update and knows \
             when the client took part: amplification by sampling is not tested"
        }
        OneShotAttacker::NoisySum => {
            "an attacker who knows the direction of a canary and sees the noisy sum"
        }
        OneShotAttacker::Scores => "an attacker who sees what the scores were computed from",
    }
}

/// What an attacker scores, in a list of attacks.
#[must_use]
pub const fn attacker_name(attacker: OneShotAttacker) -> &'static str {
    match attacker {
        OneShotAttacker::FinalModel => "final model",
        OneShotAttacker::AllUpdates => "largest update",
        OneShotAttacker::SumOfUpdates => "sum of updates",
        OneShotAttacker::KnownServerRounds => "known rounds",
        OneShotAttacker::NoisySum => "noisy sum",
        OneShotAttacker::Scores => "scores",
    }
}

/// The simulated mechanism with its privacy, and how its cosines were drawn.
#[must_use]
pub fn noisy_sum_sentence(simulation: &OneShotSimulation) -> String {
    let noise = given(simulation.noise_multiplier);
    let privacy = match (simulation.gdp_mu, simulation.epsilon) {
        (Some(mu), Some(epsilon)) => {
            format!("μ = {}, which is ε = {} at this δ", rounded(mu, 4), rounded(epsilon, 4))
        }
        (Some(mu), None) => format!("μ = {}, without a finite ε at this δ", rounded(mu, 4)),
        (None, _) => "no privacy".to_owned(),
    };
    let drawn = if simulation.is_full_dimension {
        "drawn in full dimension"
    } else {
        "cosines drawn by their joint distribution"
    };
    format!("the Gaussian mechanism with noise multiplier {noise}: {privacy}; {drawn}")
}

/// A bound or an estimate of many runs: the symbol in front of its value, and what it holds for.
#[must_use]
pub const fn one_shot_quantity(quantity: OneShotQuantity) -> (&'static str, &'static str) {
    match quantity {
        OneShotQuantity::Epsilon => ("ε ≥", "for any training algorithm"),
        OneShotQuantity::IndependentEpsilon => ("ε ≥", "for independent canaries"),
        OneShotQuantity::GdpMu => ("μ ≥", "for any training algorithm"),
        OneShotQuantity::IndependentGdpMu => ("μ ≥", "for independent canaries"),
        OneShotQuantity::MeanEstimate => ("ε ≈", "by the mean score"),
        OneShotQuantity::TwoGaussiansEstimate => ("ε ≈", "by two fitted Gaussians"),
    }
}

/// A rule that a page shows for the canaries of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OneShotRule {
    /// The bound on ε for any training algorithm.
    AnyMechanism,
    /// The bound on ε for independent canaries.
    Independent,
    /// The bound on μ for independent canaries of a Gaussian mechanism.
    Gaussian,
    /// The published rule, which is not a bound.
    Published,
}

/// Name and assumption of a rule.
#[must_use]
pub const fn one_shot_rule(rule: OneShotRule) -> (&'static str, &'static str) {
    match rule {
        OneShotRule::AnyMechanism => {
            ("Any mechanism", holds_for_sentence(CanaryDesign::Poisson { mean: 0.0 }))
        }
        OneShotRule::Independent => (
            "Independent canaries",
            "any training algorithm, if canaries do not influence each other",
        ),
        OneShotRule::Gaussian => (
            "Gaussian mechanism",
            "a bound on μ, if canaries do not influence each other and the mechanism is claimed to be \
             μ-GDP; its ε by the Gaussian curve refutes no (ε, δ) claim",
        ),
        OneShotRule::Published => (
            "Published rule",
            "not a bound: the largest of the limits at all canaries, each at the full significance",
        ),
    }
}

/// What the bound for any training algorithm assumes.
#[must_use]
pub const fn holds_for_sentence(number: CanaryDesign) -> &'static str {
    match number {
        CanaryDesign::Poisson { .. } => {
            "any training algorithm, if canaries are added and displace nothing else"
        }
        CanaryDesign::Bernoulli { .. } => {
            "any training algorithm, if an empty slot takes part with a zero update"
        }
        CanaryDesign::Fixed { .. } => {
            "any training algorithm that is claimed to be private at every number of clients or records, \
             if canaries are added and displace nothing else"
        }
    }
}

/// What a verdict means.
#[must_use]
pub fn one_shot_claim_sentence(
    reason: VerdictReason,
    design: &OneShotDesign,
    has_arrived: bool,
    findings: &[OneRunFinding],
) -> String {
    let says = match reason {
        VerdictReason::BoundExceedsClaim if design.attacker == OneShotAttacker::NoisySum => {
            "The simulated mechanism is not (ε, δ)-DP as claimed."
        }
        VerdictReason::BoundExceedsClaim if design.is_committed => {
            "The training that received these canaries is not (ε, δ)-DP as claimed, if their plan \
             was committed before it."
        }
        VerdictReason::BoundExceedsClaim => {
            "The training that received these canaries is not (ε, δ)-DP as claimed, if canaries \
             and their number were drawn, and the statistic was fixed, before the training."
        }
        VerdictReason::AttackMismatch => open_claim_sentence(findings),
        VerdictReason::CeilingWithinClaim => {
            "No scores of these canaries could have refuted the claim: it was not tested."
        }
        VerdictReason::BoundWithinClaim if !has_arrived => {
            "No leak was detected, and there is no evidence that the canaries took part in the \
             training. That says nothing about the claim."
        }
        VerdictReason::BoundWithinClaim => {
            "This audit did not find more leakage than was claimed. That proves nothing about the \
             claim."
        }
        _ => "The result is an estimate without coverage: it refutes nothing.",
    };
    if findings.iter().any(OneRunFinding::suggests_a_leak) {
        format!("{says} {LOOK_FOR_AN_ERROR}")
    } else {
        says.to_owned()
    }
}

/// Why a claim stays open that the bound does not exceed.
fn open_claim_sentence(findings: &[OneRunFinding]) -> &'static str {
    let has = |is_found: fn(&OneRunFinding) -> bool| findings.iter().any(is_found);
    if has(|finding| matches!(finding, OneRunFinding::ControlNotSeen { .. })) {
        "The control client is known to have taken part but is not seen, so this audit sees \
         nothing: the bound says nothing about the claim until the control is seen."
    } else if has(|finding| matches!(finding, OneRunFinding::SpreadTooSmall { .. })) {
        "The bound does not exceed the claim, but the scores are closer together than those of \
         different directions: with the right dimension and cosines, the audit may show more."
    } else if has(|finding| matches!(finding, OneRunFinding::NarrowScores { .. })) {
        "The bound does not exceed the claim, but the scores of canaries and null scores differ in their \
         unit: in the same unit, the audit may show more."
    } else if has(|finding| matches!(finding, OneRunFinding::ScoresReversed { .. })) {
        "The bound does not exceed the claim, but the scores are reversed: the other direction may show \
         more. Fix the direction before the next training."
    } else if has(OneRunFinding::means_no_scores) {
        "No canary has a score, so no leak could have been seen: the claim was not tested."
    } else {
        "The bound does not exceed the claim, but noise or weights of the server are not as stated: \
         the claim does not describe this training."
    }
}
