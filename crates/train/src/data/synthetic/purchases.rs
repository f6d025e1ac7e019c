//! Synthetic purchases and visits: a few popular items and many rare ones.

use dpscope_core::math;

use crate::data::draws::Draws;

/// Items, kinds of customers, and how much kinds differ.
pub(super) struct Items {
    pub(super) features: usize,
    pub(super) classes: usize,
    /// Reciprocal of the first parameter of the popularity's Beta distribution; the second is 3.
    inverse_shape: i32,
    /// Smallest popularity.
    least: f64,
    /// Standard deviation of a kind's log-odds, at 35 % of the items.
    shift: f64,
}

/// Purchases of 100 kinds of customers.
pub(super) const PURCHASES: Items =
    Items { features: 600, classes: 100, inverse_shape: 10, least: 0.0, shift: 2.0 };

/// Visits of 30 kinds of people to places.
pub(super) const VISITS: Items =
    Items { features: 446, classes: 30, inverse_shape: 3, least: 0.03, shift: 1.0 };

/// Purchase probability of each item for each class.
pub(super) struct Distribution {
    features: usize,
    classes: usize,
    /// Probabilities times 2³² − 1, class by class; an item is bought if a random word is below.
    thresholds: Vec<u32>,
}

impl Distribution {
    pub(super) fn new(draws: &mut Draws, items: &Items) -> Self {
        let Items { features, classes, .. } = *items;
        let popularity: Vec<f64> = (0..features).map(|_| items.log_odds(draws)).collect();
        let mut thresholds = Vec::with_capacity(classes * features);
        for _ in 0..classes {
            for &log_odds in &popularity {
                let shift = if draws.chance(0.35) { items.shift * draws.normal() } else { 0.0 };
                let chance = 1.0 / (1.0 + math::exp(-(log_odds + shift)));
                thresholds.push((chance * 4_294_967_295.0) as u32);
            }
        }
        Distribution { features, classes, thresholds }
    }

    /// Draws a record: writes its features to `row` and returns its class.
    pub(super) fn draw(&self, draws: &mut Draws, row: &mut [bool]) -> u32 {
        let class = draws.below(self.classes);
        for (bought, &threshold) in row.iter_mut().zip(&self.thresholds[class * self.features..]) {
            *bought = draws.word() < threshold;
        }
        class as u32
    }
}

impl Items {
    /// Log-odds ln(p/(1 − p)) of an item's popularity p = least + (1 − least)·b.
    fn log_odds(&self, draws: &mut Draws) -> f64 {
        let (x, y) = beta_parts(draws, self.inverse_shape);
        if self.least == 0.0 {
            return math::ln(x / y);
        }
        let popularity = self.least + (1.0 - self.least) * x / (x + y);
        math::ln(popularity / (1.0 - popularity))
    }
}

/// x and y such that x ÷ (x + y) ~ Beta(1/`inverse_shape`, 3), by Jöhnk's algorithm.
fn beta_parts(draws: &mut Draws, inverse_shape: i32) -> (f64, f64) {
    loop {
        let (x, y) = (math::powi(draws.uniform(), inverse_shape), math::cbrt(draws.uniform()));
        if x + y <= 1.0 {
            return (x, y);
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
        let log_odds = |draws: &mut Draws| PURCHASES.log_odds(draws);
        assert!(near(moments(log_odds)), "{:?}", moments(log_odds));
        let unaccepted = |draws: &mut Draws| {
            math::ln(math::powi(draws.uniform(), 10) / math::cbrt(draws.uniform()))
        };
        assert!(!near(moments(unaccepted)), "every proposal accepted");
    }
}
