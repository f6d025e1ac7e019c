//! Outward rounding of limits.

use crate::math;
use crate::special::UnitPoint;

/// Four times the relative error of a beta quantile on its smaller side.
///
/// ln T is a sum of terms of at most |ln tail| + 8 in size, each rounded a few times: 3 ε each. In
/// ln x its slope is at least the smaller shape, ½, while shapes are small, and about 0.8 √a when
/// they are large, where the sums and the quadrature are off by up to 10 ε √a.
fn margin(tail: f64) -> f64 {
    24.0 * f64::EPSILON * (8.0 - math::ln(tail))
}

/// A value that is at least the exact x, given x as a quantile at `tail`.
pub(crate) fn rounded_up(x: UnitPoint, tail: f64) -> f64 {
    let margin = margin(tail);
    if x.value() <= 0.5 {
        (x.value() * (1.0 + margin)).next_up().min(1.0)
    } else {
        (1.0 - x.complement() * (1.0 - margin)).next_up().min(1.0)
    }
}

/// A value that is at most the exact x, given x as a quantile at `tail`; 0 below the normal numbers.
pub(crate) fn rounded_down(x: UnitPoint, tail: f64) -> f64 {
    let margin = margin(tail);
    if x.value() < f64::MIN_POSITIVE {
        0.0
    } else if x.value() <= 0.5 {
        x.value() * (1.0 - margin)
    } else {
        (1.0 - x.complement() * (1.0 + margin)).next_down().max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_outward_by_the_margin_of_the_smaller_side() {
        let small = UnitPoint::from_value(1e-9);
        assert!(rounded_up(small, 0.025) > 1e-9 && rounded_up(small, 0.025) < 1e-9 * (1.0 + 3e-13));
        assert!(
            rounded_down(small, 0.025) < 1e-9 && rounded_down(small, 0.025) > 1e-9 * (1.0 - 3e-13)
        );
        let large = UnitPoint::from_complement(1e-9);
        assert!(rounded_up(large, 0.025) > 1.0 - 1e-9);
        assert!(1.0 - rounded_up(large, 0.025) > 1e-9 * (1.0 - 1e-6));
        assert!(rounded_down(large, 0.025) < 1.0 - 1e-9);
        assert_eq!(rounded_up(UnitPoint::from_complement(0.0), 0.025), 1.0);
        assert_eq!(rounded_down(UnitPoint::ZERO, 0.025), 0.0);
        assert_eq!(rounded_up(UnitPoint::ZERO, 0.025), f64::from_bits(1));
    }
}
