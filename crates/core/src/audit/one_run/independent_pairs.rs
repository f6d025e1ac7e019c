//! What canaries show if they do not influence each other.

use super::OneRunError;
use crate::interval::clopper_pearson_lower;
use crate::math;
use crate::special::normal;

/// How guesses were made that canaries without influence on each other would allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndependentGame {
    /// Included canaries are matched with others at random, and the larger score of a pair is named.
    Pairs,
    /// Every canary with a score above a cut that was fixed beforehand is named as included.
    FixedThreshold,
}

/// μ that a training has at least, **if canaries do not influence each other and training is μ-GDP for each**.
///
/// With the lower Clopper–Pearson limit a of the share of correct guesses, μ ≥ √2 Φ⁻¹(a) for pairs, and 2 Φ⁻¹(a)
/// at a fixed threshold.
///
/// It is no bound without that assumption: a mechanism that releases all coins by randomised response with one
/// common coin, or nothing, is 1-GDP and refuted at μ = 1 in 26 % of runs
/// (`tests/coverage/one_run.rs::pairs_need_independence`). It decides no verdict.
///
/// # Proof
/// Given the coins, scores are independent, each a function of its own coin. A pair is two μ-GDP channels with
/// opposite inputs, together √2 μ-GDP, whose Bayes accuracy at even odds is Φ(μ/√2); that of one channel is
/// Φ(μ/2). So the number of correct guesses is dominated by a binomial.
///
/// # Errors
/// [`OneRunError::Guesses`] without guesses, [`OneRunError::Correct`], [`OneRunError::Significance`].
pub fn independent_mu(
    game: IndependentGame,
    guesses: u64,
    correct: u64,
    significance: f64,
) -> Result<f64, OneRunError> {
    super::check_significance(significance)?;
    if guesses == 0 {
        return Err(OneRunError::Guesses { guesses, canaries: 0 });
    }
    if correct > guesses {
        return Err(OneRunError::Correct { correct, guesses });
    }
    // counts and level are in their domains; 0 shows nothing
    let accuracy = clopper_pearson_lower(correct, guesses, significance).unwrap_or(0.0);
    if accuracy <= 0.5 {
        return Ok(0.0);
    }
    let factor = match game {
        IndependentGame::Pairs => std::f64::consts::SQRT_2,
        IndependentGame::FixedThreshold => 2.0,
    };
    // Φ⁻¹ of the complement keeps its digits near 1
    let quantile = -normal::quantile_from_ln(math::ln(1.0 - accuracy));
    Ok((factor * quantile * (1.0 - 1e-13)).max(0.0))
}

/// Several attacks on one training, with weights that were fixed beforehand and sum to at most 1.
///
/// Both are valid whatever the dependence: the smallest p_i/w_i is a p-value, by Bonferroni, and Σ w_i E_i an
/// e-value, whose inverse is a p-value by Markov's inequality.
#[must_use]
pub fn combined_p_value(p_values: &[f64], weights: &[f64]) -> f64 {
    let weighted = p_values.iter().zip(weights).map(|(p, weight)| p / weight);
    weighted.fold(1.0, f64::min)
}

/// Σ w_i E_i: the e-value of several attacks.
#[must_use]
pub fn combined_e_value(e_values: &[f64], weights: &[f64]) -> f64 {
    e_values.iter().zip(weights).map(|(e, weight)| e * weight).sum()
}
