//! Rounding of a computed limit to the safe side.

use crate::special::UnitPoint;

/// 2⁻⁴², more than four times the relative error of a beta quantile on its smaller side.
const MARGIN: f64 = 2.273_736_754_432_320_6e-13;

/// A value that is at least the exact x, given x to within the margin.
pub(crate) fn rounded_up(x: UnitPoint) -> f64 {
    if x.value() <= 0.5 {
        (x.value() * (1.0 + MARGIN)).next_up().min(1.0)
    } else {
        (1.0 - x.complement() * (1.0 - MARGIN)).next_up().min(1.0)
    }
}

/// A value that is at most the exact x, given x to within the margin; 0 below the normal numbers.
pub(crate) fn rounded_down(x: UnitPoint) -> f64 {
    if x.value() < f64::MIN_POSITIVE {
        0.0
    } else if x.value() <= 0.5 {
        x.value() * (1.0 - MARGIN)
    } else {
        (1.0 - x.complement() * (1.0 + MARGIN)).next_down().max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_outward_by_the_margin_of_the_smaller_side() {
        let small = UnitPoint::from_value(1e-9);
        assert!(rounded_up(small) > 1e-9 && rounded_up(small) < 1e-9 * (1.0 + 3e-13));
        assert!(rounded_down(small) < 1e-9 && rounded_down(small) > 1e-9 * (1.0 - 3e-13));
        let large = UnitPoint::from_complement(1e-9);
        assert!(rounded_up(large) > 1.0 - 1e-9);
        assert!(1.0 - rounded_up(large) > 1e-9 * (1.0 - 1e-6));
        assert!(rounded_down(large) < 1.0 - 1e-9);
        assert_eq!(rounded_up(UnitPoint::from_complement(0.0)), 1.0);
        assert_eq!(rounded_down(UnitPoint::ZERO), 0.0);
        assert_eq!(rounded_up(UnitPoint::ZERO), f64::from_bits(1));
    }
}
