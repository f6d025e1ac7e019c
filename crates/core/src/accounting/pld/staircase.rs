//! Decay of the characteristic function of masses on a grid.

use super::UNIT;
use crate::math;

/// Masses as a mixture of uniform distributions on consecutive points.
///
/// A uniform one on b points has |D_b(x)| = |sin bx/(b sin x)|, x = u/2, so that |φ(u)| ≤ Σ m − Σ s
/// (1 − S_b(x)), S_b(x) = sup |D_b| over x … π/2.
#[derive(Debug)]
pub(super) struct Staircase {
    total: f64,
    /// Relative error of sums over the points.
    error: f64,
    /// Shares s and numbers of points b.
    layers: Vec<(f64, f64)>,
}

impl Staircase {
    /// Mixture of masses at rising positions. Layers of one point are left out: they give no gain.
    pub(super) fn new(points: &[(f64, f64)]) -> Self {
        let total = points.iter().map(|point| point.1).sum();
        let mut layers = Vec::new();
        // starts and heights of what is still open, rising
        let mut open: Vec<(f64, f64)> = Vec::new();
        let mut close = |open: &mut Vec<(f64, f64)>, end: f64, height: f64| {
            let mut start = end;
            while let Some(&(from, top)) = open.last().filter(|last| last.1 > height) {
                open.pop();
                let below = open.last().map_or(height, |last| last.1.max(height));
                add(&mut layers, (top - below) * (end - from), end - from);
                start = from;
            }
            if height > open.last().map_or(0.0, |last| last.1) {
                open.push((start, height));
            }
        };
        let mut end = f64::NEG_INFINITY;
        for &(place, mass) in points {
            if place != end {
                close(&mut open, end, 0.0);
            }
            close(&mut open, place, mass);
            end = place + 1.0;
        }
        close(&mut open, end, 0.0);
        let error = 1e-12 + 4.0 * UNIT * points.len() as f64;
        Staircase { total, error, layers }
    }

    /// ln of a bound of |φ(u)|, and of each |φ| from there to π.
    fn ln_bound(&self, frequency: f64) -> f64 {
        let gain: f64 =
            self.layers.iter().map(|(share, count)| share * gain(*count, 0.5 * frequency)).sum();
        math::ln((self.total * (1.0 + self.error) - gain).max(1e-300))
    }

    /// Whether half of all frequencies have |φ|^n of at most about e^{`ln_required`}.
    pub(super) fn decays_to(&self, compositions: f64, ln_required: f64) -> bool {
        compositions * self.ln_bound(0.5 * std::f64::consts::PI) <= ln_required
    }

    /// A bound of (2/N) Σ |φ_k|^n N/(2k), `last` < k ≤ N/2, at the frequencies 2πk/N.
    pub(super) fn beyond(&self, compositions: f64, points: f64, last: usize) -> f64 {
        math::exp(self.ln_beyond(compositions, points, last))
    }

    fn ln_beyond(&self, compositions: f64, points: f64, last: usize) -> f64 {
        let next = last as f64 + 1.0;
        let ln_bound = self.ln_bound(2.0 * std::f64::consts::PI * next / points);
        compositions * ln_bound + math::ln(0.5 * points / next)
    }

    /// The least k, of half of the frequencies, with [`Self::beyond`] at most e^{`ln_required`}.
    pub(super) fn last_frequency(
        &self,
        compositions: f64,
        points: f64,
        ln_required: f64,
    ) -> Option<usize> {
        let is_enough = |last: usize| self.ln_beyond(compositions, points, last) <= ln_required;
        let (mut low, mut high) = (0, (0.25 * points) as usize);
        if high < 2 || !is_enough(high) {
            return None;
        }
        while high - low > 1 + low / 32 {
            let middle = low + (high - low) / 2;
            (low, high) = if is_enough(middle) { (low, middle) } else { (middle, high) };
        }
        Some(high)
    }
}

/// Adds a layer to those of about its width, none wider than it was: widths have three binary places.
fn add(layers: &mut Vec<(f64, f64)>, share: f64, count: f64) {
    if count < 2.0 {
        return;
    }
    let count = f64::from_bits(count.to_bits() >> 49 << 49);
    match layers.binary_search_by(|(_, known)| known.total_cmp(&count)) {
        Ok(place) => layers[place].0 += share,
        Err(place) => layers.insert(place, (share, count)),
    }
}

