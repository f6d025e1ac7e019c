//! What scores and coins of one run indicate about protocol and code.

use crate::audit::claim::{ClaimVerdict, VerdictReason};
use crate::audit::repeats::Repeats;

/// A finding about the canaries, coins or scores of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "code", content = "data", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum OneRunFinding {
    /// Coins repeat or alternate along the file.
    CoinsFollowOrder {
        /// Chance of such a pattern with fair coins.
        p_value: f64,
    },
    /// Exactly half of the canaries are included: they were matched into pairs.
    ExactlyHalf {
        /// Number of pairs.
        pairs: u64,
    },
    /// The number of included canaries suggests a draw of a fixed number; the bound allows for it.
    FixedSizeInclusion {
        /// Number of included canaries.
        included: u64,
        /// All canaries.
        canaries: u64,
        /// Chance that the number from independent coins is as close to its mean: within less than 1.
        chance_with_coins: f64,
    },
    /// Canaries without a score; their guesses count as wrong.
    FailedScores {
        /// NaN scores.
        count: u64,
        /// All canaries.
        canaries: u64,
    },
    /// Steps in which more than half of the projections are equal; calibrated scores leave them out.
    NoiseMissing {
        /// Number of these steps.
        skipped_steps: u64,
        /// Steps of all runs.
        steps: u64,
    },
    /// Scores recur as copies do, and not as ties of independent scores.
    RepeatedScores {
        /// Whose scores, and where they recur.
        scores: RepeatedScores,
        /// Number of different scores that occur equally often.
        values: u64,
        /// How often each of them occurs; of cosines, the most often.
        times: u64,
        /// The largest probability of it for independent scores.
        p_value: f64,
    },
    /// The design yields such a number of canaries with a probability below 10⁻⁵.
    NumberOutsideDesign {
        /// The number.
        canaries: u64,
        /// Its mean by the design.
        expected: f64,
    },
    /// Most canaries share their score with another one.
    TiedScores {
        /// Share of the canaries.
        share: f64,
    },
    /// Scores rise or fall along the file.
    ScoresFollowOrder {
        /// Spearman's rank correlation.
        correlation: f64,
        /// Its two-sided p-value.
        p_value: f64,
    },
    /// Included canaries have lower scores than the others.
    ScoresReversed {
        /// Share of the pairs in which the included canary has the larger score.
        auc: f64,
    },
    /// Fewer guesses are correct than by chance.
    FewCorrect {
        /// Number of guesses.
        guesses: u64,
        /// Number of correct guesses.
        correct: u64,
        /// Chance of so few.
        p_value: f64,
    },
    /// Every guess is correct, of at least half of the canaries.
    AllCorrect {
        /// Number of guesses.
        guesses: u64,
        /// Number of canaries or sets.
        canaries: u64,
    },
    /// The bound exceeds three times the claim.
    FarAboveClaim {
        /// The bound.
        epsilon: f64,
        /// The claim.
        claimed: f64,
    },
    /// Other scores of the same committed coins were audited before.
    SecondScores,
    /// Canaries that equal another one.
    EqualCanaries {
        /// Number of canaries with an equal one before them.
        copies: u64,
        /// All canaries.
        canaries: u64,
    },
    /// Trainings that diverged.
    FailedTrainings {
        /// Number of trainings without scores.
        count: u64,
        /// All trainings.
        trainings: u64,
    },
    /// No canary of a known null distribution has a score: no leak could have been seen.
    NoScores {
        /// All canaries.
        canaries: u64,
    },
    /// Canaries without a cosine: they count as canaries with p = 1.
    MissingCosines {
        /// Number of canaries without a cosine.
        count: u64,
        /// All canaries.
        canaries: u64,
    },
    /// Canaries point against the direction in which the training moved.
    CosinesReversed {
        /// Mean of the normal scores times √K.
        z: f64,
    },
    /// A canary points further against the training than any direction that no client sent.
    FarBelowNull {
        /// Its normal score.
        score: f64,
    },
    /// Scores of included canaries are much closer together than null scores, and not above them.
    NarrowScores {
        /// Variance of their normal scores; 1 is expected.
        dispersion: f64,
    },
    /// Normal scores are further apart than one Gaussian sum with equal canaries leaves them.
    UnequalWeights {
        /// Their variance; 1 is expected.
        dispersion: f64,
    },
    /// Normal scores are closer together than those of different directions.
    SpreadTooSmall {
        /// Their variance; 1 is expected.
        dispersion: f64,
    },
    /// Canaries stand out as with hardly any noise.
    LittleNoise {
        /// Lower limit of μ.
        gdp_mu: f64,
    },
    /// Canaries that were not in do not have uniform p-values.
    UnseenNotUniform {
        /// Distance of the distributions, of Kolmogorov and Smirnov.
        distance: f64,
        /// Canaries that were not in.
        unseen: u64,
    },
    /// The norm of an update refutes the stated noise multiplier.
    NoiseBelowStated {
        /// Upper limit of the noise multiplier.
        noise_multiplier: f64,
        /// The stated one.
        stated: f64,
        /// The server round, from 1.
        server_round: u64,
    },
    /// An update has less new noise than stated, beside that of earlier ones.
    NoiseReused {
        /// Upper limit of the noise multiplier of new noise.
        noise_multiplier: f64,
        /// The stated one.
        stated: f64,
        /// The server round, from 1.
        server_round: u64,
    },
    /// Canaries arrive with another norm than the stated clipping norm.
    CanaryWeight {
        /// Their mean norm in units of the clipping norm.
        weight: f64,
        /// Its standard error.
        standard_error: f64,
        /// Number of clients that the server divides by; 1 for sums.
        planned_clients: u64,
    },
    /// Fewer clients replied than the server planned, and their mean is less noisy.
    FewReplies {
        /// Clients that replied.
        replies: u64,
        /// Planned clients.
        planned: u64,
        /// The server round, from 1.
        server_round: u64,
        /// What is left of the noise multiplier.
        noise_multiplier: f64,
    },
    /// Clients have different weights in the mean.
    UnequalReplies {
        /// What is left of the noise multiplier for the client with the largest weight.
        noise_multiplier: f64,
        /// The stated one.
        stated: f64,
        /// The server round, from 1.
        server_round: u64,
    },
    /// The norm at which canaries arrive follows what the plan declared about them.
    ArrivalFollowsClass {
        /// What was declared.
        class: CanaryClass,
        /// Units of the clipping norm per declared unit.
        slope: f64,
        /// Its standard error.
        standard_error: f64,
        /// Its two-sided p-value.
        p_value: f64,
        /// Norm of a canary with the least declared number, in units of the clipping norm.
        least: f64,
        /// Norm of a canary with the largest declared number, in units of the clipping norm.
        most: f64,
        /// What is left of the noise multiplier for it.
        noise_multiplier: f64,
        /// The stated one.
        stated: f64,
    },
    /// Scores follow what the plan declared about the canaries.
    ScoresFollowClass {
        /// What was declared.
        class: CanaryClass,
        /// Normal score per declared unit.
        slope: f64,
        /// Its standard error.
        standard_error: f64,
        /// Its two-sided p-value.
        p_value: f64,
    },
    /// Canaries stand out more than clients that take part as often as claimed.
    ParticipationAboveClaimed {
        /// Claimed server rounds of each client.
        participations: u64,
        /// The mean normal score.
        mean_score: f64,
        /// The largest one with the claimed participation.
        claimed: f64,
    },
    /// A control client that is known to have taken part is not seen.
    ControlNotSeen {
        /// Its p-value.
        p_value: f64,
    },
    /// A control client that did not take part is seen.
    ControlSeen {
        /// Logarithm of its p-value; −∞ (null in JSON) where the update is the direction of the control.
        #[cfg_attr(feature = "serde", serde(deserialize_with = "null_as_minus_infinity"))]
        ln_p: f64,
    },
    /// Canaries that are also records of the base data.
    CanariesInBaseData {
        /// Number of canaries that equal a record.
        copies: u64,
        /// All canaries.
        canaries: u64,
    },
}

