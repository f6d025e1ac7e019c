//! The better of both closed forms, for a target that may be absent from an epoch.

use super::run::check_given;
use super::{TargetSlots, epochs, sum};
use crate::accounting::{AccountingResult, Given};

impl TargetSlots {
    /// A lower bound of ε or δ from the largest output of every epoch, and from the sum where w =
    /// 1.
    ///
    /// One epoch: max_C ln((p(C) − δ)/q(C)), p = w mass(C, g) + (1 − w) mass(C, 0),
    /// q = w mass(C, g − 1) + (1 − w) mass(C, 0), mass(C, m) = 1 − Φ((C−m)/σ) Φ(C/σ)^{T−1}
    ///
    /// δ: max_C p(C) − e^ε q(C)
    ///
    /// The distribution of max_t x_t does not depend on the target's position, and neither does
    /// that of the sum if w = 1.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `given` | δ | [1e-300, 1) |
    /// | | or ε, nats | [0, 1e6] |
    ///
    /// # Guarantee
    /// At most the value of the pair, remove direction, and so of the mechanism
    /// (`tests/oracles/target_slots.rs::bounds_hold_for_the_pair_by_quadrature`).
    ///
    /// # Errors
    /// [`AccountingError::Argument`](crate::accounting::AccountingError::Argument).
    ///
    /// # Numerics
    /// Rounded down by a limit of the floating-point error. One epoch leaks at most as much as all:
    /// its bound, which needs no grid, is used where that of the run is lower, as at very small δ,
    /// or its grid would be too large, as for some runs at σ below 0.1.
    ///
    /// # Reference
    /// L. Chua et al. (ICML 2024), theorem 4.2, for w = 1 and g = 2; the rest is ours.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::accounting::{Given, shuffle::TargetSlots};
    /// let run = TargetSlots {
    ///     noise_multiplier: 1.0, slots: 100, presence: 0.5, gap: 2.0, epochs: 1,
    /// };
    /// assert_eq!(format!("{:.4}", run.lower(Given::Delta(1e-5))?.epsilon), "3.5980");
    /// # Ok::<(), dpscope_core::accounting::AccountingError>(())
    /// ```
    pub fn lower(&self, given: Given) -> AccountingResult {
        self.check()?;
        check_given(given)?;
        let slice = epochs::lower(self, given)?;
        if self.presence < 1.0 {
            return Ok(slice);
        }
        let sum = sum::lower(&self.as_shuffle(), 1.0, given)?;
        Ok(if slice.value(given) > sum.value(given) { slice } else { sum })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_bad_runs() {
        let good =
            TargetSlots { noise_multiplier: 1.0, slots: 10, presence: 0.5, gap: 2.0, epochs: 1 };
        assert!(good.lower(Given::Delta(1e-5)).is_ok());
        for bad in [0.0, -1.0, 1.1, f64::NAN] {
            let error =
                TargetSlots { presence: bad, ..good }.lower(Given::Delta(1e-5)).unwrap_err();
            assert!(error.to_string().contains("presence"), "{error}");
        }
        for bad in [0.9, f64::NAN, f64::INFINITY] {
            assert!(TargetSlots { gap: bad, ..good }.lower(Given::Delta(1e-5)).is_err());
        }
        for bad in [0.0, 1.0, f64::NAN] {
            assert!(good.lower(Given::Delta(bad)).is_err());
        }
    }

    #[test]
    fn more_presence_and_fewer_slots_leak_more() {
        let of = |slots, presence, epochs| {
            let run = TargetSlots { noise_multiplier: 0.8, slots, presence, gap: 2.0, epochs };
            run.lower(Given::Delta(1e-5)).unwrap().epsilon
        };
        for epochs in [1, 5] {
            let present: Vec<f64> = [0.01, 0.3, 0.9, 0.999, 1.0].map(|w| of(20, w, epochs)).into();
            assert!(present.is_sorted_by(|a, b| a < b), "{present:?}");
            let slots: Vec<f64> = [100, 20, 5, 2, 1].map(|slots| of(slots, 0.7, epochs)).into();
            assert!(slots.is_sorted_by(|a, b| a < b), "{slots:?}");
        }
    }

    #[test]
    fn certain_presence_is_the_limit() {
        for (noise_multiplier, slots, epochs) in [(0.5, 50, 1), (1.0, 100, 10), (2.0, 1, 3)] {
            let run = TargetSlots { noise_multiplier, slots, presence: 1.0, gap: 2.0, epochs };
            let slice = |run: &TargetSlots| epochs::lower(run, Given::Delta(1e-5)).unwrap().epsilon;
            let almost = slice(&TargetSlots { presence: 1.0 - 1e-12, ..run });
            assert!((slice(&run) - almost).abs() < 2e-4, "{run:?}: {almost} {}", slice(&run));
        }
    }
}
