//! Tails of the beta distribution, each as the density of the logit times a Mills ratio.
//!
//! With u = ln(x/(1−x)), p(u) = x^a(1−x)^b/B(a, b) and d = (a+b)x − a, a tail is T = p·F. On its
//! own side of the mean F is a sum, a continued fraction or an integral of positive terms.

use super::beta::{BetaDistribution, Tail};
use super::binomial::drift;
use super::quadrature::gauss_legendre_32;
use super::{SpecialError, UnitPoint};
use crate::math;

/// Above this smaller shape the Mills ratio is integrated: the other routes need O(√a) steps.
const LARGE: f64 = 1000.0;
const TINY: f64 = 1e-17;

impl BetaDistribution {
    /// Distribution function, P[X ≤ x] = I_x(a, b).
    ///
    /// # Errors
    /// [`SpecialError::Unit`] where x is outside [0, 1].
    pub fn cdf(&self, x: f64) -> Result<f64, SpecialError> {
        Ok(self.tail(Tail::Lower, unit(x)?))
    }

    /// Survival function, P[X ≥ x] = I_{1−x}(b, a).
    ///
    /// # Errors
    /// [`SpecialError::Unit`] where x is outside [0, 1].
    pub fn survival(&self, x: f64) -> Result<f64, SpecialError> {
        Ok(self.tail(Tail::Upper, unit(x)?))
    }

    /// ln P[X ≤ x], also where the probability underflows.
    ///
    /// # Errors
    /// [`SpecialError::Unit`] where x is outside [0, 1].
    pub fn ln_cdf(&self, x: f64) -> Result<f64, SpecialError> {
        Ok(self.ln_tail(Tail::Lower, unit(x)?))
    }

    /// ln P[X ≥ x], also where the probability underflows.
    ///
    /// # Errors
    /// [`SpecialError::Unit`] where x is outside [0, 1].
    pub fn ln_survival(&self, x: f64) -> Result<f64, SpecialError> {
        Ok(self.ln_tail(Tail::Upper, unit(x)?))
    }

    pub(crate) fn tail(&self, tail: Tail, x: UnitPoint) -> f64 {
        math::exp(self.ln_tail(tail, x))
    }

    pub(crate) fn ln_tail(&self, tail: Tail, x: UnitPoint) -> f64 {
        let nothing = if tail == Tail::Lower { x.value() } else { x.complement() };
        let all = if tail == Tail::Lower { x.complement() } else { x.value() };
        if nothing == 0.0 {
            return f64::NEG_INFINITY;
        }
        if all == 0.0 {
            return 0.0;
        }
        ln_tail(self, tail, x)
    }
}

fn unit(x: f64) -> Result<UnitPoint, SpecialError> {
    if (0.0..=1.0).contains(&x) {
        Ok(UnitPoint::from_value(x))
    } else {
        Err(SpecialError::Unit { name: "x", value: x })
    }
}

/// ln P[X ≤ x] or ln P[X ≥ x] for x strictly inside (0, 1).
fn ln_tail(distribution: &BetaDistribution, tail: Tail, x: UnitPoint) -> f64 {
    if distribution.a > distribution.b {
        return ln_tail(&distribution.mirrored(), tail.mirrored(), x.mirrored());
    }
    let d = drift(distribution.a, distribution.b, x);
    let ln_density = distribution.ln_logit_density(x);
    let own_side = if d < 0.0 { Tail::Lower } else { Tail::Upper };
    let ratio = match own_side {
        Tail::Lower => lower_mills(distribution, x, d),
        Tail::Upper => upper_mills(distribution, x, d),
    };
    let near = ln_density + math::ln(ratio);
    if tail == own_side { near.min(0.0) } else { math::ln_1p(-math::exp(near).min(1.0)) }
}

