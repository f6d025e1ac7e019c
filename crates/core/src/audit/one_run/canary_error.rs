//! Canaries, scores and coins that cannot be audited.

use super::OneRunError;
use crate::format::given;

/// Something that coins must not depend on, known before the training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum CanaryFeature {
    /// The place of the canary in the file.
    Index,
    /// Its label.
    Label,
    /// The mean of its input.
    InputMean,
    /// The Euclidean norm of its input.
    InputNorm,
    /// Its score before training, or by a model that was trained without canaries.
    Baseline,
}

impl CanaryFeature {
    /// What to do where canaries differ in it.
    const fn remedy(self) -> &'static str {
        match self {
            CanaryFeature::Index => {
                "draw them anew, with the canaries fixed first, or, if a list only has the included ones \
                 first, give canaries and coins in the order that they had when the coins were drawn"
            }
            _ => "draw them anew, with the canaries fixed first",
        }
    }

    /// In words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            CanaryFeature::Index => "their place in the file",
            CanaryFeature::Label => "their labels",
            CanaryFeature::InputMean => "the means of their inputs",
            CanaryFeature::InputNorm => "the norms of their inputs",
            CanaryFeature::Baseline => "their baseline scores",
        }
    }
}

/// How canaries were drawn, judging by the number of included ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InferredDraw {
    /// Exactly half, without replacement.
    #[error(
        "exactly half of the {canaries} canaries are included, so they are audited as {} pairs",
        canaries / 2
    )]
    ExactlyHalf {
        /// Number of canaries.
        canaries: usize,
    },
    /// A fixed number, without replacement.
    #[error(
        "{included} of {canaries} canaries are included, which suggests a draw of a fixed number; the bound allows for it"
    )]
    FixedSize {
        /// Number of included canaries.
        included: u64,
        /// Number of canaries.
        canaries: u64,
    },
}

fn stated(inclusion: f64) -> String {
    match inclusion {
        0.5 => "fair; if they had a known probability, state it".to_owned(),
        other => format!("drawn with probability {}", given(other)),
    }
}

