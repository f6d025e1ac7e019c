//! Trade-off curves: the least false negative rate at each false positive rate.
//!
//! The curve of a claim, an accountant or a known attack is a [`TradeOffCurve`]; that of an audit,
//! with a band, an [`AuditCurve`](crate::audit::curve::AuditCurve).

mod tangents;
mod theory;

pub use theory::{claim_curve, deterministic_curve, max_slice_curve, poisson_curve};

pub use crate::accounting::TradeOffPoint;

use crate::math::exp;

/// A curve of straight pieces from fpr 0 to fpr 1, along which fpr never falls and fnr never rises.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeOffCurve {
    points: Vec<TradeOffPoint>,
    numeric_error: f64,
}

impl TradeOffCurve {
    /// The ends of the pieces, by rising fpr.
    #[must_use]
    pub fn points(&self) -> &[TradeOffPoint] {
        &self.points
    }

    /// Maximum error of fnr at any fpr from rounding.
    #[must_use]
    pub fn numeric_error(&self) -> f64 {
        self.numeric_error
    }

    /// fnr at a rate of false positives, in [0, 1]; linear between points.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::curve::claim_curve;
    /// // perfect privacy: the sum of both rates is 1
    /// assert_eq!(claim_curve(0.0, 0.0)?.fnr_at(0.3), 0.7);
    /// # Ok::<(), dpscope_core::accounting::AccountingError>(())
    /// ```
    #[must_use]
    pub fn fnr_at(&self, fpr: f64) -> f64 {
        let after = self.points.partition_point(|point| point.fpr <= fpr);
        let before = &self.points[after.saturating_sub(1)];
        match self.points.get(after) {
            Some(next) if next.fpr > before.fpr => {
                let share = ((fpr - before.fpr) / (next.fpr - before.fpr)).clamp(0.0, 1.0);
                before.fnr + share * (next.fnr - before.fnr)
            }
            _ => before.fnr,
        }
    }

    /// The privacy profile of the curve.
    ///
    /// δ(ε) = max (1 − fnr − e^ε fpr)₊ over its points
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `epsilon` | ε, nats | any number |
    ///
    /// # Guarantee
    /// On the curve of an accountant, δ is that of the accountant where both are evaluated at one ε
    /// (`tests/agreement/curves.rs::curves_and_profiles_agree`).
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        let ratio = exp(epsilon);
        let of = |point: &TradeOffPoint| {
            let lost = if point.fpr > 0.0 { ratio * point.fpr } else { 0.0 };
            1.0 - point.fnr - lost
        };
        self.points.iter().map(of).fold(0.0, f64::max)
    }

    /// The curve of the same pair with its worlds exchanged: both rates swap.
    #[must_use]
    pub fn exchanged(&self) -> Self {
        let exchanged = |point: &TradeOffPoint| TradeOffPoint { fpr: point.fnr, fnr: point.fpr };
        TradeOffCurve { points: self.points.iter().rev().map(exchanged).collect(), ..*self }
    }
}
