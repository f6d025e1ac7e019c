//! Synthetic purchases: a few popular items and many rare ones.

use dpscope_core::math;

use crate::data::draws::Draws;

pub(super) const FEATURES: usize = 600;
pub(super) const CLASSES: usize = 100;

/// Purchase probability of each item for each class.
pub(super) struct Distribution {
    /// Probabilities times 2³² − 1, class by class; an item is bought if a random word is below.
    thresholds: Vec<u32>,
}

impl Distribution {
    pub(super) fn new(draws: &mut Draws) -> Self {
        let popularity: Vec<f64> = (0..FEATURES).map(|_| log_odds_of_beta(draws)).collect();
        let mut thresholds = Vec::with_capacity(CLASSES * FEATURES);
        for _ in 0..CLASSES {
            for &log_odds in &popularity {
                let shift = if draws.chance(0.35) { 2.0 * draws.normal() } else { 0.0 };
                let chance = 1.0 / (1.0 + math::exp(-(log_odds + shift)));
                thresholds.push((chance * 4_294_967_295.0) as u32);
            }
        }
        Distribution { thresholds }
    }

    /// Draws a record: writes its features to `row` and returns its class.
    pub(super) fn draw(&self, draws: &mut Draws, row: &mut [bool]) -> u32 {
        let class = draws.below(CLASSES);
        for (bought, &threshold) in row.iter_mut().zip(&self.thresholds[class * FEATURES..]) {
            *bought = draws.word() < threshold;
        }
        class as u32
    }
}

/// Log-odds ln(p/(1 − p)) of p ~ Beta(0.1, 3), by Jöhnk's algorithm.
fn log_odds_of_beta(draws: &mut Draws) -> f64 {
    loop {
        let (x, y) = (math::powi(draws.uniform(), 10), math::cbrt(draws.uniform()));
        if x + y <= 1.0 {
            return math::ln(x / y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::draws::Part;

    /// Mean and variance of p over many draws of its log-odds.
    fn moments(draw: impl Fn(&mut Draws) -> f64) -> (f64, f64) {
        let mut draws = Draws::new(1, Part::Distribution, 9);
        let chance = |log_odds: f64| 1.0 / (1.0 + math::exp(-log_odds));
        let values: Vec<f64> = (0..60_000).map(|_| chance(draw(&mut draws))).collect();
        let mean = values.iter().sum::<f64>() / 6e4;
        (mean, values.iter().map(|p| (p - mean) * (p - mean)).sum::<f64>() / 6e4)
    }

    #[test]
    fn popularity_is_beta_distributed() {
        // a/(a + b) and ab/((a + b)²(a + b + 1)) at a = 0.1, b = 3.
        let (mean, variance): (f64, f64) = (0.1 / 3.1, 0.3 / (9.61 * 4.1));
        let near = |(m, v): (f64, f64)| {
            (m - mean).abs() < 5.0 * (variance / 6e4).sqrt() && (v / variance - 1.0).abs() < 0.1
        };
        assert!(near(moments(log_odds_of_beta)), "{:?}", moments(log_odds_of_beta));
        let unaccepted = |draws: &mut Draws| {
            math::ln(math::powi(draws.uniform(), 10) / math::cbrt(draws.uniform()))
        };
        assert!(!near(moments(unaccepted)), "every proposal accepted");
    }
}
