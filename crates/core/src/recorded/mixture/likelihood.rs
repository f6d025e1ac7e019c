//! The ln likelihood of outputs under a mixture, with its slope and curvature.

use super::groups::{OutputGroup, Presence};
use crate::math;

/// Coordinates of one world: b, its contrast κ, ln σ and logit p.
pub(super) type Coordinates = [f64; 4];

/// ln L with its first and second derivatives by the coordinates.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Likelihood {
    pub(super) value: f64,
    pub(super) slope: [f64; 4],
    pub(super) curvature: [[f64; 4]; 4],
}

/// Sums over outputs, z in units of σ from the mean of the component, r the chance that the output
/// has the target, w = r(1 − r).
#[derive(Default)]
struct Sums {
    value: f64,
    /// Expected number of outputs with the target, Σ r
    present: f64,
    /// Σ (1 − r) z₀, Σ r z₁
    z: [f64; 2],
    /// Σ (1 − r) z₀², Σ r z₁²
    z_squared: [f64; 2],
    /// Σ w, Σ w z₁, Σ w z₁²
    w: [f64; 3],
}

/// ln L of a group at the coordinates of its world.
///
/// With l₀ and l₁ the ln of the weighted component densities, the slope is Σ (1 − r)∇l₀ + r∇l₁ and the
/// curvature Σ (1 − r)∇²l₀ + r∇²l₁ + w(∇l₁ − ∇l₀)(∇l₁ − ∇l₀)ᵀ.
pub(super) fn likelihood(group: &OutputGroup, at: &Coordinates) -> Likelihood {
    let [b, contrast, ln_noise, logit] = *at;
    let logit = match group.presence {
        Presence::Drawn => logit,
        Presence::Always => f64::INFINITY,
        Presence::Never => f64::NEG_INFINITY,
    };
    let noise = math::exp(ln_noise);
    let k = contrast / noise;
    let p = 1.0 / (1.0 + math::exp(-logit));
    let constant = -ln_noise - math::LN_SQRT_2PI;
    let (ln_absent, ln_present) = (constant - softplus(logit), constant - softplus(-logit));

    let mut sums = Sums::default();
    for (&output, &count) in group.values.iter().zip(&group.counts) {
        let z0 = (output - b) / noise;
        let z1 = z0 - k;
        let log_odds = logit + 0.5 * k * (z0 + z1);
        let odds = math::exp(-log_odds.abs());
        let (r, larger) = match log_odds > 0.0 {
            true => (1.0 / (1.0 + odds), ln_present - 0.5 * z1 * z1),
            false => (odds / (1.0 + odds), ln_absent - 0.5 * z0 * z0),
        };
        let w = odds / ((1.0 + odds) * (1.0 + odds));
        sums.value += count * (larger + math::ln_1p(odds));
        sums.present += count * r;
        for (index, (share, z)) in [(1.0 - r, z0), (r, z1)].into_iter().enumerate() {
            sums.z[index] += count * share * z;
            sums.z_squared[index] += count * share * z * z;
        }
        sums.w[0] += count * w;
        sums.w[1] += count * w * z1;
        sums.w[2] += count * w * z1 * z1;
    }
    derivatives(&sums, group.total, noise, k, p)
}

fn derivatives(sums: &Sums, total: f64, noise: f64, k: f64, p: f64) -> Likelihood {
    let Sums { value, present, z, z_squared, w } = *sums;
    let [z_all, squares] = [z[0] + z[1], z_squared[0] + z_squared[1]];
    let slope = [z_all / noise, z[1] / noise, squares - total, present - p * total];
    let precision = 1.0 / (noise * noise);
    // ∇l₁ − ∇l₀ = (−k/σ, z₁/σ, −2k z₁ − k², 1)
    let [w0, w1, w2] = w;
    let kk = k * k;
    let square = kk * (4.0 * w2 + 4.0 * k * w1 + kk * w0);
    let linear = -k * (2.0 * w1 + k * w0);
    let upper = [
        [
            precision * (kk * w0 - total),
            -precision * (present + k * w1),
            (-2.0 * z_all - k * linear) / noise,
            -k * w0 / noise,
        ],
        [
            0.0,
            precision * (w2 - present),
            (-2.0 * z[1] - k * (2.0 * w2 + k * w1)) / noise,
            w1 / noise,
        ],
        [0.0, 0.0, square - 2.0 * squares, linear],
        [0.0, 0.0, 0.0, w0 - p * (1.0 - p) * total],
    ];
    let mut curvature = upper;
    for (row, column) in (0..4).flat_map(|row| (0..row).map(move |column| (row, column))) {
        curvature[row][column] = upper[column][row];
    }
    Likelihood { value, slope, curvature }
}

/// ln(1 + eˣ)
fn softplus(x: f64) -> f64 {
    x.max(0.0) + math::ln_1p(math::exp(-x.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adjacency::World;

    #[test]
    fn derivatives_are_those_of_differences() {
        let outputs: Vec<f64> = (0..40).map(|i| 2.0 * math::sin(f64::from(i * i))).collect();
        let at = [-0.3, 1.4, -0.2, -1.1];
        for presence in [Presence::Drawn, Presence::Always, Presence::Never] {
            let group = OutputGroup::new(World::Target, presence, outputs.clone());
            let found = likelihood(&group, &at);
            let moved = |index: usize, by: f64| {
                let mut at = at;
                at[index] += by;
                likelihood(&group, &at)
            };
            for row in 0..4 {
                let [above, below] = [1e-5, -1e-5].map(|by| moved(row, by));
                let slope = (above.value - below.value) / 2e-5;
                assert!((slope - found.slope[row]).abs() < 1e-5, "{presence:?} {row}");
                for column in 0..4 {
                    let bend = (above.slope[column] - below.slope[column]) / 2e-5;
                    let exact = found.curvature[row][column];
                    assert!((bend - exact).abs() < 1e-4, "{presence:?} {row} {column}");
                }
            }
        }
    }
}
