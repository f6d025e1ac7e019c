//! The χ² distribution.

use crate::math;
use crate::special::arrival::{arrival_quantile, ln_poisson_pmf, probability_of_arrivals};

/// P\[χ² ≤ x\] and P\[χ² > x\] with `degrees` > 0 degrees of freedom.
///
/// # Numerics
/// The smaller one has a relative error of about 1e-13·√degrees: a series below the mean, a continued
/// fraction above it.
pub(crate) fn tails(degrees: f64, x: f64) -> [f64; 2] {
    if !(x > 0.0) {
        return [0.0, 1.0];
    }
    let (shape, time) = (0.5 * degrees, 0.5 * x);
    if time <= shape {
        let lower = probability_of_arrivals(shape, time);
        [lower, 1.0 - lower]
    } else {
        let upper = upper_tail(shape, time);
        [1.0 - upper, upper]
    }
}

/// The two-sided p-value of `x`: twice the smaller tail.
pub(crate) fn two_sided(degrees: f64, x: f64) -> f64 {
    let [lower, upper] = tails(degrees, x);
    (2.0 * lower.min(upper)).min(1.0)
}

/// The value that χ² does not exceed with `probability`, in (0, 1).
pub(crate) fn quantile(degrees: f64, probability: f64) -> f64 {
    2.0 * arrival_quantile(0.5 * degrees, probability)
}

/// Q(a, t) for t > a: Legendre's continued fraction by Lentz's method.
fn upper_tail(a: f64, t: f64) -> f64 {
    const LEAST: f64 = 1e-300;
    let mut b = t + 1.0 - a;
    let (mut c, mut d) = (1.0 / LEAST, 1.0 / b);
    let mut fraction = d;
    for step in 1..1_000_000 {
        let i = f64::from(step);
        let an = i * (a - i);
        b += 2.0;
        let next = |value: f64| if value.abs() < LEAST { LEAST } else { value };
        d = 1.0 / next(an * d + b);
        c = next(b + an / c);
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    (math::exp(ln_poisson_pmf(a, t)) * a * fraction).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::normal;

    #[test]
    fn one_degree_is_a_squared_normal_and_two_an_exponential() {
        for z in [0.1, 0.9, 1.1, 2.0, 6.0, 20.0] {
            let upper = tails(1.0, z * z)[1];
            assert!((upper / (2.0 * normal::normal_survival(z)) - 1.0).abs() < 1e-12, "{z}");
            assert!((tails(2.0, z * z)[1] / math::exp(-0.5 * z * z) - 1.0).abs() < 1e-12, "{z}");
        }
        assert_eq!(tails(3.0, 0.0), [0.0, 1.0]);
    }

    #[test]
    fn quantiles_undo_tails() {
        for degrees in [1.0, 5.0, 100.0, 1e6] {
            for probability in [1e-9, 0.025, 0.5, 0.975] {
                let [lower, upper] = tails(degrees, quantile(degrees, probability));
                assert!((lower / probability - 1.0).abs() < 1e-9, "{degrees} {probability}");
                assert!((lower + upper - 1.0).abs() < 1e-12);
            }
        }
    }
}