/// P[X ≤ x]/p for d ≤ 0 and a ≤ b.
fn lower_mills(distribution: &BetaDistribution, x: UnitPoint, d: f64) -> f64 {
    if distribution.a > LARGE {
        return integrated_mills(distribution.a + distribution.b, x, d, -1.0);
    }
    // (1/a)(1 + Σ_j Π_{i≤j} (a+b+i)x/(a+1+i)); the factors fall from below 1 to x
    let (mut term, mut sum) = (1.0, 1.0);
    let mut i = 0.0;
    while term > TINY * sum && i < 10_000.0 {
        term *= (distribution.a + distribution.b + i) * x.value() / (distribution.a + 1.0 + i);
        sum += term;
        i += 1.0;
    }
    sum / distribution.a
}

/// P[X ≥ x]/p for d ≥ 0 and a ≤ b.
fn upper_mills(distribution: &BetaDistribution, x: UnitPoint, d: f64) -> f64 {
    if distribution.a > LARGE {
        integrated_mills(distribution.a + distribution.b, x, d, 1.0)
    } else if distribution.a.fract() == 0.0 {
        binomial_sum(distribution, x)
    } else {
        continued_fraction(distribution, x, d)
    }
}

/// P[Bin(a+b−1, x) < a]/p for an integer a: (1/bx) Σ of ratios of neighbouring probabilities.
fn binomial_sum(distribution: &BetaDistribution, x: UnitPoint) -> f64 {
    let n = distribution.a + distribution.b;
    let odds = x.complement() / x.value();
    let (mut term, mut sum) = (1.0, 1.0);
    let mut j = distribution.a - 1.0;
    while j >= 1.0 && term > TINY * sum {
        term *= j / (n - j) * odds;
        sum += term;
        j -= 1.0;
    }
    sum / (distribution.b * x.value())
}

/// I_y(b, a)/p with y = 1 − x: the even part of Gauss' continued fraction.
///
/// A. R. DiDonato and A. H. Morris, ACM TOMS 18 (1992), eq. 8, by the modified Lentz method.
fn continued_fraction(distribution: &BetaDistribution, x: UnitPoint, d: f64) -> f64 {
    const FLOOR: f64 = 1e-280;
    let (a, b, y) = (distribution.b, distribution.a, x.complement());
    let not_zero = |v: f64| if v.abs() < FLOOR { FLOOR } else { v };
    // a(1−y) − by = d
    let denominator = |m: f64| {
        // 0 at m = 0, also where a = 1.
        let wide = if m > 0.0 { m * (b - m) * y / (a + 2.0 * m - 1.0) } else { 0.0 };
        m + wide + (a + m) * (d + 1.0 + m * (1.0 + x.value())) / (a + 2.0 * m + 1.0)
    };
    let mut fraction = not_zero(denominator(0.0));
    let (mut c, mut reciprocal) = (fraction, 0.0);
    let mut m = 1.0;
    while m < 10_000.0 {
        let scale = a + 2.0 * m - 1.0;
        let numerator =
            ((a + m - 1.0) / scale) * ((a + b + m - 1.0) / scale) * m * (b - m) * (y * y);
        let next = denominator(m);
        reciprocal = 1.0 / not_zero(next + numerator * reciprocal);
        c = not_zero(next + numerator / c);
        let change = c * reciprocal;
        fraction *= change;
        if (change - 1.0).abs() < 2e-16 {
            break;
        }
        m += 1.0;
    }
    1.0 / fraction
}

