//! The characteristic function of masses on a line at evenly spaced frequencies, and sums over it.

use super::fft::{Complex, Packed, RealTransform};
use crate::math;

const UNIT: f64 = 0.5 * f64::EPSILON;

/// Number of grid points on each side over which a mass is spread.
const REACH: usize = 16;

/// Grid points for each frequency, at least. Fewer are faster and have larger rounding errors.
const OVERSAMPLING: usize = 8;
const LEAST_OVERSAMPLING: usize = 5;

/// Number of frequencies that take long.
const MANY: usize = 1 << 14;

/// b: a mass at y is spread as e^{−b(g − y)²} over the grid points g.
///
/// With M points, the mass beyond the reach is at most 2Σ e^{−bj²}, j ≥ 16, and the aliases of a
/// frequency f ≤ M/5 are at most 1.1e^{−(1 − 2/5)π²/b}: each less than 1e-16.
const SHARPNESS: f64 = 0.157_079_632_679_489_67; // (1 − 1/5)π/REACH

/// Number of masses that are summed before they are added to the grid, which limits rounding
/// errors.
const BLOCK: usize = 64;

/// Σ m e^{iuL} at u = 0, Δ, 2Δ, …
#[derive(Debug)]
pub(super) struct Spectrum {
    pub(super) values: Vec<Complex>,
    /// Bound of each value's error, without that of the losses.
    pub(super) error: f64,
}

impl Spectrum {
    /// Spectrum of losses, rising, whose masses add up to 1; `last` is the place of the last value.
    ///
    /// # Reference
    /// A. Dutt and V. Rokhlin (1993); L. Greengard and J.-Y. Lee (2004) for the fast spreading.
    pub(super) fn new(points: &[(f64, f64)], spacing: f64, last: usize) -> Self {
        let oversampling = if last < MANY { OVERSAMPLING } else { LEAST_OVERSAMPLING };
        let length = (oversampling * last).max(4 * REACH).next_power_of_two();
        let per_nat = length as f64 * spacing / (2.0 * std::f64::consts::PI);
        let (grid, most_additions) = spread(points, per_nat, length);
        let spectrum = RealTransform::new(length).low_spectrum(grid, last);
        let height = (SHARPNESS / std::f64::consts::PI).sqrt();
        let narrow = std::f64::consts::PI / length as f64;
        let undone = |place: usize| {
            let part = narrow * place as f64;
            height * math::exp(part * part / SHARPNESS)
        };
        let value = |(place, value): (usize, Complex)| {
            let factor = undone(place);
            // the transform has the opposite sign
            Complex { re: factor * value.re, im: -factor * value.im }
        };
        // of spreading, 36 u a weight; a sum of all weights is at most 1/height and a little
        let rounded = (36.0 + most_additions) * UNIT + 1.5 * RealTransform::error(length);
        let amplified = 1.01 * undone(last) / height;
        Spectrum {
            values: spectrum.into_iter().enumerate().map(value).collect(),
            error: 4e-16 + amplified * rounded + 16.0 * UNIT,
        }
    }
}

/// Σ a_k z^k, by Horner's rule for each fourth term.
pub(super) fn power_series(terms: &[Complex], z: Complex) -> Complex {
    let twice = z.times(z);
    let four = twice.times(twice);
    let mut sums = [Complex { re: 0.0, im: 0.0 }; 4];
    for chunk in terms.chunks(4).rev() {
        for (place, sum) in sums.iter_mut().enumerate() {
            *sum = sum.times(four);
            if let Some(term) = chunk.get(place) {
                *sum = sum.plus(*term);
            }
        }
    }
    let outer = sums[0].plus(sums[2].times(twice));
    outer.plus(z.times(sums[1].plus(sums[3].times(twice))))
}

/// x^n, to within a few n u.
pub(super) fn real_power(x: f64, n: u64) -> f64 {
    if n < 1 << 31 { math::powi(x, n as i32) } else { math::exp(n as f64 * math::ln(x)) }
}