#[cfg(feature = "serde")]
fn null_as_minus_infinity<'de, D: serde::Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    let number: Option<f64> = serde::Deserialize::deserialize(value)?;
    Ok(number.unwrap_or(f64::NEG_INFINITY))
}

/// Scores that occur several times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum RepeatedScores {
    /// Canaries with the scores of others.
    Canaries,
    /// Null scores that equal others.
    Null,
    /// Null scores that are those of canaries.
    CanariesInNull,
    /// Equal cosines, which different directions do not have.
    Cosines,
}

/// What a plan declares about each canary by lot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum CanaryClass {
    /// The number of examples that it reports.
    Weight,
    /// The norm that it sends, in units of the clipping norm.
    Loudness,
}

impl CanaryClass {
    /// Every class.
    pub const ALL: [Self; 2] = [Self::Weight, Self::Loudness];

    /// The class that is drawn beside this one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Weight => Self::Loudness,
            Self::Loudness => Self::Weight,
        }
    }
}

/// A bound above this multiple of a claim suggests a leak of the protocol.
const FAR_ABOVE: f64 = 3.0;

impl OneRunFinding {
    /// Whether the finding invalidates the coverage of a bound, which leaves an estimate.
    #[must_use]
    pub const fn costs_coverage(&self) -> bool {
        matches!(
            self,
            OneRunFinding::CoinsFollowOrder { .. }
                | OneRunFinding::SecondScores
                | OneRunFinding::RepeatedScores { .. }
                | OneRunFinding::NumberOutsideDesign { .. }
                | OneRunFinding::UnseenNotUniform { .. }
                | OneRunFinding::CosinesReversed { .. }
                | OneRunFinding::FarBelowNull { .. }
                | OneRunFinding::ControlSeen { .. }
        )
    }

