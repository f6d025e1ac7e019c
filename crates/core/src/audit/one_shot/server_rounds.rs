//! What single updates show about the canaries in them.

/// Sums over the canaries of one server round, of the score s = √d·cosine with its update.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct RoundScores {
    /// Number of canaries, k.
    pub canaries: u64,
    /// Sum of the scores, Σ s.
    pub sum: f64,
    /// Sum of the squared scores, Σ s².
    pub squares: f64,
}

impl RoundScores {
    /// Adds the cosine of a canary with an update of d coordinates.
    pub fn add(&mut self, cosine: f64, dimension: u64) {
        let score = cosine * (dimension as f64).sqrt();
        self.canaries += 1;
        self.sum += score;
        self.squares += score * score;
    }
}

/// An estimate of the noise of one server round from the canaries in it; no bound.
///
/// A canary of norm C in a sum with noise of standard deviation σC scores μ = 1/σ on average, or less
/// where other updates hide it. The products of the scores of two canaries average μ², without the bias
/// 1/k of a squared mean; rounds are weighted by their pairs.
///
/// | value | meaning |
/// |---|---|
/// | [`gdp_mu`](Self::gdp_mu) | root of the mean product, 0 where that is negative |
/// | [`gdp_mu_range`](Self::gdp_mu_range) | the same two standard errors below and above; rounds are the sample |
/// | [`most_gdp_mu`](Self::most_gdp_mu) | the largest possible: k orthogonal canaries share one update, each with cosine 1/√k |
///
/// Maddock et al. estimate each round from the canary in it and compose the rounds by the accountant
/// that is stated (CANIFE, arXiv:2210.02912); here the canaries are random directions.
///
/// # Example
/// ```
/// use dpscope_core::audit::one_shot::{RoundNoise, RoundScores};
/// let mut server_round = RoundScores::default();
/// [0.06, 0.02, 0.04].map(|cosine| server_round.add(cosine, 2_500));
/// let estimate = RoundNoise::new(&[server_round; 4], 2_500).unwrap();
/// assert_eq!(format!("{:.4}", estimate.gdp_mu()), "1.9149");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundNoise {
    square: f64,
    standard_error: f64,
    most_square: f64,
    server_rounds: u64,
}

impl RoundNoise {
    /// Estimate from server rounds with updates of d coordinates. `None` if fewer than two of them
    /// have two canaries.
    ///
    /// # Guarantee
    /// Without bias, where a squared mean is rejected
    /// (`unit::mean_products_have_no_bias_where_squared_means_do`).
    #[must_use]
    pub fn new(server_rounds: &[RoundScores], dimension: u64) -> Option<Self> {
        let rounds = || server_rounds.iter().filter(|scores| scores.canaries >= 2);
        let pairs = |scores: &RoundScores| (scores.canaries * (scores.canaries - 1)) as f64;
        let products = |scores: &RoundScores| scores.sum * scores.sum - scores.squares;
        let count = rounds().count() as f64;
        if count < 2.0 {
            return None;
        }
        let all: f64 = rounds().map(pairs).sum();
        let square = rounds().map(products).sum::<f64>() / all;
        let residual = |scores: &RoundScores| products(scores) - square * pairs(scores);
        let squares: f64 = rounds().map(|scores| residual(scores) * residual(scores)).sum();
        let others: f64 = rounds().map(|scores| (scores.canaries - 1) as f64).sum();
        let estimate = Self {
            square,
            standard_error: (squares * count / (count - 1.0)).sqrt() / all,
            most_square: dimension as f64 * others / all,
            server_rounds: count as u64,
        };
        square.is_finite().then_some(estimate)
    }

    /// μ of one server round.
    #[must_use]
    pub fn gdp_mu(&self) -> f64 {
        self.square.max(0.0).sqrt()
    }

