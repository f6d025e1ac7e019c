//! A point of the unit interval with its distances to both ends.

use crate::math;

/// A number x in [0, 1] together with 1 − x, each to full relative accuracy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitPoint {
    value: f64,
    complement: f64,
}

impl UnitPoint {
    pub(crate) const ZERO: Self = Self { value: 0.0, complement: 1.0 };

    /// The point x. `value` must lie in [0, 1]; callers have checked.
    pub(crate) fn from_value(value: f64) -> Self {
        Self { value, complement: 1.0 - value }
    }

    /// The point 1 − y. `complement` must lie in [0, 1]; callers have checked.
    pub(crate) fn from_complement(complement: f64) -> Self {
        Self { value: 1.0 - complement, complement }
    }

    /// The point with ln(x/(1 − x)) = `logit`.
    pub(crate) fn from_logit(logit: f64) -> Self {
        let odds = math::exp(-logit.abs());
        let smaller = Self::from_value(odds / (1.0 + odds));
        if logit <= 0.0 { smaller } else { smaller.mirrored() }
    }

    /// The number x.
    pub fn value(self) -> f64 {
        self.value
    }

    /// The complement 1 − x.
    pub fn complement(self) -> f64 {
        self.complement
    }

    /// The point 1 − x.
    #[must_use]
    pub fn mirrored(self) -> Self {
        Self { value: self.complement, complement: self.value }
    }

    /// ln(x/(1 − x)); infinite at the ends.
    pub(crate) fn logit(self) -> f64 {
        math::ln(self.value) - math::ln(self.complement)
    }

    /// The point whose logit is larger by `step`, computed on the smaller of x and 1 − x.
    pub(crate) fn shifted(self, step: f64) -> Self {
        if self.value > 0.5 {
            return self.mirrored().shifted(-step).mirrored();
        }
        let factor = math::exp(step);
        let grown = self.complement + self.value * factor;
        let value = self.value * (factor / grown);
        if value <= 0.5 {
            Self::from_value(value)
        } else {
            Self::from_complement(self.complement / grown)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_sides_stay_accurate() {
        let point = UnitPoint::from_logit(-60.0);
        assert!((point.value() / math::exp(-60.0) - 1.0).abs() < 1e-15);
        let far = point.shifted(120.0);
        assert!((far.complement() / math::exp(-60.0) - 1.0).abs() < 1e-14);
        assert_eq!(far.value(), 1.0);
        let half = UnitPoint::from_value(0.5).shifted(0.0);
        assert_eq!(half.value(), 0.5);
        assert!(
            (UnitPoint::from_value(0.3).shifted(1.5).logit() - 1.5 - math::ln(3.0 / 7.0)).abs()
                < 1e-15
        );
    }
}
