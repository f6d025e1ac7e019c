//! Plans of audits of one run.

use dpscope_core::audit::one_run::GuessRule;
use dpscope_core::mechanism::BatchedGaussian;
use dpscope_core::random::{Purpose, stream_words};
use dpscope_simulation::{TrainingDigest, decimal};
use serde::{Deserialize, Serialize};

use super::evidence::{OneRunEvidence, OneRunScore};
use super::settings::OneRunDescription;
use super::training::OneRunTraining;
use crate::TrainError;
use crate::canary::SHARED_STREAM;

/// Maximum number of scores of a plan: canaries times models.
const MAX_SCORES: u64 = 1 << 20;

/// Maximum number of δ.
const MAX_DELTAS: usize = 64;

/// Everything that determines the result of an audit with m canaries: training, coins, guesses and
/// statement. Two runs of one plan have the same scores.
///
/// Units 0 … R − 1 are the repeats, each a training with coins of its own; units R … R + K − 1 are
/// reference models, whose coins are spent on calibration. All R·m canaries of the repeats form one
/// game, and R is fixed here, before any coin is seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneRunPlan {
    /// The mechanism; its threat model is target-canary.
    pub mechanism: BatchedGaussian,
    /// Number of canaries m, at least 5.
    pub canaries: u32,
    /// Number of audited trainings R, at least 1.
    pub repeats: u32,
    /// Number of reference models K; scores are calibrated if it is not 0.
    pub references: u32,
    /// The score that is ranked.
    pub score: OneRunScore,
    /// Which of the R·m canaries are guessed. Under Poisson sampling an included canary may be in no
    /// batch, so that guessing only "included" gives a stronger bound.
    pub rule: GuessRule,
    /// The δ of the statements, in (0, 1), ascending.
    pub deltas: Vec<f64>,
    /// Probability that a bound is wrong, in (0, 0.5).
    pub significance: f64,
    /// Seed of every random word, below 2⁵³.
    #[serde(with = "decimal")]
    pub seed: u64,
    /// The training.
    pub training: TrainingDigest,
}

impl OneRunPlan {
    /// Checks every field.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn check_fields(&self) -> Result<(), TrainError> {
        self.mechanism.distribution()?;
        let check = |name, value, is_inside, domain| {
            if is_inside { Ok(()) } else { Err(TrainError::Domain { name, value, domain }) }
        };
        let least = OneRunTraining::LEAST_CANARIES as u32;
        check("canaries", self.canaries.into(), self.canaries >= least, "at least 5")?;
        check("repeats", self.repeats.into(), self.repeats >= 1, "at least 1")?;
        let scores = u64::from(self.canaries) * self.models();
        if scores > MAX_SCORES {
            return Err(TrainError::TooManyScores { scores, max: MAX_SCORES });
        }
        let game = u64::from(self.canaries) * u64::from(self.repeats);
        let guesses = match self.rule {
            GuessRule::Walk => game,
            GuessRule::Most(guesses) => guesses,
            GuessRule::Sides { included, excluded } => included.saturating_add(excluded),
        };
        let is_inside = (1..=game).contains(&guesses);
        check("guesses", guesses as f64, is_inside, "from 1 to repeats times canaries")?;
        let is_delta = |delta: &f64| *delta > 0.0 && *delta < 1.0;
        if let Some(&delta) = self.deltas.iter().find(|delta| !is_delta(delta)) {
            check("deltas", delta, false, "in (0, 1)")?;
        }
        let is_inside = (1..=MAX_DELTAS).contains(&self.deltas.len()) && self.deltas.is_sorted();
        check("deltas", self.deltas.len() as f64, is_inside, "1 to 64 ascending numbers")?;
        let significance = self.significance;
        let is_inside = significance > 0.0 && significance < 0.5;
        check("significance", significance, is_inside, "in (0, 0.5)")?;
        check("seed", self.seed as f64, self.seed < 1 << 53, "below 2^53")
    }

    /// Number of models, R + K.
    #[must_use]
    pub fn models(&self) -> u64 {
        u64::from(self.repeats) + u64::from(self.references)
    }

    /// The coin of each canary in a unit: `true` if it is included.
    ///
    /// Coin c of unit u is the lowest bit of word c of stream u of a purpose of its own, so that coins
    /// are independent of each other and of every word of the training.
    #[must_use]
    pub fn coins(&self, unit: u64) -> Vec<bool> {
        coins(self.seed, unit, self.canaries as usize)
    }

    /// The order of equal scores in a game of `canaries` canaries, independent of coins and scores.
    #[must_use]
    pub fn tie_order(&self, canaries: usize) -> Vec<u64> {
        let mut words = vec![0; canaries];
        stream_words(self.seed, Purpose::OneRunCoins, SHARED_STREAM, 0, &mut words);
        (0..).zip(words).map(|(index, word)| u64::from(word) << 32 | index).collect()
    }
}

/// The coin of each canary in a unit.
pub(super) fn coins(seed: u64, unit: u64, canaries: usize) -> Vec<bool> {
    let mut words = vec![0; canaries];
    stream_words(seed, Purpose::OneRunCoins, unit, 0, &mut words);
    words.into_iter().map(|word| word & 1 == 1).collect()
}

impl dpscope_engine::Plan for OneRunPlan {
    const SCHEMA: &'static str = "dpscope.one-run-scores/1";
    /// 2²⁰ scores of each of three kinds, 16 characters per score, and the other fields.
    const MAX_BYTES: usize = 64 << 20;
    const RESULTS_PER_UNIT: u64 = 1;
    type Stage = ();
    type Evidence = OneRunEvidence;

    fn units(&self) -> u64 {
        self.models()
    }

    fn named(ranges: &str) -> String {
        format!("models {ranges}")
    }

    fn empty(&self, (): &()) -> OneRunEvidence {
        OneRunEvidence::default()
    }

    fn check(&self, (): &(), evidence: &OneRunEvidence, units: u64) -> Result<(), &'static str> {
        if self.check_fields().is_err() {
            return Err("its plan is invalid");
        }
        let digest = TrainingDigest::of(&evidence.description);
        let Ok(description) = OneRunDescription::from_json(&evidence.description) else {
            return Err("the description of its training is invalid");
        };
        if digest != self.training || !description.is_printable() {
            return Err("its training does not match its plan");
        }
        evidence.check(
            (self.canaries as usize, self.models()),
            description.settings.is_white_box,
            units,
        )
    }
}
