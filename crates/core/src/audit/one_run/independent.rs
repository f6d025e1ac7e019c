//! The published estimate that treats canaries as independent.

use super::{CanaryGame, Guesses, OneRunError, check_significance};
use crate::gdp::newton_in_bracket;
use crate::math;
use crate::special::quadrature::gauss_legendre_32;
use crate::special::{BetaDistribution, Tail, UnitPoint, normal};

/// An estimate of μ that assumes independent canaries; it is no bound.
///
/// The μ at which v or more of k guesses are correct with probability `significance`, if every
/// canary has a score N(±μ/2, 1) of its own and the k scores farthest from 0 are guessed:
/// P\[v or more\] = E\[P\[Bin(k, a(W)) ≥ v\]\], W ~ Beta(m − k, k + 1) the quantile of the cut and
/// a(W) the probability of a correct guess beyond it. 0 if no leakage explains the count.
///
/// As a statement about all mechanisms it is false: a mechanism that publishes all coins with
/// randomised response, or nothing, by one common coin is 1-GDP and rejected in 72 % of runs at a
/// nominal 5 % (`tests/coverage/one_run.rs::independence_is_an_assumption`).
///
/// # Errors
/// [`OneRunError::Significance`].
///
/// # Numerics
/// Absolute error below 10⁻⁶ (`tests/oracles/golden.rs::one_run_agrees`).
///
/// # Reference
/// Z. Xiang, T. Wang, H. Cai and D. Wang (2025), arXiv:2501.17750 and arXiv:2509.08704.
pub fn independent_canaries_mu(guesses: &Guesses, significance: f64) -> Result<f64, OneRunError> {
    check_significance(significance)?;
    Ok(super::root::last_below(significance, |mu| probability(guesses, mu)))
}

/// P\[v or more of k guesses are correct\].
fn probability(guesses: &Guesses, mu: f64) -> f64 {
    let (k, v) = (guesses.guesses() as f64, guesses.correct() as f64);
    if guesses.correct() == 0 {
        return 1.0;
    }
    let reached = |accuracy: UnitPoint| {
        BetaDistribution::with_shapes(v, k - v + 1.0).tail(Tail::Lower, accuracy)
    };
    let rest = (guesses.game().canaries() - guesses.guesses()) as f64;
    if rest == 0.0 {
        return reached(UnitPoint::from_logit(logit_of_normal(0.5 * mu)));
    }
    let cut = BetaDistribution::with_shapes(rest, k + 1.0);
    let ends = [(Tail::Lower, 1e-14), (Tail::Upper, 1e-14)];
    let [low, high] = ends.map(|(tail, mass)| cut.quantile_at(tail, mass).logit());
    let panels = 8;
    let width = (high - low) / f64::from(panels);
    let integral = (0..panels).map(|panel| {
        let start = low + f64::from(panel) * width;
        gauss_legendre_32(start, start + width, |logit| {
            let quantile = UnitPoint::from_logit(logit);
            let accuracy = accuracy_beyond(quantile.complement(), mu);
            math::exp(cut.ln_logit_density(quantile)) * reached(accuracy)
        })
    });
    integral.sum::<f64>().min(1.0)
}

/// Probability that a guess is correct beyond the cut with tail mass `share`.
fn accuracy_beyond(share: f64, mu: f64) -> UnitPoint {
    let cut = cut_of(share, mu);
    let (right, wrong) =
        (normal::normal_ln_cdf(0.5 * mu - cut), normal::normal_ln_cdf(-0.5 * mu - cut));
    UnitPoint::from_logit(right - wrong)
}

/// The c ≥ 0 with Φ(μ/2 − c) + Φ(−μ/2 − c) = `share`, between neighbouring floats: bisection alone would end
/// there, too, after four times as many values. Newton's method on the logarithm of the sum finds c up to
/// rounding, where bisection starts.
pub(super) fn cut_of(share: f64, mu: f64) -> f64 {
    let sides = |cut: f64| [0.5 * mu - cut, -0.5 * mu - cut];
    let tail = |cut: f64| sides(cut).map(normal::normal_cdf).iter().sum::<f64>();
    let most = 0.5 * mu - normal::quantile(0.5 * share).min(0.0);
    let ln_share = math::ln(share);
    let found = newton_in_bracket(0.0, most, most, |cut| {
        let (above, density) = (tail(cut), sides(cut).map(normal::normal_pdf).iter().sum::<f64>());
        (math::ln(above) - ln_share, -density / above)
    });
    let rounding = 16.0 * f64::EPSILON * (1.0 + found);
    let mut ends = [found - rounding, found + rounding].into_iter();
    let mut bracket = [0.0, most];
    for _ in 0..100 {
        let middle = 0.5 * (bracket[0] + bracket[1]);
        let is_inside = |cut: &f64| *cut > bracket[0] && *cut < bracket[1];
        let cut = ends.next().filter(is_inside).unwrap_or(middle);
        if !is_inside(&cut) {
            break;
        }
        bracket[usize::from(tail(cut) <= share)] = cut;
    }
    0.5 * (bracket[0] + bracket[1])
}

/// ln(Φ(x)/Φ(−x)).
fn logit_of_normal(x: f64) -> f64 {
    normal::normal_ln_cdf(x) - normal::normal_ln_cdf(-x)
}

/// The game of an estimate has single canaries.
pub(super) fn accuracy(canaries: CanaryGame, guesses: u64, mu: f64) -> f64 {
    let share = guesses as f64 / canaries.canaries() as f64;
    if share >= 1.0 {
        return normal::normal_cdf(0.5 * mu);
    }
    normal::normal_cdf(0.5 * mu - cut_of(share, mu)) / share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_have_their_tail() {
        for mu in [0.0, 1e-3, 1.0, 7.0, 60.0] {
            for share in [1e-300, 1e-12, 0.1, 0.5, 0.9, 1.0 - 1e-9] {
                let cut = cut_of(share, mu);
                let sides = [0.5 * mu - cut, -0.5 * mu - cut];
                let tail = sides.map(normal::normal_cdf).iter().sum::<f64>();
                assert!(
                    cut >= 0.0 && (tail / share - 1.0).abs() < 1e-11,
                    "{mu} {share} {cut} {tail}"
                );
            }
            assert!(cut_of(1.0, mu) < 1e-7 + 0.5 * mu, "{mu}");
        }
    }
}
