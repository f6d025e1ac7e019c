//! The law of max_t x_t in an epoch whose target slot has mean m: F(C) = Φ((C−m)/σ) Φ(C/σ)^{T−1},
//! mixed with that of m = 0 where the target may be absent.

use super::TargetSlots;
use crate::math;
use crate::special::normal_ln_cdf;

/// The law of the largest output, by world: m = g in D, g − 1 in D′.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Maximum {
    noise_multiplier: f64,
    /// T − 1
    others: f64,
    /// g
    pub(super) with: f64,
    /// g − 1
    pub(super) without: f64,
    /// ln w
    ln_presence: f64,
    /// ln(1 − w)
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

    /// ln F(C).
    pub(crate) fn ln_below(&self, cut: f64, mean: f64) -> f64 {
        self.mixed(self.ln_below_if_present(cut, mean), || self.ln_below_if_present(cut, 0.0))
    }

    /// ln(1 − F(C)).
    ///
    /// The error is that of lnΦ and of its argument, whose effect grows with x², and that of ln w.
    pub(crate) fn ln_above(&self, cut: f64, mean: f64) -> Logarithm {
        let absent = || self.ln_above_if_present(cut, 0.0);
        let value = self.mixed(self.ln_above_if_present(cut, mean), absent);
        let (target, other) = ((cut - mean) / self.noise_multiplier, cut / self.noise_multiplier);
        let error = 2e-15 * (8.0 + target * target + other * other + self.ln_presence.abs());
        Logarithm { value, error }
    }

    /// ln of the mass between two cuts.
    pub(super) fn ln_between(&self, low: f64, high: f64, mean: f64) -> f64 {
        let absent = || self.ln_between_if_present(low, high, 0.0);
        self.mixed(self.ln_between_if_present(low, high, mean), absent)
    }

    /// From the nearer side.
    fn ln_between_if_present(&self, low: f64, high: f64, mean: f64) -> f64 {
        let far = self.ln_above_if_present(low, mean);
        if far < -0.7 {
            return ln_difference(far, self.ln_above_if_present(high, mean));
        }
        ln_difference(self.ln_below_if_present(high, mean), self.ln_below_if_present(low, mean))
    }

    fn ln_below_if_present(&self, cut: f64, mean: f64) -> f64 {
        let others =
            if self.others > 0.0 { normal_ln_cdf(cut / self.noise_multiplier) } else { 0.0 };
        normal_ln_cdf((cut - mean) / self.noise_multiplier) + self.others * others
    }

    /// From its own side: 1 − F = −expm1(−e^y), y = ln(−ln F).
    fn ln_above_if_present(&self, cut: f64, mean: f64) -> f64 {
        let mut y = ln_minus_ln_cdf((cut - mean) / self.noise_multiplier);
        if self.others > 0.0 {
            let other = cut / self.noise_multiplier;
            y = ln_sum(y, math::ln(self.others) + ln_minus_ln_cdf(other));
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
    /// Rises with C where the target is always there; where it may be absent, it first falls from 0.
    pub(crate) fn ln_density_ratio(&self, cut: f64) -> f64 {
        let s = self.noise_multiplier;
        let others = normal_ln_cdf(cut / s);
        let part = |mean: f64| {
            let target = others + mean * (cut - 0.5 * mean) / (s * s);
            if self.others > 0.0 {
                ln_sum(target, math::ln(self.others) + normal_ln_cdf((cut - mean) / s))
            } else {
                target
            }
        };
        let of = |mean: f64| self.mixed(part(mean), || part(0.0));
        of(self.with) - of(self.without)
    }
}

/// ln(−lnΦ(x)): lnΦ(−x) where 1 − Φ is too small to matter twice.
fn ln_minus_ln_cdf(x: f64) -> f64 {
    if x > 9.0 { normal_ln_cdf(-x) } else { math::ln(-normal_ln_cdf(x)) }
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
    use crate::accounting::shuffle::ShuffleRun;
    use crate::special::{normal_cdf, normal_pdf, normal_survival};

    fn shuffled(noise_multiplier: f64, steps_per_epoch: u64) -> Maximum {
        Maximum::new(ShuffleRun { noise_multiplier, steps_per_epoch, epochs: 1 })
    }

    #[test]
    fn masses_are_those_of_the_plain_formula() {
        for (s, steps) in [(0.5, 1), (1.0, 100), (3.0, 7), (10.0, 1000)] {
            let law = shuffled(s, steps);
            for cut in [-1.0, 0.7, 2.0, 3.3, 6.0] {
                for mean in [1.0, 2.0] {
                    let below = normal_cdf((cut - mean) / s)
                        * math::powi(normal_cdf(cut / s), steps as i32 - 1);
                    let seen = math::exp(law.ln_below(cut, mean));
                    assert!((seen / below - 1.0).abs() < 1e-11 || below < 1e-290, "{s} {cut}");
                    let above = law.ln_above(cut, mean);
                    assert!((math::exp(above.value) - (1.0 - below)).abs() < 1e-13, "{s} {cut}");
                    assert!(above.error < 1e-12);
                }
            }
        }
    }

    #[test]
    fn far_tails_do_not_underflow() {
        let law = shuffled(0.1, 10_000_000);
        let above = law.ln_above(7.0, 2.0);
        let expected = normal_ln_cdf(-50.0);
        assert!((above.value - expected).abs() < 1e-9, "{}", above.value);
        let single = shuffled(2.0, 1).ln_above(7.0, 1.0).value;
        assert!((single - math::ln(normal_survival(3.0))).abs() < 1e-14);
    }

    #[test]
    fn ratio_of_densities_is_the_slope_of_the_masses() {
        let (s, steps) = (0.8, 50);
        let law = shuffled(s, steps);
        for cut in [0.5, 1.5, 2.5, 4.0] {
            let density = |mean: f64| {
                normal_pdf((cut - mean) / s) * normal_cdf(cut / s)
                    + 49.0 * normal_pdf(cut / s) * normal_cdf((cut - mean) / s)
            };
            let expected = math::ln(density(2.0) / density(1.0));
            assert!((law.ln_density_ratio(cut) - expected).abs() < 1e-12, "{cut}");
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
