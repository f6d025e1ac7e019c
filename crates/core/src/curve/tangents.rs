//! Curves from tangents: below the exact curve if each tangent is.

use super::{TradeOffCurve, TradeOffPoint};
use crate::math::exp;

/// A line 1 − fnr ≤ intercept + slope·fpr.
#[derive(Debug, Clone, Copy)]
struct Line {
    intercept: f64,
    slope: f64,
}

impl Line {
    /// fpr at the intersection with a flatter line.
    fn meets(&self, flatter: Line) -> f64 {
        (flatter.intercept - self.intercept) / (self.slope - flatter.slope)
    }
}

/// A point of a privacy profile.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProfilePoint {
    pub(super) epsilon: f64,
    pub(super) delta: f64,
}

/// The curve of a pair from points of its two profiles, each by falling ε ≥ 0.
///
/// fnr ≥ 1 − δ_remove(ε) − e^ε fpr, fnr ≥ e^{−ε}(1 − δ_add(ε) − fpr)
///
/// If no δ is below the exact one, the curve is not above the exact one.
pub(super) fn curve_below(
    remove: &[ProfilePoint],
    add: &[ProfilePoint],
    numeric_error: f64,
) -> TradeOffCurve {
    let steep =
        remove.iter().map(|point| Line { intercept: point.delta, slope: exp(point.epsilon) });
    let flat = add.iter().rev().map(|point| {
        let slope = exp(-point.epsilon);
        Line { intercept: 1.0 - slope * (1.0 - point.delta), slope }
    });
    let certain = Line { intercept: 1.0, slope: 0.0 };
    // The lower envelope: each line with the fpr at which it becomes the lowest.
    let mut lowest: Vec<(f64, Line)> = Vec::new();
    for line in steep.chain(flat).chain([certain]) {
        let mut from = 0.0;
        while let Some(&(start, last)) = lowest.last() {
            let replaced = line.intercept <= last.intercept;
            if !replaced && !(line.slope < last.slope) {
                from = f64::INFINITY;
                break;
            }
            from = if replaced { 0.0 } else { last.meets(line) };
            if from > start {
                break;
            }
            lowest.pop();
            from = from.max(0.0);
        }
        if from < 1.0 {
            lowest.push((from, line));
        }
    }
    let mut points: Vec<TradeOffPoint> = Vec::with_capacity(lowest.len() + 1);
    let mut least = 1.0_f64;
    for (fpr, Line { intercept, slope }) in lowest {
        least = least.min((1.0 - intercept - slope * fpr).max(0.0));
        points.push(TradeOffPoint { fpr, fnr: least });
    }
    points.push(TradeOffPoint { fpr: 1.0, fnr: 0.0 });
    TradeOffCurve { points, numeric_error }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(curve: &TradeOffCurve) -> Vec<(f64, f64)> {
        curve.points().iter().map(|point| (point.fpr, point.fnr)).collect()
    }

    #[test]
    fn lines_that_are_nowhere_lowest_are_left_out() {
        let at = |epsilon, delta| ProfilePoint { epsilon, delta };
        let none = [at(1.0, 0.0), at(0.0, 0.0)];
        assert_eq!(points(&curve_below(&none, &none, 0.0)), [(0.0, 1.0), (1.0, 0.0)]);
        let half = [at(0.0, 0.5)];
        assert_eq!(points(&curve_below(&half, &half, 0.0)), [(0.0, 0.5), (0.5, 0.0), (1.0, 0.0)]);
        let looser = [at(0.1, 0.5), at(0.0, 0.5)];
        assert_eq!(
            points(&curve_below(&looser, &looser, 0.0)),
            points(&curve_below(&half, &half, 0.0))
        );
        let nothing = points(&curve_below(&[], &[], 0.0));
        assert_eq!(nothing, [(0.0, 0.0), (1.0, 0.0)]);
    }

    #[test]
    fn slopes_near_the_largest_float_are_not_nan() {
        let far = [700.0, 350.0, 0.0].map(|epsilon| ProfilePoint { epsilon, delta: 1.0 - 1e-9 });
        let curve = curve_below(&far, &far, 0.0);
        assert!(curve.points().iter().all(|p| p.fpr.is_finite() && p.fnr.is_finite()));
        assert!(curve.fnr_at(0.5) < 1e-8);
    }
}
