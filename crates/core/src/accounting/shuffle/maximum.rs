//! The distribution of max_t x_t in an epoch whose target slot has mean m: F(C) = Φ((C−m)/σ)
//! Φ(C/σ)^{T−1}, mixed with that of m = 0 if the target may be absent.

use super::TargetSlots;
use crate::math;
use crate::special::normal_ln_cdf;

/// The distribution of the largest output, by world: m = g in D, g − 1 in D′.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Maximum {
    noise_multiplier: f64,
    /// Number of slots other than the target's, T − 1
    others: f64,
    /// ln of the number of slots other than the target's, ln(T − 1)
    ln_others: f64,
    /// Mean g of the target slot in D.
    pub(super) with: f64,
    /// Mean g − 1 of the target slot in D′.
    pub(super) without: f64,
    /// ln of the probability w that the target is in the epoch.
    ln_presence: f64,
    /// ln of the probability 1 − w that the target is absent.
    ln_absence: f64,
}

/// A logarithm with a limit of its floating-point error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Logarithm {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

impl Maximum {
    pub(crate) fn new(run: impl Into<TargetSlots>) -> Self {
        let TargetSlots { noise_multiplier, slots, presence, gap, .. } = run.into();
        Maximum {
            noise_multiplier,
            others: (slots - 1) as f64,
            ln_others: math::ln((slots - 1) as f64),
            with: gap,
            without: gap - 1.0,
            ln_presence: math::ln(presence),
            ln_absence: math::ln_1p(-presence),
        }
    }

    /// ln of w e^{`present`} + (1 − w) e^{`absent`}.
    fn mixed(&self, present: f64, absent: impl Fn() -> f64) -> f64 {
        if self.ln_absence == f64::NEG_INFINITY {
            return present;
        }
        ln_sum(self.ln_presence + present, self.ln_absence + absent())
    }

    /// ln of the distribution function at a threshold, ln F(C).
    pub(crate) fn ln_below(&self, cut: f64, mean: f64) -> f64 {
        let other = self.ln_cdf(cut, 0.0);
        let present = self.ln_below_of(self.ln_cdf(cut, mean), other);
        self.mixed(present, || self.ln_below_of(other, other))
    }

    /// ln of the upper tail at a threshold, ln(1 − F(C)).
    ///
    /// The error is that of lnΦ and of its argument, whose effect grows with x², and that of ln w.
    pub(crate) fn ln_above(&self, cut: f64, mean: f64) -> Logarithm {
        let rarity = |mean| self.rarity(cut, self.slot(cut, mean));
        let above = |mean| self.ln_above_of(rarity(mean), rarity(0.0));
        let value = self.mixed(above(mean), || above(0.0));
        let (target, other) = ((cut - mean) / self.noise_multiplier, cut / self.noise_multiplier);
        let error = 2e-15 * (8.0 + target * target + other * other + self.ln_presence.abs());
        Logarithm { value, error }
    }

    /// lnΦ((C − m)/σ)
    fn ln_cdf(&self, cut: f64, mean: f64) -> f64 {
        normal_ln_cdf((cut - mean) / self.noise_multiplier)
    }

    /// ln(−lnΦ((C − m)/σ)): lnΦ(−x) if the square of 1 − Φ is negligible.
    fn rarity(&self, cut: f64, slot: Slot) -> f64 {
        let x = (cut - slot.mean) / self.noise_multiplier;
        if x > 9.0 { normal_ln_cdf(-x) } else { math::ln(-slot.ln_cdf) }
    }

    fn slot(&self, cut: f64, mean: f64) -> Slot {
        Slot { mean, ln_cdf: self.ln_cdf(cut, mean) }
    }

    /// ln F from lnΦ of the target's slot and of another.
    fn ln_below_of(&self, target: f64, other: f64) -> f64 {
        target + if self.others > 0.0 { self.others * other } else { 0.0 }
    }

    /// Computed directly: 1 − F = −expm1(−e^y), y = ln(−ln F), from ln(−lnΦ) of the target's slot
    /// and of another.
    fn ln_above_of(&self, target: f64, other: f64) -> f64 {
        let mut y = target;
        if self.others > 0.0 {
            y = ln_sum(y, self.ln_others + other);
        }
        if y < -37.0 {
            y
        } else if y > 4.0 {
            math::ln_1p(-math::exp(-math::exp(y)))
        } else {
            math::ln(-math::exp_m1(-math::exp(y)))
        }
    }