    /// Whether a corrected attack on the same training may find more, there was none, or the training
    /// differs from what the claim is about, so that a claim that the bound does not refute stays open.
    #[must_use]
    pub const fn leaves_claims_open(&self) -> bool {
        matches!(
            self,
            OneRunFinding::ScoresReversed { .. }
                | OneRunFinding::FewCorrect { .. }
                | OneRunFinding::ControlNotSeen { .. }
                | OneRunFinding::NoScores { .. }
                | OneRunFinding::SpreadTooSmall { .. }
                | OneRunFinding::NarrowScores { .. }
        ) || self.concerns_the_server()
    }

    /// The verdict on a claim, from what the bound alone says of it.
    pub(crate) fn verdict(findings: &[Self], by_bound: VerdictReason) -> ClaimVerdict {
        ClaimVerdict::from(if findings.iter().any(Self::costs_coverage) {
            VerdictReason::CoverageLost
        } else {
            by_bound.or_mismatch(findings.iter().any(Self::leaves_claims_open))
        })
    }

    /// Whether no canary has a score.
    #[must_use]
    pub const fn means_no_scores(&self) -> bool {
        matches!(self, OneRunFinding::NoScores { .. })
    }

    /// Whether noise, weights or replies of a server are not as stated.
    #[must_use]
    pub const fn concerns_the_server(&self) -> bool {
        matches!(
            self,
            OneRunFinding::NoiseBelowStated { .. }
                | OneRunFinding::NoiseReused { .. }
                | OneRunFinding::CanaryWeight { .. }
                | OneRunFinding::FewReplies { .. }
                | OneRunFinding::UnequalReplies { .. }
                | OneRunFinding::ArrivalFollowsClass { .. }
                | OneRunFinding::ScoresFollowClass { .. }
                | OneRunFinding::ParticipationAboveClaimed { .. }
        )
    }

    /// Whether the finding suggests that the scores know the coins in another way than through the
    /// training.
    #[must_use]
    pub const fn suggests_a_leak(&self) -> bool {
        matches!(self, OneRunFinding::AllCorrect { .. } | OneRunFinding::FarAboveClaim { .. })
    }

    /// A bound above three times a claim.
    #[must_use]
    pub fn far_above_claim(epsilon: f64, claimed: f64) -> Option<Self> {
        let is_far = epsilon > FAR_ABOVE * claimed;
        is_far.then_some(OneRunFinding::FarAboveClaim { epsilon, claimed })
    }

    /// Repeats of scores.
    pub(in crate::audit) const fn repeated(scores: RepeatedScores, found: Repeats) -> Self {
        let Repeats { values, times, p_value } = found;
        OneRunFinding::RepeatedScores { scores, values, times, p_value }
    }

    /// All of at least half of the canaries, and of at least 20, guessed correctly.
    #[must_use]
    pub(super) fn all_correct(guesses: u64, correct: u64, canaries: u64) -> Option<Self> {
        let is_notable = correct == guesses && 2 * guesses >= canaries && guesses >= 20;
        is_notable.then_some(OneRunFinding::AllCorrect { guesses, canaries })
    }
}
