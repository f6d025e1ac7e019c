//! Maximum likelihood by Newton's method.

use super::groups::OutputGroups;
use super::likelihood::likelihood;
use super::placement::{Family, Parameters};

/// Steps of Newton's method; more are needed on no surface that was seen.
const MOST_STEPS: usize = 100;

/// Steps that gain less than that before a flat surface counts as its own maximum.
const FLAT_STEPS: u32 = 3;

/// Largest change of a logarithm or a logit in one step.
const LONGEST_STEP: f64 = 2.0;

/// A maximum of ln L.
#[derive(Debug, Clone, Copy)]
pub(super) struct Maximum {
    pub(super) ln_likelihood: f64,
    pub(super) at: Parameters,
    curvature: [[f64; 4]; 4],
}

/// Parameters that are held at their values.
pub(super) type Held = [bool; 4];

struct Surface<'a> {
    groups: &'a OutputGroups,
    family: &'a Family,
    held: Held,
}

impl Surface<'_> {
    /// ln L, its slope and its curvature by the parameters of the family.
    fn at(&self, parameters: &Parameters) -> (f64, [f64; 4], [[f64; 4]; 4]) {
        let (mut value, mut slope, mut curvature) = (0.0, [0.0; 4], [[0.0; 4]; 4]);
        for group in &self.groups.0 {
            let place = self.family.place(group.world, parameters);
            let of_group = likelihood(group, &place.coordinates);
            value += of_group.value;
            for row in 0..4 {
                let by_row = place.change(row);
                slope[row] += dot(&by_row, &of_group.slope);
                curvature[row][row] += dot(&place.bend(row), &of_group.slope);
                let image = of_group.curvature.map(|line| dot(&line, &by_row));
                for (column, entry) in curvature[row].iter_mut().enumerate() {
                    *entry += dot(&place.change(column), &image);
                }
            }
        }
        for index in (0..4).filter(|&index| self.held[index]) {
            slope[index] = 0.0;
            (0..4).for_each(|other| {
                curvature[index][other] = 0.0;
                curvature[other][index] = 0.0;
            });
            curvature[index][index] = -1.0;
        }
        (value, slope, curvature)
    }
}

/// The maximum that Newton's method finds from a start, with a growing multiple of the diagonal added
/// where the surface is not concave or a step does not rise (Levenberg and Marquardt).
pub(super) fn maximum(
    groups: &OutputGroups,
    family: &Family,
    held: Held,
    start: Parameters,
) -> Maximum {
    let used = family.used(groups);
    let held = [0, 1, 2, 3].map(|index| held[index] || !used[index]);
    let surface = Surface { groups, family, held };
    let mut at = start;
    let (mut value, mut slope, mut curvature) = surface.at(&at);
    let (mut damping, mut flat) = (0.0_f64, 0);
    for _ in 0..MOST_STEPS {
        let Some(mut step) = ascent(&slope, &curvature, damping) else {
            damping = (4.0 * damping).max(1e-3);
            continue;
        };
        let gain = 0.5 * dot(&step, &slope);
        let longest = family.longest(&step) / LONGEST_STEP;
        if longest > 1.0 {
            step.iter_mut().for_each(|change| *change /= longest);
        }
        let next = family.within([0, 1, 2, 3].map(|index| at[index] + step[index]));
        let (higher, next_slope, next_curvature) = surface.at(&next);
        let rises = higher >= value - 1e-12 * value.abs();
        flat = if rises && higher < value + family.last_gain { flat + 1 } else { 0 };
        if rises {
            (at, value, slope, curvature) = (next, higher, next_slope, next_curvature);
            damping = if damping > 1e-6 { damping / 8.0 } else { 0.0 };
        } else {
            damping = (4.0 * damping).max(1e-3);
        }
        if (rises && gain < family.last_gain) || flat == FLAT_STEPS || damping > 1e12 {
            break;
        }
    }
    Maximum { ln_likelihood: value, at, curvature }
}

impl Maximum {
    /// Standard error of a parameter by the curvature.
    pub(super) fn standard_error(&self, index: usize) -> Option<f64> {
        let mut unit = [0.0; 4];
        unit[index] = 1.0;
        let variance = ascent(&unit, &self.curvature, 0.0)?[index];
        (variance > 0.0 && variance.is_finite()).then(|| variance.sqrt())
    }
}

/// (−H + damping |diag H|)⁻¹ slope by Cholesky's method; none where that matrix is not positive.
fn ascent(slope: &[f64; 4], curvature: &[[f64; 4]; 4], damping: f64) -> Option<[f64; 4]> {
    let mut lower = [[0.0; 4]; 4];
    for row in 0..4 {
        for column in 0..=row {
            let mut entry = -curvature[row][column];
            if row == column {
                entry += damping * curvature[row][row].abs().max(1e-9);
            }
            let sum: f64 = (0..column).map(|k| lower[row][k] * lower[column][k]).sum();
            entry -= sum;
            if row == column {
                if !(entry > 1e-12 * curvature[row][row].abs()) {
                    return None;
                }
                lower[row][row] = entry.sqrt();
            } else {
                lower[row][column] = entry / lower[column][column];
            }
        }
    }
    let mut solved = *slope;
    for row in 0..4 {
        let sum: f64 = (0..row).map(|k| lower[row][k] * solved[k]).sum();
        solved[row] = (solved[row] - sum) / lower[row][row];
    }
    for row in (0..4).rev() {
        let sum: f64 = (row + 1..4).map(|k| lower[k][row] * solved[k]).sum();
        solved[row] = (solved[row] - sum) / lower[row][row];
    }
    solved.iter().all(|value| value.is_finite()).then_some(solved)
}

fn dot(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
