//! Audits of one training run with canaries whose null distribution is known.
//!
//! A canary client sends a random unit direction, scaled to the clipping norm. The attacker sees the
//! model, or every update, and asks whether the direction was in. A direction that was not in scores by
//! a known distribution, whatever the training did: the null probability p of a canary needs no
//! canary that is left out.
//!
//! | type | what it yields | holds for |
//! |---|---|---|
//! | [`AnyMechanism`] | ε, or μ of a claim | every training algorithm |
//! | [`IndependentCanaries`] | ε | trainings in which canaries do not influence each other |
//! | [`Gdp`] | μ of a claim about a Gaussian mechanism, never ε | the same |
//! | [`EpsilonEstimator`] | an estimate of ε and its range without a leak; no bound | – |
//! | [`RoundNoise`] | an estimate of the noise of single server rounds; no bound | – |
//! | [`GaussianLeak`] | canaries for an ε, a μ and a power | planning |
//! | [`CosineNull`] | null probabilities of cosines, exact | every training algorithm, d ≥ 2 |
//! | [`NullScores`] | null probabilities of any score, limits from fresh draws | the same |
//! | [`OneShotResult`] | all bounds of one run, findings and verdicts | – |
//! | [`ScoreChecks`] | findings about the protocol | – |
//! | [`NoiseNorm`], [`ReplyWeights`] | upper limit of the noise that a server added; what weights and missing replies leave of it | every training algorithm |
//! | [`StatedNoise`] | findings about the noise, weights and replies of a server | every training algorithm |
//! | [`ClaimedParticipation`], [`DeclaredNumber`], [`class_score_finding`] | findings about participation, and about what a plan declared by lot | – |
//! | [`CumulativeBand`] | limits of order statistics that hold together | the bounds above |
//!
//! [`AnyMechanism`] takes null probabilities as [`NullTails`], exact or upper limits by Monte Carlo, so
//! the same bound serves every score whose null distribution can be sampled.

mod any_mechanism;
mod band;
mod canary_classes;
mod checks;
mod design;
mod error;
mod estimate;
mod independent;
mod null;
mod null_scores;
mod plan;
mod result;
mod server_checks;
mod server_noise;
mod server_rounds;
mod tails;

pub use any_mechanism::{AnyMechanism, CutHits, RankedCanary, SimultaneousRule};
pub use band::CumulativeBand;
pub(in crate::audit) use band::convolved;
pub use canary_classes::{ClaimedParticipation, DeclaredNumber, class_score_finding};
pub use checks::{ScoreChecks, repeated_cosines, unseen_finding};
pub use design::{CanaryDesign, DeltaAllowance};
pub use error::OneShotError;
pub use estimate::{EpsilonEstimator, TwoGaussians};
pub use independent::{CutBound, Gdp, IndependentCanaries};
pub use null::CosineNull;
pub use null_scores::{NULL_SHARE, NullScores};
pub use plan::{GaussianLeak, most_canaries};
pub use result::{OneShotBounds, OneShotEvidence, OneShotQuestion, OneShotResult};
pub use server_checks::{StatedNoise, UpdateResidual, control_finding};
pub use server_noise::{NoiseNorm, ReplyWeights};
pub use server_rounds::{RoundNoise, RoundScores};
pub use tails::NullTails;

/// A value below x by more than the rounding of the logarithms that it is a sum of.
fn rounded_down(x: f64) -> f64 {
    (x - 1e-12 * (1.0 + x.abs())).max(0.0)
}

fn check_canaries(canaries: f64) -> Result<(), OneShotError> {
    if (1.0..=1e9).contains(&canaries) { Ok(()) } else { Err(OneShotError::Canaries { canaries }) }
}

fn check_cut(p_cut: f64) -> Result<(), OneShotError> {
    if p_cut > 0.0 && p_cut < 1.0 { Ok(()) } else { Err(OneShotError::Cut { p_cut }) }
}

/// Significance of each check of the data.
const LEVEL: f64 = 1e-5;

fn check_delta(delta: f64) -> Result<(), OneShotError> {
    if (0.0..1.0).contains(&delta) { Ok(()) } else { Err(OneShotError::Delta { delta }) }
}

fn check_significance(significance: f64) -> Result<(), OneShotError> {
    if significance > 0.0 && significance < 1.0 {
        Ok(())
    } else {
        Err(OneShotError::Significance { significance })
    }
}