    /// ln of the ratio of the densities of the maximum at C, D over D′.
    ///
    /// Increasing in C if the target is always present; otherwise it first falls from 0.
    pub(crate) fn ln_density_ratio(&self, cut: f64) -> f64 {
        self.ratio_of(cut, self.slots(cut))
    }

    /// One of mean 0, the target's in D, and that in D′.
    fn slots(&self, cut: f64) -> [Slot; 3] {
        [0.0, self.with, self.without].map(|mean| self.slot(cut, mean))
    }

    fn ratio_of(&self, cut: f64, [other, with, without]: [Slot; 3]) -> f64 {
        let s = self.noise_multiplier;
        let part = |Slot { mean, ln_cdf }| {
            let target = other.ln_cdf + mean * (cut - 0.5 * mean) / (s * s);
            if self.others > 0.0 { ln_sum(target, self.ln_others + ln_cdf) } else { target }
        };
        let of = |slot| self.mixed(part(slot), || part(other));
        of(with) - of(without)
    }

    /// The terms of a threshold that its two slices share.
    pub(super) fn edge(&self, cut: f64) -> Edge {
        let slots = self.slots(cut);
        let [other, with, without] = slots;
        let sides = |slot: Slot| {
            let below = self.ln_below_of(slot.ln_cdf, other.ln_cdf);
            let above = || self.ln_above_of(self.rarity(cut, slot), self.rarity(cut, other));
            Sides { below, above: (below > NEARLY_HALF).then(above) }
        };
        Edge {
            cut,
            ln_density_ratio: self.ratio_of(cut, slots),
            sides: [sides(with), sides(without)],
            absent: (self.ln_absence > f64::NEG_INFINITY).then(|| sides(other)),
        }
    }

    /// ln of the mass between two thresholds, in D and in D′.
    pub(super) fn ln_between(&self, low: &Edge, high: &Edge) -> [f64; 2] {
        let absent = low.absent.zip(high.absent);
        [0, 1].map(|world| {
            let present = low.sides[world].ln_between(high.sides[world]);
            self.mixed(present, || {
                absent.map_or(f64::NEG_INFINITY, |(low, high)| low.ln_between(high))
            })
        })
    }
}

/// A threshold between two slices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) cut: f64,
    pub(super) ln_density_ratio: f64,
    /// In D and in D′, where the target is present.
    sides: [Sides; 2],
    absent: Option<Sides>,
}

/// ln of the masses on either side of a threshold.
#[derive(Debug, Clone, Copy)]
struct Sides {
    below: f64,
    /// Present if the mass below is at least about half.
    above: Option<f64>,
}

/// Below ln(1 − e^−0.7), about −0.69.
const NEARLY_HALF: f64 = -0.8;

impl Sides {
    /// ln of the mass up to a higher threshold, from the nearer side.
    fn ln_between(self, high: Sides) -> f64 {
        match (self.above, high.above) {
            (Some(far), Some(above)) if far < -0.7 => ln_difference(far, above),
            _ => ln_difference(high.below, self.below),
        }
    }
}

/// A slot of mean m at a threshold C.
#[derive(Debug, Clone, Copy)]
struct Slot {
    mean: f64,
    /// lnΦ((C − m)/σ)
    ln_cdf: f64,
}

/// ln(e^a + e^b).
pub(crate) fn ln_sum(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + math::ln_1p(math::exp(low - high)) }
}

