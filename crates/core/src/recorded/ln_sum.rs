//! ln Σ eˣ of many values.

use crate::math;

/// ln Σ eˣ, updated one value at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct LnSum {
    largest: f64,
    /// Σ e^{x − largest}
    sum: f64,
}

impl LnSum {
    pub(super) const NONE: LnSum = LnSum { largest: f64::NEG_INFINITY, sum: 0.0 };

    pub(super) fn add(&mut self, value: f64) {
        if value > self.largest {
            self.sum = self.sum * math::exp(self.largest - value) + 1.0;
            self.largest = value;
        } else if value > f64::NEG_INFINITY {
            self.sum += math::exp(value - self.largest);
        }
    }

    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sum = Self::NONE;
        values.into_iter().for_each(|value| sum.add(value));
        sum
    }

    pub(super) fn ln(self) -> f64 {
        self.largest + math::ln(self.sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_far_from_one_neither_overflow_nor_vanish() {
        let twice = |value: f64| LnSum::of([value, f64::NEG_INFINITY, value]).ln();
        for value in [-1e5, 0.0, 1e5] {
            assert!((twice(value) - value - std::f64::consts::LN_2).abs() < 1e-9, "{value}");
        }
        assert_eq!(LnSum::NONE.ln(), f64::NEG_INFINITY);
        assert_eq!(LnSum::of([f64::NEG_INFINITY; 3]).ln(), f64::NEG_INFINITY);
    }
}
