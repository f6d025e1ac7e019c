//! Profile likelihood intervals.

use super::groups::OutputGroups;
use super::maximum::{Held, Maximum, maximum};
use super::placement::Family;

/// Error of a limit, in units of 2 ln L.
const ERROR: f64 = 1e-7;

/// Doublings of a distance before a side counts as open.
const MOST_DOUBLINGS: u32 = 8;

/// The values of a parameter at which twice the profile ln L is `limit` below its maximum; infinite
/// where it never is.
pub(super) fn interval(profile: &Profile<'_>, limit: f64) -> [f64; 2] {
    [-1.0, 1.0].map(|side| limit_of_side(profile, limit, side))
}

/// The largest ln L for each value of a parameter.
#[derive(Clone, Copy)]
pub(super) struct Profile<'a> {
    pub(super) groups: &'a OutputGroups,
    pub(super) family: &'a Family,
    pub(super) found: &'a Maximum,
    /// The parameter.
    pub(super) index: usize,
    /// Parameters that were held in finding the maximum.
    pub(super) held: Held,
}

fn limit_of_side(profile: &Profile<'_>, limit: f64, side: f64) -> f64 {
    let Profile { groups, family, found, index, mut held } = *profile;
    held[index] = true;
    let mut start = found.at;
    let mut excess = |value: f64| {
        start[index] = value;
        let profile = maximum(groups, family, held, start);
        start = profile.at;
        2.0 * (found.ln_likelihood - profile.ln_likelihood) - limit
    };
    let error = found.standard_error(index).unwrap_or(0.1);
    let mut distance = error * limit.sqrt();
    let (mut inner, mut below) = (found.at[index], -limit);
    let mut outer = inner + side * distance;
    let mut above = excess(outer);
    for _ in 0..MOST_DOUBLINGS {
        if above >= 0.0 {
            break;
        }
        (inner, below) = (outer, above);
        distance *= 2.0;
        outer = inner + side * distance;
        above = excess(outer);
    }
    if !(above >= 0.0) {
        return side * f64::INFINITY;
    }
    // regula falsi with Illinois' weights, on the square root, which is nearly linear
    let root = |excess: f64| (excess + limit).max(0.0).sqrt() - limit.sqrt();
    let (mut low, mut high) = (root(below), root(above));
    for _ in 0..60 {
        let middle = (inner * high - outer * low) / (high - low);
        let value = excess(middle);
        if value.abs() < ERROR {
            return middle;
        }
        if value < 0.0 {
            (inner, low) = (middle, root(value));
            high *= 0.5;
        } else {
            (outer, high) = (middle, root(value));
            low *= 0.5;
        }
    }
    outer
}