/// The masses on a ring of grid points, and the maximum number of additions to one of these.
fn spread(points: &[(f64, f64)], per_nat: f64, length: usize) -> (Packed, f64) {
    const WIDTH: usize = 2 * REACH;
    let from_center = |place: usize| place as f64 - (REACH as f64 - 1.0);
    let bell: [f64; WIDTH] = std::array::from_fn(|place| {
        let offset = from_center(place);
        math::exp(-SHARPNESS * offset * offset)
    });
    let mut grid = Packed::zeros(length);
    let mut flush = |cell: i64, sums: &mut [f64; WIDTH]| {
        let first = (cell + 1 - REACH as i64).rem_euclid(length as i64) as usize;
        for (place, sum) in sums.iter_mut().enumerate() {
            grid.add((first + place) & (length - 1), *sum);
            *sum = 0.0;
        }
    };
    let cell_of = |point: &(f64, f64)| (point.0 * per_nat).floor() as i64;
    let mut sums = [0.0; WIDTH];
    for block in points.chunks(BLOCK) {
        let mut open = block.first().map_or(0, cell_of);
        for point in block {
            let cell = cell_of(point);
            let &(loss, mass) = point;
            if cell != open {
                flush(open, &mut sums);
                open = cell;
            }
            let part = loss * per_nat - cell as f64;
            let turn = math::exp(2.0 * SHARPNESS * part);
            let mut weight = mass * math::exp(-SHARPNESS * part * part);
            let start = weight;
            for place in REACH - 1..WIDTH {
                sums[place] += weight * bell[place];
                weight *= turn;
            }
            let back = 1.0 / turn;
            let mut weight = start;
            for place in (0..REACH - 1).rev() {
                weight *= back;
                sums[place] += weight * bell[place];
            }
        }
        flush(open, &mut sums);
    }
    let range = match (points.first(), points.last()) {
        (Some(first), Some(last)) => (last.0 - first.0) * per_nat,
        _ => 0.0,
    };
    // each time around the ring: once for each cell near, and for each block
    let rounds = (range / length as f64).ceil() + 1.0;
    let additions = BLOCK as f64 + WIDTH as f64 * rounds + (points.len() / BLOCK) as f64 + 2.0;
    (grid, additions)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Masses that thin out, some of them much beside each other.
    fn masses() -> Vec<(f64, f64)> {
        let mass = |place: usize| 1.0 / (1.0 + (place % 17) as f64);
        let total: f64 = (0..300).map(mass).sum();
        let loss = |place: usize| 1e-7 * math::powi(place as f64, 3) - 0.8;
        (0..300).map(|place| (loss(place), mass(place) / total)).collect()
    }

    fn direct(points: &[(f64, f64)], frequency: f64) -> Complex {
        points.iter().fold(Complex { re: 0.0, im: 0.0 }, |sum, (loss, mass)| {
            let (sine, cosine) = math::sin_cos(frequency * loss);
            sum.plus(Complex { re: mass * cosine, im: mass * sine })
        })
    }

    fn worst(points: &[(f64, f64)], seen: &Spectrum, spacing: f64) -> f64 {
        let change = |(place, value): (usize, &Complex)| {
            let exact = direct(points, spacing * place as f64);
            (value.re - exact.re).abs().max((value.im - exact.im).abs())
        };
        seen.values.iter().enumerate().map(change).fold(0.0, f64::max)
    }

    #[test]
    fn values_are_the_sums_by_definition() {
        let points = masses();
        for (spacing, last) in
            [(0.7, 3), (2.0, 40), (0.01, 1000), (6.0, 129), (0.3, 4096), (0.01, 52_000)]
        {
            let seen = Spectrum::new(&points, spacing, last);
            assert_eq!(seen.values.len(), last + 1);
            // phases of up to 2 · 1200 are off by some units
            let slack = 4.0 * UNIT * spacing * last as f64;
            let worst = worst(&points, &seen, spacing);
            assert!(worst <= seen.error + slack, "{spacing} {last}: {worst:e} {:e}", seen.error);
            assert!(seen.error < 1e-12, "{spacing} {last}: {:e}", seen.error);
        }
    }

    #[test]
    fn a_moved_mass_is_detected() {
        let points = masses();
        let mut moved = masses();
        moved[290].0 += 1e-8;
        let seen = Spectrum::new(&moved, 0.3, 512);
        assert!(worst(&points, &seen, 0.3) > 10.0 * seen.error);
    }
}