/// Canaries, scores or coins without a valid bound.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CanaryError {
    /// Fewer than five canaries or sets.
    #[error("{units} {what}: at least 5 are needed", what = if *.is_sets { "sets" } else { "canaries" })]
    TooFew {
        /// Canaries or sets.
        units: u64,
        /// Whether they are sets.
        is_sets: bool,
    },
    /// Arrays of different lengths.
    #[error("{found} {what} for {expected} canaries: pass one for each canary")]
    Length {
        /// What was counted.
        what: &'static str,
        /// Their number.
        found: usize,
        /// Number of canaries.
        expected: usize,
    },
    /// More than 1 % of the scores are NaN.
    #[error(
        "{count} of {canaries} scores are NaN, the first at index {first}: above 1 %, the scorer is \
         broken; repair it"
    )]
    NotANumber {
        /// NaN scores.
        count: usize,
        /// All scores.
        canaries: usize,
        /// Index of the first.
        first: usize,
    },
    /// An infinite score.
    #[error(
        "the score at index {index} is infinite, and scores must be finite; only their order counts, so \
         replace infinities by numbers beyond all other scores"
    )]
    Infinite {
        /// Its index.
        index: usize,
    },
    /// All scores are equal.
    #[error("all {canaries} scores are equal: they order no canaries; check the scorer")]
    Constant {
        /// Number of scores.
        canaries: usize,
    },
    /// Coins that are not fair.
    #[error(
        "{included} of {canaries} canaries are included (p = {p}): the coins were not {fair}",
        p = given(*.p_value), fair = stated(*.inclusion)
    )]
    Unbalanced {
        /// Number of included canaries.
        included: u64,
        /// Number of canaries.
        canaries: u64,
        /// The stated probability of inclusion.
        inclusion: f64,
        /// Chance of so large a difference with such coins.
        p_value: f64,
    },
    /// Included and other canaries differ in something that was known before the training.
    #[error(
        "included and other canaries differ in {what} before any training (p = {p}): the coins were \
         not drawn independently of the canaries; {remedy}",
        what = feature.name(), p = given(*.p_value), remedy = feature.remedy()
    )]
    DifferBefore {
        /// What they differ in.
        feature: CanaryFeature,
        /// Chance of so large a difference with fair coins.
        p_value: f64,
    },
    /// Scores that follow the coins of another run than their own.
    #[error(
        "the scores of run {scores} follow the coins of run {coins}, and not their own; give the scores \
             in the order of the runs"
    )]
    OtherRun {
        /// Place of the scores, from 1.
        scores: usize,
        /// Place of the coins that they follow, from 1.
        coins: usize,
    },
    /// Two runs have the same scores.
    #[error(
        "the scores of run {second} are those of run {first}; give the scores of each run once"
    )]
    SameScores {
        /// Place of the run, from 1.
        first: usize,
        /// Place of the run with the same scores.
        second: usize,
    },
    /// A set without exactly one included canary.
    #[error("set {set} has {included} included canaries: exactly one of each set is included")]
    Set {
        /// Number of the set.
        set: u64,
        /// Its included canaries.
        included: usize,
    },
    /// Sets of different sizes, or of one canary.
    #[error(
        "set {set} has {found} canaries, another {expected}: all sets have one size, at least 2"
    )]
    SetSize {
        /// Number of the set.
        set: u64,
        /// Its canaries.
        found: usize,
        /// Canaries of the first set.
        expected: usize,
    },
    /// As many included as other canaries were expected.
    #[error("{included} of {canaries} canaries are included: a matching needs exactly half")]
    NotHalf {
        /// Number of included canaries.
        included: usize,
        /// Number of canaries.
        canaries: usize,
    },
    /// Guesses of one kind for sets.
    #[error("a guess about a set names its included canary, so fix the number of guesses alone")]
    SidesOfSets,
    /// No result could reach a bound above 0.
    #[error(
        "{guesses} guesses of {canaries} canaries show nothing at delta = {}, even if all are \
         correct: raise the guesses, lower the canaries or delta, or guess one side only",
        given(*.delta)
    )]
    NoPower {
        /// Guesses.
        guesses: u64,
        /// Canaries or sets.
        canaries: u64,
        /// The smallest δ.
        delta: f64,
    },
    /// A claimed curve, and a number of guesses that was not fixed.
    #[error(
        "a claimed training is tested with one number of guesses, fixed before the coins were drawn"
    )]
    CurveWithoutFixedGuesses,
    /// Runs of a plan with a fixed number of guesses that were not made.
    #[error(
        "{runs} of {planned} planned runs have scores; a fixed number of guesses needs all of \
         them; pass the scores of every run"
    )]
    MissingRuns {
        /// Runs.
        runs: usize,
        /// Runs of the plan.
        planned: u64,
    },
    /// Coins that are not fair, and guesses of both sides.
    #[error(
        "the canaries were included with probability {}: biased coins have a bound only for \
         one-sided guesses, of a number fixed beforehand",
        given(*.inclusion)
    )]
    BothSidesOfUnfairCoins {
        /// The probability π.
        inclusion: f64,
    },
    /// A problem of a design that was inferred from the number of included canaries.
    #[error("{draw}: {problem}")]
    Inferred {
        /// How canaries seem to have been drawn.
        draw: InferredDraw,
        /// What is impossible with this draw.
        problem: Box<CanaryError>,
    },
    /// The list of δ is empty.
    #[error("no delta: pass at least one")]
    NoDelta,
    /// An argument outside its domain.
    #[error(transparent)]
    OneRun(#[from] OneRunError),
}

impl CanaryError {
    /// Adds the inferred draw to the problem, if the draw causes it.
    pub(super) fn of_draw(self, draw: Option<InferredDraw>) -> Self {
        let is_of_pairs = matches!(
            self,
            Self::TooFew { .. } | Self::SidesOfSets | Self::OneRun(OneRunError::Guesses { .. })
        );
        let are_pairs = matches!(draw, Some(InferredDraw::ExactlyHalf { .. }));
        let is_caused = matches!(self, Self::NoPower { .. }) || is_of_pairs && are_pairs;
        match draw.filter(|_| is_caused) {
            Some(draw) => Self::Inferred { draw, problem: Box::new(self) },
            None => self,
        }
    }
}