    /// μ two standard errors below and above.
    #[must_use]
    pub fn gdp_mu_range(&self) -> [f64; 2] {
        [-2.0, 2.0].map(|errors| (self.square + errors * self.standard_error).max(0.0).sqrt())
    }

    /// The largest μ that this method can find with these canaries.
    #[must_use]
    pub fn most_gdp_mu(&self) -> f64 {
        self.most_square.sqrt()
    }

    /// Number of server rounds with two canaries or more.
    #[must_use]
    pub const fn server_rounds(&self) -> u64 {
        self.server_rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Words};

    const DIMENSION: u64 = 400;

    /// Scores in sums of canaries and noise, where canary i is the i-th coordinate.
    fn scores(rounds: u32, noise: f64, words: &mut Words) -> Vec<RoundScores> {
        let one = |round: u32| {
            let canaries = 2 + round as usize % 4;
            let mut update: Vec<f64> = (0..DIMENSION).map(|_| noise * words.normal()).collect();
            if noise < 100.0 {
                update[..canaries].iter_mut().for_each(|entry| *entry += 1.0);
            }
            let length = update.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
            let mut scores = RoundScores::default();
            update[..canaries].iter().for_each(|entry| scores.add(entry / length, DIMENSION));
            scores
        };
        (0..rounds).map(one).collect()
    }

    #[test]
    fn mean_products_have_no_bias_where_squared_means_do() {
        let mut words = Words::new(17, Purpose::Test, 0);
        // a canary adds 1/d to the square of an update's length
        for (noise, truth) in [(0.5, 4.0 / (1.0 + 3.5 * 4.0 / 400.0)), (1e3, 0.0)] {
            let scores = scores(4_000, noise, &mut words);
            let found = RoundNoise::new(&scores, DIMENSION).unwrap();
            let limit = 4.0 * found.standard_error;
            assert!((found.square - truth).abs() < limit + 0.02, "{found:?} {truth}");
            let mean = |scores: &RoundScores| scores.sum / scores.canaries as f64;
            let squared = scores.iter().map(|scores| mean(scores) * mean(scores)).sum::<f64>();
            assert!((squared / 4_000.0 - truth).abs() > limit + 0.02, "{squared}");
        }
    }

    #[test]
    fn ranges_hold_the_truth_and_narrow_ones_do_not() {
        let mut words = Words::new(18, Purpose::Test, 0);
        let (mut held, mut held_by_half) = (0, 0);
        for _ in 0..200 {
            let found = RoundNoise::new(&scores(60, 1e3, &mut words), DIMENSION).unwrap();
            held += u32::from(found.square.abs() <= 2.0 * found.standard_error);
            held_by_half += u32::from(found.square.abs() <= found.standard_error);
        }
        assert!((180..=198).contains(&held) && held_by_half < 160, "{held} {held_by_half}");
    }

    #[test]
    fn updates_without_noise_reach_the_largest_value() {
        let mut words = Words::new(19, Purpose::Test, 0);
        let found = RoundNoise::new(&scores(40, 0.0, &mut words), DIMENSION).unwrap();
        assert!((found.gdp_mu() - found.most_gdp_mu()).abs() < 1e-9, "{found:?}");
        assert!(found.most_gdp_mu() < 20.0 / 2.0_f64.sqrt());
    }

    #[test]
    fn rounds_without_pairs_yield_nothing() {
        let mut one = RoundScores::default();
        one.add(0.5, DIMENSION);
        assert_eq!(RoundNoise::new(&[one; 9], DIMENSION), None);
        let two = RoundScores { canaries: 2, sum: 1.0, squares: 0.5 };
        assert_eq!(RoundNoise::new(&[two], DIMENSION), None);
        assert_eq!(RoundNoise::new(&[two, one, two], DIMENSION).unwrap().server_rounds(), 2);
        let bad = RoundScores { sum: f64::NAN, ..two };
        assert_eq!(RoundNoise::new(&[two, bad], DIMENSION), None);
    }
}
