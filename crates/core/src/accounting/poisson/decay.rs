//! Decay of a characteristic function, which limits an integral over it.

use crate::math;

/// A bound of |E e^{iuL}| that falls as |u| grows, for a distribution that is a mixture of uniform
/// distributions.
///
/// |E e^{iuL}| ≤ 1 − Σ m (1 − S(uw/2)), S(a) = sup over b ≥ a of |sin b / b|
#[derive(Debug)]
pub(super) struct Decay {
    /// Shares m and widths w.
    layers: Vec<(f64, f64)>,
    compositions: f64,
}

impl Decay {
    pub(super) fn new(layers: Vec<(f64, f64)>, compositions: f64) -> Self {
        Decay { layers: coarser(layers), compositions }
    }

    /// ln of a bound of ∫_u^∞ |E e^{ivL}|^n v^{−2} dv, where h = 0.
    ///
    /// With h > 0, of ∫_u^∞ |E e^{ivL}|^n e^{−h²v²/2} (v^{−2} + h²e^{h²/8}) dv.
    pub(super) fn ln_beyond(&self, frequency: f64, variance: f64) -> f64 {
        let gain: f64 =
            self.layers.iter().map(|(share, width)| share * gain(0.5 * frequency * width)).sum();
        let lower = if variance > 0.0 { math::exp(0.125 * variance) } else { 0.0 };
        let smooth = math::ln_1p(lower) - 0.5 * variance * frequency * frequency;
        self.compositions * math::ln_1p(-gain.min(1.0 - 1e-12)) + smooth - math::ln(frequency)
    }

    /// The least frequency up to `most` beyond which the integral is at most e^{`ln_required`},
    /// within a tenth.
    pub(super) fn frequency(&self, most: f64, variance: f64, ln_required: f64) -> Option<f64> {
        let is_enough = |frequency: f64| self.ln_beyond(frequency, variance) <= ln_required;
        let (mut low, mut high) = (1e-7 * most, most);
        if !is_enough(high) {
            return None;
        }
        while high > 1.1 * low {
            let middle = (low * high).sqrt();
            if is_enough(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high)
    }
}

/// Fewer layers, none wider than it was: widths truncated to three binary places.
fn coarser(layers: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut coarse: Vec<(f64, f64)> = Vec::new();
    for (share, width) in layers {
        let width = f64::from_bits(width.to_bits() >> 49 << 49);
        match coarse.binary_search_by(|(_, known)| known.total_cmp(&width)) {
            Ok(place) => coarse[place].0 += share,
            Err(place) => coarse.insert(place, (share, width)),
        }
    }
    coarse
}

/// At most 1 − S(a).
fn gain(a: f64) -> f64 {
    // |sin b / b| beyond its first zero, at b = 4.4934…
    const SIDE_LOBE: f64 = 0.217_234;
    if a < 0.1 {
        a * a / 6.0 * (1.0 - 0.05 * a * a)
    } else if a < std::f64::consts::PI {
        1.0 - (math::sin(a) / a).max(SIDE_LOBE)
    } else {
        1.0 - SIDE_LOBE.min(1.0 / a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_those_of_the_largest_sine_beyond() {
        let at = |place: i32| 0.003 * f64::from(place);
        let mut largest = 0.0_f64;
        for place in (1..20_000).rev() {
            let a = at(place);
            largest = largest.max((math::sin(a) / a).abs());
            assert!(gain(a) <= 1.0 - largest + 1e-12, "{a}: {} {largest}", gain(a));
            assert!(a > 4.0 || gain(a) > 0.99 * (1.0 - largest), "{a}: {} {largest}", gain(a));
        }
    }

    #[test]
    fn two_layers_fall_off_faster_than_their_bound() {
        let layers = vec![(0.25, 0.3), (0.75, 1.0)];
        let sine = |a: f64| math::sin(a) / a;
        let decay = Decay::new(layers, 3.0);
        for frequency in [0.5, 3.0, 20.0, 100.0] {
            let mut sum = 0.0;
            for place in 0..100_000 {
                let u = frequency + 0.01 * f64::from(place);
                let value = 0.25 * sine(0.15 * u) + 0.75 * sine(0.5 * u);
                sum += 0.01 * (value * value * value).abs() / (u * u);
            }
            let bound = math::exp(decay.ln_beyond(frequency, 0.0));
            assert!(sum < bound, "{frequency}: {sum} {bound}");
            let narrow = Decay::new(vec![(0.25, 0.6), (0.75, 2.0)], 3.0);
            assert!(frequency > 1.0 || math::exp(narrow.ln_beyond(frequency, 0.0)) < bound);
        }
    }
}
