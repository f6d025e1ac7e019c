//! The spread of recorded outputs, compared with the stated noise.

/// Differences y of the outputs of two independent runs, step by step, compared with the noise.
///
/// S = Σ y²/(2σ²) over n differences. S is stochastically at least as large as χ² with n degrees of
/// freedom, whatever else changes the outputs.
///
/// # Guarantee
/// If each output has independent noise N(0, σ²), [`Self::is_too_small`] with probability at most
/// e⁻⁸ = 3.4e-4 (`unit::noise_of_the_stated_size_is_found`).
///
/// # Reference
/// B. Laurent and P. Massart (2000), lemma 1, with x = 8.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct OutputSpread {
    squares: f64,
    differences: f64,
}

impl OutputSpread {
    /// Adds the differences of two runs, over the steps that both have.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `first`, `second` | outputs in clip norms | any; differences that are not finite are ignored |
    /// | `noise_multiplier` | σ | (0, ∞) |
    pub fn add(&mut self, first: &[f64], second: &[f64], noise_multiplier: f64) {
        for (o, other) in first.iter().zip(second) {
            let change = (o - other) / noise_multiplier;
            let square = 0.5 * change * change;
            if square.is_finite() {
                self.squares += square;
                self.differences += 1.0;
            }
        }
    }

    /// √(S/n): about 1 for noise alone, more if records change the outputs; none without
    /// differences.
    #[must_use]
    pub fn ratio(self) -> Option<f64> {
        (self.differences > 0.0).then(|| (self.squares / self.differences).sqrt())
    }

    /// Whether the spread is too small for the stated noise: S < n − 4√(2n).
    #[must_use]
    pub fn is_too_small(self) -> bool {
        self.squares < self.differences - 4.0 * (2.0 * self.differences).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::normal;

    /// Differences at the quantiles of two runs' noise, scaled.
    fn spread(count: u32, scale: f64) -> OutputSpread {
        let mut spread = OutputSpread::default();
        for index in 0..count {
            let share = (f64::from(index) + 0.5) / f64::from(count);
            let noise = normal::quantile(share) * core::f64::consts::SQRT_2 * 0.7;
            spread.add(&[3.0 + scale * noise], &[3.0], 0.7);
        }
        spread
    }

    #[test]
    fn noise_of_the_stated_size_is_found() {
        for (count, scale, is_too_small) in [
            (1000, 1.0, false),
            (1000, 0.98, false),
            (1000, 2.0, false),
            (1000, 0.85, true),
            (20, 0.0, false),
            (100, 0.3, true),
        ] {
            let spread = spread(count, scale);
            assert_eq!(spread.is_too_small(), is_too_small, "{count} {scale}");
            assert!((spread.ratio().unwrap() - scale).abs() < 0.02 * scale.max(1e-9), "{scale}");
        }
        assert_eq!(OutputSpread::default().ratio(), None);
        let mut lost = spread(1, 1.0);
        lost.add(&[f64::NAN, f64::INFINITY], &[0.0, 0.0], 1.0);
        assert_eq!(lost, spread(1, 1.0));
    }
}
