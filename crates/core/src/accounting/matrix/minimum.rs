//! Minima of smooth functions of a few parameters, by a limited-memory quasi-Newton method.
//!
//! By hand: results must have the same bits on every target, which no optimiser of a library promises.

use std::collections::VecDeque;

/// The end of a search.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Minimum {
    pub(super) point: Vec<f64>,
    /// The decrease that a further step would bring, by the quadratic model.
    pub(super) decrease: f64,
}

/// A step's predicted decrease at which a search ends.
pub(super) const TOLERANCE: f64 = 1e-11;

/// Most steps of a search.
const MOST_ITERATIONS: usize = 500;

/// Number of differences that are remembered.
const MEMORY: usize = 20;

struct Difference {
    point: Vec<f64>,
    gradient: Vec<f64>,
    inverse_product: f64,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// −H⁻¹g by the two loops of J. Nocedal (1980).
fn direction(gradient: &[f64], memory: &VecDeque<Difference>) -> Vec<f64> {
    let mut result: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let add = |result: &mut [f64], factor: f64, vector: &[f64]| {
        result.iter_mut().zip(vector).for_each(|(r, v)| *r += factor * v);
    };
    let mut factors = Vec::with_capacity(memory.len());
    for pair in memory.iter().rev() {
        let factor = pair.inverse_product * dot(&pair.point, &result);
        add(&mut result, -factor, &pair.gradient);
        factors.push(factor);
    }
    if let Some(pair) = memory.back() {
        let factor = 1.0 / (pair.inverse_product * dot(&pair.gradient, &pair.gradient));
        result.iter_mut().for_each(|r| *r *= factor);
    }
    for (pair, factor) in memory.iter().zip(factors.iter().rev()) {
        let back = pair.inverse_product * dot(&pair.gradient, &result);
        add(&mut result, factor - back, &pair.point);
    }
    result
}

/// Searches from a point, where the function is finite.
///
/// `evaluate` returns the value and writes the gradient; a value that is not finite is outside the
/// domain. Deterministic.
pub(super) fn minimise(
    start: Vec<f64>,
    evaluate: &mut dyn FnMut(&[f64], &mut [f64]) -> f64,
) -> Minimum {
    let mut point = start;
    let mut gradient = vec![0.0; point.len()];
    let mut value = evaluate(&point, &mut gradient);
    let mut memory: VecDeque<Difference> = VecDeque::new();
    let (mut next, mut next_gradient) = (point.clone(), gradient.clone());
    let mut decrease = f64::INFINITY;
    for _ in 0..MOST_ITERATIONS {
        let mut toward = direction(&gradient, &memory);
        let mut slope = dot(&gradient, &toward);
        if !(slope < 0.0) {
            memory.clear();
            toward = direction(&gradient, &memory);
            slope = dot(&gradient, &toward);
        }
        decrease = -0.5 * slope;
        if !(decrease > TOLERANCE) {
            break;
        }
        let mut length = if memory.is_empty() { 0.1 / (-slope).sqrt() } else { 1.0 };
        let mut next_value = f64::INFINITY;
        while length > 1e-12 {
            next.iter_mut().zip(point.iter().zip(&toward)).for_each(|(n, (p, d))| {
                *n = p + length * d;
            });
            next_value = evaluate(&next, &mut next_gradient);
            if next_value <= value + 1e-4 * length * slope {
                break;
            }
            length *= 0.5;
        }
        if !(next_value < value) {
            if memory.is_empty() {
                break;
            }
            memory.clear();
            continue;
        }
        let change: Vec<f64> = next.iter().zip(&point).map(|(n, p)| n - p).collect();
        let turn: Vec<f64> = next_gradient.iter().zip(&gradient).map(|(n, g)| n - g).collect();
        let product = dot(&change, &turn);
        if product > 1e-12 * (dot(&change, &change) * dot(&turn, &turn)).sqrt() {
            if memory.len() == MEMORY {
                memory.pop_front();
            }
            let inverse_product = 1.0 / product;
            memory.push_back(Difference { point: change, gradient: turn, inverse_product });
        }
        std::mem::swap(&mut point, &mut next);
        std::mem::swap(&mut gradient, &mut next_gradient);
        value = next_value;
    }
    Minimum { point, decrease }
}