/// ∫₀^∞ e^{−|d|s − nK(s)} ds with K(s) = ln(1 + x(e^{±s}−1)) ∓ xs, upwards (+) or downwards (−).
///
/// The logit density is log-concave: the exponent rises from 0 faster than |d|s. The integral is
/// truncated where the exponent passes 38, and 32 nodes reach 1e-15 on the smooth rest. The
/// cancellation in nK costs 10 ε √a, which moves a quantile by a few ε since ln T has a slope of at
/// least 0.8 √a there.
fn integrated_mills(n: f64, x: UnitPoint, d: f64, direction: f64) -> f64 {
    const CUT: f64 = 38.0;
    let d = d.abs();
    let exponent = |s: f64| {
        let (x, u) = (x.value(), direction * s);
        d * s + n * (math::ln_1p(x * math::exp_m1(u)) - x * u)
    };
    let variance = n * x.value() * x.complement();
    // root of ds + ½vs² = CUT; the third cumulant moves it by little
    let mut end = 2.0 * CUT / (d + (d * d + 2.0 * CUT * variance).sqrt());
    for _ in 0..3 {
        let reached = exponent(end);
        if reached > 0.9 * CUT && reached < 1.2 * CUT {
            break;
        }
        end *= (CUT / reached).sqrt().clamp(0.5, 2.0);
    }
    gauss_legendre_32(0.0, end, |s| math::exp(-exponent(s)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distribution_function_matches_fifty_digit_values() {
        // (a, b, x, I_x(a, b), 1 − I_x(a, b)): mpmath betainc at 60 digits
        for (a, b, x, cdf, survival) in CASES {
            let distribution = BetaDistribution::new(a, b).unwrap();
            for (seen, value) in
                [(distribution.cdf(x).unwrap(), cdf), (distribution.survival(x).unwrap(), survival)]
            {
                let change = (seen / value - 1.0).abs();
                assert!(change < 2e-13, "a {a} b {b} x {x}: {seen:e} {value:e} {change:e}");
            }
        }
    }

    #[test]
    fn swapped_shapes_fail_this_check() {
        let (a, b, x, cdf, _) = CASES[1];
        let seen = BetaDistribution::new(b, a).unwrap().cdf(x).unwrap();
        assert!((seen / cdf - 1.0).abs() > 1e-2);
    }

    #[test]
    fn closed_forms() {
        for (n, x) in [(3.0, 0.2), (1e6, 1e-7), (1e10, 3e-10)] {
            let distribution = BetaDistribution::new(1.0, n).unwrap();
            let survival = n * math::ln_1p(-x);
            assert!((distribution.ln_survival(x).unwrap() / survival - 1.0).abs() < 1e-13);
            let distribution = BetaDistribution::new(n, 1.0).unwrap();
            let ln_cdf = n * math::ln_1p(-x);
            let seen = distribution.ln_tail(Tail::Lower, UnitPoint::from_complement(x));
            assert!((seen / ln_cdf - 1.0).abs() < 1e-13, "{seen} {ln_cdf}");
        }
    }

    #[test]
    fn a_shape_of_one_beside_any_other_has_a_closed_form() {
        for b in [0.5, 0.7, 0.999, 1.0, 1.5] {
            let (distribution, mirror) =
                (BetaDistribution::new(1.0, b).unwrap(), BetaDistribution::new(b, 1.0).unwrap());
            for x in [1e-12, 2e-6, 0.1, 0.5, 0.75, 0.999] {
                let ln_survival = b * math::ln_1p(-x);
                assert!(
                    (distribution.ln_survival(x).unwrap() / ln_survival - 1.0).abs() < 2e-13,
                    "{b} {x}"
                );
                let cdf = -math::exp_m1(ln_survival);
                assert!((distribution.cdf(x).unwrap() / cdf - 1.0).abs() < 2e-13, "{b} {x}");
                let power = math::powf(x, b);
                assert!((mirror.cdf(x).unwrap() / power - 1.0).abs() < 2e-13, "{b} {x}");
            }
        }
    }

    #[test]
    fn ends_and_refusals() {
        let distribution = BetaDistribution::new(2.0, 5.0).unwrap();
        assert_eq!(distribution.cdf(0.0).unwrap(), 0.0);
        assert_eq!(distribution.cdf(1.0).unwrap(), 1.0);
        assert_eq!(distribution.survival(0.0).unwrap(), 1.0);
        assert!(distribution.cdf(f64::NAN).is_err());
        assert!(distribution.cdf(1.5).is_err());
        assert!(distribution.quantile(0.0).is_err());
        assert!(distribution.upper_quantile(f64::NAN).is_err());
        for shape in [0.0, -1.0, 0.4, 1e20, f64::NAN] {
            assert!(BetaDistribution::new(shape, 1.0).is_err());
            assert!(BetaDistribution::new(1.0, shape).is_err());
        }
    }

    #[test]
    fn routes_agree_where_they_meet() {
        for (a, b) in [(900.0, 1100.0), (1000.0, 1e6), (1000.0, 1e10)] {
            let distribution = BetaDistribution::with_shapes(a, b);
            for sds in [0.1, 1.0, 3.0, 7.0] {
                let x = UnitPoint::from_value(distribution.mean() * (1.0 + sds / f64::sqrt(a)));
                let d = drift(a, b, x);
                let sum = binomial_sum(&distribution, x);
                let fraction = continued_fraction(&distribution, x, d);
                let integral = integrated_mills(a + b, x, d, 1.0);
                assert!((fraction / sum - 1.0).abs() < 1e-13, "{a} {b} {sds}: {fraction} {sum}");
                assert!((integral / sum - 1.0).abs() < 1e-12, "{a} {b} {sds}: {integral} {sum}");
                let x = UnitPoint::from_value(distribution.mean() * (1.0 - sds / f64::sqrt(a)));
                let d = drift(a, b, x);
                let series = lower_mills(&distribution, x, d);
                let integral = integrated_mills(a + b, x, d, -1.0);
                assert!((integral / series - 1.0).abs() < 1e-12, "{a} {b} {sds}");
            }
        }
    }

    #[test]
    fn tails_add_to_one() {
        for (a, b) in [(0.5, 0.5), (0.5, 1e9), (7.5, 9.0), (2000.0, 1e8), (5e9, 5e9)] {
            let distribution = BetaDistribution::with_shapes(a, b);
            for x in [0.2, 0.9, 1.0, 1.1, 1.5] {
                let x = UnitPoint::from_value(distribution.mean() * x);
                let sum = distribution.tail(Tail::Lower, x) + distribution.tail(Tail::Upper, x);
                assert!((sum - 1.0).abs() < 1e-14, "{a} {b}: {sum}");
            }
        }
    }

    const CASES: [(f64, f64, f64, f64, f64); 15] = [
        (0.5, 0.5, 0.3, 0.36901011956554536, 0.6309898804344546),
        (0.5, 10.5, 0.2, 0.9676125883247181, 0.03238741167528187),
        (1.5, 3.0, 0.9, 0.9978962441368842, 0.0021037558631157955),
        (2.0, 5.0, 0.001, 1.4960044976005e-05, 0.999985039955024),
        (20.0, 30.0, 0.37, 0.3388597934471194, 0.6611402065528806),
        (20.5, 30.5, 0.8, 0.9999999997206436, 2.7935638360162396e-10),
        (0.5, 1000000.0, 2e-06, 0.9544998170901403, 0.04550018290985972),
        (3.5, 10000000.0, 1e-06, 0.9944303439267108, 0.005569656073289219),
        (999.5, 5000.5, 0.16, 0.08446923551534194, 0.9155307644846581),
        (700.0, 900.0, 0.5, 0.9999997248056088, 2.751943911844546e-07),
        (1500.0, 2500.0, 0.36, 0.024547056654235958, 0.975452943345764),
        (1500.5, 1400.5, 0.6, 1.0, 9.675809073925207e-20),
        (0.5, 0.5, 1e-12, 6.366197723676875e-07, 0.9999993633802277),
        (999.5, 0.5, 0.9999, 0.6548338738463511, 0.3451661261536489),
        (64.0, 100000.0, 0.0003, 4.7302608285810315e-08, 0.9999999526973917),
    ];
}
