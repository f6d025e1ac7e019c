//! Audits of one training run with m canaries, each included by a coin of its own.
//!
//! Before training, a fair coin decides for each canary whether it is included (IN) or not (OUT).
//! After training, the auditor ranks the canaries by a score and guesses some coins. The number of
//! correct guesses bounds ε: if training is (ε, δ)-DP, a guess is correct with probability at most
//! q = e^ε/(1 + e^ε), but for a share δ.
//!
//! [`CanaryScores`] and [`OneRunResult`] are the entry points: from scores and coins, or from counts, to
//! bounds and findings. They rest on:
//!
//! | type | what it yields | when |
//! |---|---|---|
//! | [`Guesses`] | ε, or a p-value for a claimed curve; exact | the number of guesses was fixed beforehand |
//! | [`ListGuesses`] | ε | lists of values are named for canaries with secrets, or odd rows of sets |
//! | [`Ranking`] | ε | it was not: all of 8, 16, 32, …, m are tried, at a joint level |
//! | [`GaussianGuesses`] | μ of a mechanism whose trade-off curve is Gaussian | the number of guesses was fixed |
//! | [`GuessRecord`] | e-values that multiply over several runs | runs are stopped at will |
//! | [`PlannedRuns`] | ε from several runs of one plan | a plan fixes their number |
//! | [`CalibratedScores`] | scores from noisy gradients, whatever their noise | white-box attacks |
//! | [`IdealAttack`] | what an attack on independent Gaussian scores finds | planning |
//! | [`independent_canaries_mu`] | an estimate of μ | comparison with published figures |
//!
//! All bounds need coins that are fair and independent of each other and of the data, initialisation,
//! batches and noise of the training, or else a uniform draw of a fixed number of canaries
//! ([`FixedSize`]). Canaries, score and rule must be fixed before the coins are drawn. Canaries may
//! depend on each other in any way.
//!
//! For canaries without coins whose distribution is known instead, see [`one_shot`](super::one_shot).

mod adaptive;
mod calibrated_scores;
mod canary_audit;
mod canary_error;
mod canary_scores;
mod claimed_curve;
mod coin_checks;
mod count;
mod error;
mod evidence;
mod finding;
mod fixed_size;
mod gaussian;
mod guess_evidence;
mod independent;
mod independent_pairs;
mod lists;
mod odds;
mod plan;
mod planned_runs;
mod ranks;
mod redraws;
mod result;
mod root;
mod runs;
mod score_method;
mod secret_plan;
mod tails;
mod walk;

pub use calibrated_scores::{CalibratedScores, ProjectionError};
pub use canary_audit::{GuessRule, OneRunQuestion};
pub use canary_error::{CanaryError, CanaryFeature, InferredDraw};
pub use canary_scores::{CanaryScores, RankedGuess};
pub use claimed_curve::{CurveTest, curve_of_training};
pub(in crate::audit) use coin_checks::{NOTABLE_TIES, reversed_finding, share_of_ties};
pub use count::{Guesses, KnownSides};
pub use error::OneRunError;
pub use evidence::GuessRecord;
pub use finding::{CanaryClass, OneRunFinding, RepeatedScores};
pub use fixed_size::FixedSize;
pub use gaussian::GaussianGuesses;
pub use guess_evidence::GuessEvidence;
pub use independent::independent_canaries_mu;
pub use independent_pairs::{IndependentGame, combined_e_value, combined_p_value, independent_mu};
pub use lists::ListGuesses;
pub use odds::{KnownOdds, OddsClass};
pub use plan::IdealAttack;
pub use planned_runs::PlannedRuns;
pub use ranks::{MixedLists, SecretRanks, rank_lengths};
pub use redraws::RedrawnCoins;
pub use result::{OneRunBound, OneRunResult, implied_claim};
pub(in crate::audit) use root::last_below;
pub use runs::audit_runs;
pub use score_method::{ProjectedScores, ScoreMethod};
pub use secret_plan::{SecretAttack, SecretTokens};
pub(in crate::audit) use tails::rounded_down;
pub(in crate::audit) use walk::largest_of_grid;
pub use walk::{Ranking, ranking_sizes};

use crate::math;
use crate::special::UnitPoint;

/// Canaries whose coins are guessed.
///
/// | game | a coin decides | certifies ε under |
/// |---|---|---|
/// | `set_size` 2, single canaries | whether the canary is included | add/remove or zero-out |
/// | `set_size` 2, pairs | which of two canaries is included | replace |
/// | `set_size` s | which of s canaries is included | replace |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CanaryGame {
    canaries: u64,
    set_size: u32,
}

impl CanaryGame {
    /// m canaries, each with a fair coin.
    ///
    /// # Errors
    /// [`OneRunError::Canaries`] if m is 0 or above 10¹².
    pub fn coins(canaries: u64) -> Result<Self, OneRunError> {
        Self::sets(canaries, 2)
    }

    /// m sets of s canaries, one of each included, with equal probability.
    ///
    /// # Errors
    /// [`OneRunError::Canaries`] if m is 0 or above 10¹², [`OneRunError::SetSize`] if s is below 2.
    pub fn sets(sets: u64, set_size: u32) -> Result<Self, OneRunError> {
        if !(1..=MOST_CANARIES).contains(&sets) {
            return Err(OneRunError::Canaries { canaries: sets });
        }
        if set_size < 2 {
            return Err(OneRunError::SetSize { set_size });
        }
        Ok(Self { canaries: sets, set_size })
    }

    /// Canaries, or sets of canaries: m.
    #[must_use]
    pub const fn canaries(&self) -> u64 {
        self.canaries
    }

    /// Canaries of which exactly one is included: s; 2 for coins.
    #[must_use]
    pub const fn set_size(&self) -> u32 {
        self.set_size
    }

    /// The largest probability of a correct guess under (ε, 0)-DP: q = e^ε/(e^ε + s − 1).
    fn accuracy(&self, epsilon: f64) -> UnitPoint {
        UnitPoint::from_logit(epsilon - math::ln(f64::from(self.set_size - 1)))
    }
}

/// Above this, counts lose precision as f64 and no training has as many canaries.
const MOST_CANARIES: u64 = 1_000_000_000_000;

fn check_counts(canaries: u64, guesses: u64, correct: u64) -> Result<(), OneRunError> {
    if !(1..=canaries).contains(&guesses) {
        return Err(OneRunError::Guesses { guesses, canaries });
    }
    if correct > guesses {
        return Err(OneRunError::Correct { correct, guesses });
    }
    Ok(())
}

pub(in crate::audit) fn check_epsilon(epsilon: f64) -> Result<(), OneRunError> {
    if (0.0..f64::INFINITY).contains(&epsilon) {
        Ok(())
    } else {
        Err(OneRunError::Epsilon { epsilon })
    }
}

pub(in crate::audit) fn check_delta(delta: f64) -> Result<(), OneRunError> {
    if (0.0..1.0).contains(&delta) { Ok(()) } else { Err(OneRunError::Delta { delta }) }
}

pub(in crate::audit) fn check_significance(significance: f64) -> Result<(), OneRunError> {
    if significance > 0.0 && significance < 1.0 {
        Ok(())
    } else {
        Err(OneRunError::Significance { significance })
    }
}