/// ln(e^a − e^b), a ≥ b.
pub(crate) fn ln_difference(a: f64, b: f64) -> f64 {
    if b == f64::NEG_INFINITY { a } else { a + math::ln(-math::exp_m1(b - a)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::Training;
    use crate::special::{normal_cdf, normal_pdf, normal_survival};

    fn shuffled(noise_multiplier: f64, steps_per_epoch: u64) -> Maximum {
        Maximum::new(Training { noise_multiplier, steps_per_epoch, epochs: 1, sampling_rate: None })
    }

    #[test]
    fn masses_are_those_of_the_plain_formula() {
        for (s, steps) in [(0.5, 1), (1.0, 100), (3.0, 7), (10.0, 1000)] {
            let distribution = shuffled(s, steps);
            for cut in [-1.0, 0.7, 2.0, 3.3, 6.0] {
                for mean in [1.0, 2.0] {
                    let below = normal_cdf((cut - mean) / s)
                        * math::powi(normal_cdf(cut / s), steps as i32 - 1);
                    let seen = math::exp(distribution.ln_below(cut, mean));
                    assert!((seen / below - 1.0).abs() < 1e-11 || below < 1e-290, "{s} {cut}");
                    let above = distribution.ln_above(cut, mean);
                    assert!((math::exp(above.value) - (1.0 - below)).abs() < 1e-13, "{s} {cut}");
                    assert!(above.error < 1e-12);
                }
            }
        }
    }

    #[test]
    fn edges_match_their_thresholds() {
        for presence in [1.0, 0.3] {
            let run =
                TargetSlots { noise_multiplier: 0.8, slots: 50, presence, gap: 2.0, epochs: 1 };
            let distribution = Maximum::new(run);
            let cuts = [-3.0, -1.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 8.0, 12.0];
            for pair in cuts.windows(2) {
                let [low, high] = [pair[0], pair[1]].map(|cut| distribution.edge(cut));
                assert_eq!(low.ln_density_ratio, distribution.ln_density_ratio(pair[0]));
                let between = distribution.ln_between(&low, &high);
                for (seen, mean) in
                    between.into_iter().zip([distribution.with, distribution.without])
                {
                    let is_upper = distribution.ln_above(pair[0], mean).value < -0.7;
                    let ln_plain = if is_upper {
                        let above = |cut| distribution.ln_above(cut, mean).value;
                        ln_difference(above(pair[0]), above(pair[1]))
                    } else {
                        ln_difference(
                            distribution.ln_below(pair[1], mean),
                            distribution.ln_below(pair[0], mean),
                        )
                    };
                    assert!((seen - ln_plain).abs() < 1e-11 * (1.0 + ln_plain.abs()), "{pair:?}");
                }
            }
        }
    }

    #[test]
    fn far_tails_do_not_underflow() {
        let distribution = shuffled(0.1, 10_000_000);
        let above = distribution.ln_above(7.0, 2.0);
        let expected = normal_ln_cdf(-50.0);
        assert!((above.value - expected).abs() < 1e-9, "{}", above.value);
        let single = shuffled(2.0, 1).ln_above(7.0, 1.0).value;
        assert!((single - math::ln(normal_survival(3.0))).abs() < 1e-14);
    }

    #[test]
    fn ratio_of_densities_is_the_slope_of_the_masses() {
        let (s, steps) = (0.8, 50);
        let distribution = shuffled(s, steps);
        for cut in [0.5, 1.5, 2.5, 4.0] {
            let density = |mean: f64| {
                normal_pdf((cut - mean) / s) * normal_cdf(cut / s)
                    + 49.0 * normal_pdf(cut / s) * normal_cdf((cut - mean) / s)
            };
            let expected = math::ln(density(2.0) / density(1.0));
            assert!((distribution.ln_density_ratio(cut) - expected).abs() < 1e-12, "{cut}");
        }
    }

    #[test]
    fn a_target_that_may_be_absent_is_a_mixture() {
        let (noise_multiplier, slots, gap, epochs) = (0.8, 5, 3.0, 1);
        let run = |presence| TargetSlots { noise_multiplier, slots, presence, gap, epochs };
        let (sure, may) = (Maximum::new(run(1.0)), Maximum::new(run(0.3)));
        for cut in [-1.0, 0.4, 2.5, 5.0] {
            let mixed = |of: &dyn Fn(f64) -> f64, mean| 0.3 * of(mean) + 0.7 * of(0.0);
            for mean in [2.0, 3.0] {
                let below = |mean| math::exp(sure.ln_below(cut, mean));
                let above = |mean| math::exp(sure.ln_above(cut, mean).value);
                assert!((math::exp(may.ln_below(cut, mean)) - mixed(&below, mean)).abs() < 1e-14);
                let seen = math::exp(may.ln_above(cut, mean).value);
                assert!((seen - mixed(&above, mean)).abs() < 1e-14);
            }
            let slope = |mean| {
                let at = |cut| math::exp(may.ln_below(cut, mean));
                at(cut + 1e-5) - at(cut - 1e-5)
            };
            let expected = math::ln(slope(3.0) / slope(2.0));
            assert!((may.ln_density_ratio(cut) - expected).abs() < 1e-4, "{cut}: {expected}");
        }
    }

    #[test]
    fn logarithms_of_sums_and_differences() {
        assert!((ln_sum(1.0, 2.0) - 2.313_261_687_518_222_7).abs() < 1e-15);
        assert_eq!(ln_sum(3.0, f64::NEG_INFINITY), 3.0);
        assert!((ln_difference(2.0, 1.0) - 1.541_324_854_612_918_3).abs() < 1e-15);
        assert_eq!(ln_difference(2.0, f64::NEG_INFINITY), 2.0);
    }
}