/// At most 1 − S_b(x), 0 < x ≤ π/2.
fn gain(count: f64, x: f64) -> f64 {
    // at least |D_b| beyond its first zero
    const SIDE_LOBE: f64 = 1.0 / 3.0;
    let turn = count * x;
    if turn < 0.1 {
        // 1 − D_b ≥ (b² − 1)x²/6 (1 − b²x²/20)
        (count * count - 1.0) * x * x / 6.0 * (1.0 - 0.05 * turn * turn)
    } else if turn < std::f64::consts::PI {
        1.0 - (math::sin(turn) / (count * math::sin(x))).max(SIDE_LOBE)
    } else {
        1.0 - SIDE_LOBE.min(1.0 / (count * math::sin(x)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// |sin bx/(b sin x)|
    fn uniform(count: f64, x: f64) -> f64 {
        (math::sin(count * x) / (count * math::sin(x))).abs()
    }

    #[test]
    fn gains_are_those_of_the_largest_value_beyond() {
        for count in (2..40).chain([57, 300]).map(f64::from) {
            let at = |place: i32| 0.5 * std::f64::consts::PI * f64::from(place) / 20_000.0;
            let mut largest = 0.0_f64;
            for place in (1..=20_000).rev() {
                let x = at(place);
                largest = largest.max(uniform(count, x));
                let seen = gain(count, x);
                assert!(seen <= 1.0 - largest + 1e-12, "{count} {x}: {seen} {largest}");
                assert!(
                    count * x > 2.0 || seen > 0.99 * (1.0 - largest) - 1e-12,
                    "{count} {x}: {seen} {largest}"
                );
            }
        }
    }

    fn random(seed: u64) -> Vec<(f64, f64)> {
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        let (mut place, mut points) = (0.0, Vec::new());
        for _ in 0..source.random_range(1..40) {
            let is_beside = source.random_range(0.0..1.0) < 0.8;
            place += if is_beside { 1.0 } else { source.random_range(1_i32..5).into() };
            points.push((place, math::exp(-5.0 * source.random_range(0.0..1.0))));
        }
        let total: f64 = points.iter().map(|point| point.1).sum();
        points.iter_mut().for_each(|point| point.1 /= total);
        points
    }

    fn length(points: &[(f64, f64)], frequency: f64) -> f64 {
        let add = |sum: (f64, f64), (place, mass): &(f64, f64)| {
            let (sine, cosine) = math::sin_cos(frequency * place);
            (sum.0 + mass * cosine, sum.1 + mass * sine)
        };
        let (re, im) = points.iter().fold((0.0, 0.0), add);
        (re * re + im * im).sqrt()
    }

    #[test]
    fn no_frequency_is_above_the_bound() {
        let mut detected = 0;
        for seed in 0..200 {
            let points = random(seed);
            let staircase = Staircase::new(&points);
            let share: f64 = staircase.layers.iter().map(|layer| layer.0).sum();
            assert!(share <= 1.0 + 1e-12, "{seed}: {share}");
            let wider = staircase.layers.iter().map(|(share, count)| (*share, 4.0 * count));
            let wider = Staircase { layers: wider.collect(), ..staircase };
            let mut largest = 0.0_f64;
            let mut is_seen = false;
            for place in (1..=400).rev() {
                let frequency = std::f64::consts::PI * f64::from(place) / 400.0;
                largest = largest.max(length(&points, frequency));
                let bound = math::exp(staircase.ln_bound(frequency));
                assert!(largest <= bound + 1e-12, "{seed} {frequency}: {largest} {bound}");
                is_seen |= largest > math::exp(wider.ln_bound(frequency));
            }
            detected += usize::from(is_seen);
        }
        assert!(detected > 20, "{detected}");
    }

    #[test]
    fn a_bell_is_bounded_nearly_by_its_variance() {
        let points: Vec<(f64, f64)> =
            (-60..=60).map(f64::from).map(|x| (x, math::exp(-0.005 * x * x))).collect();
        let total: f64 = points.iter().map(|point| point.1).sum();
        let staircase = Staircase::new(&points);
        let ln_seen = staircase.ln_bound(0.01) - math::ln(total);
        assert!(ln_seen < -0.75 * 0.5 * 100.0 * 1e-4 && ln_seen > -0.5 * 100.0 * 1e-4, "{ln_seen}");
    }
}
