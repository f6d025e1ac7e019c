//! Random draws of the tests: fixed seeds, a published generator.

use dpscope_core::math;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of draws.
#[derive(Debug)]
pub struct Draws {
    words: ChaCha8Rng,
    spare: Option<f64>,
}

impl Draws {
    /// The first stream of the seed.
    pub fn new(seed: u64) -> Self {
        Self::of_run(seed, 0)
    }

    /// A stream for each repetition under one seed.
    pub fn of_run(seed: u64, run: u64) -> Self {
        let mut words = ChaCha8Rng::seed_from_u64(seed);
        words.set_stream(run);
        Self { words, spare: None }
    }

    /// Uniform on (0, 1), neither end: 52 bits, so that the largest value is not rounded to 1.
    pub fn uniform(&mut self) -> f64 {
        inside(self.words.next_u64() >> 12)
    }

    /// Uniform in 0..`bound`; the bias is below bound/2⁶⁴.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.words.next_u64()) * bound as u128) >> 64) as usize
    }

    /// Standard normal, by the polar method.
    pub fn normal(&mut self) -> f64 {
        if let Some(normal) = self.spare.take() {
            return normal;
        }
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = u * u + v * v;
            if square < 1.0 && square > 0.0 {
                let radius = (-2.0 * math::ln(square) / square).sqrt();
                self.spare = Some(v * radius);
                return u * radius;
            }
        }
    }

    /// Every order equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// The middle of the cell that 52 bits name.
fn inside(bits: u64) -> f64 {
    (bits as f64 + 0.5) / (1_u64 << 52) as f64
}

/// z of the mean of `values` against `expected`, by the sample's own spread.
pub fn z_of_mean(values: &[f64], expected: f64) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean - expected) / (variance / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::{Draws, inside, z_of_mean};

    /// The largest |z| among the first four moments of `values` against those of a standard normal.
    fn worst_moment(values: &[f64]) -> f64 {
        let moments = [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)];
        let z = moments.map(|(power, expected)| {
            let powers: Vec<f64> =
                values.iter().map(|v| (0..power).fold(1.0, |p, _| p * v)).collect();
            z_of_mean(&powers, expected).abs()
        });
        z.into_iter().fold(0.0, f64::max)
    }

    #[test]
    fn normals_have_the_moments_of_the_standard_normal() {
        let mut draws = Draws::new(1);
        let normals: Vec<f64> = (0..40_000).map(|_| draws.normal()).collect();
        assert!(worst_moment(&normals) < 4.0, "{}", worst_moment(&normals));
        let narrow: Vec<f64> = normals.iter().map(|v| 0.95 * v).collect();
        assert!(worst_moment(&narrow) > 4.0, "{}", worst_moment(&narrow));
        let flat: Vec<f64> = (0..40_000).map(|_| 12_f64.sqrt() * (draws.uniform() - 0.5)).collect();
        assert!(worst_moment(&flat) > 4.0, "{}", worst_moment(&flat));
    }

    #[test]
    fn every_order_is_equally_likely() {
        let worst = |shuffle: &mut dyn FnMut(&mut [usize; 3])| {
            let mut counts = [0_i32; 6];
            for _ in 0..24_000 {
                let mut items = [0, 1, 2];
                shuffle(&mut items);
                counts[2 * items[0] + usize::from(items[1] > items[2])] += 1;
            }
            counts.map(|count| (count - 4_000).abs()).into_iter().max().unwrap()
        };
        // Four standard deviations of a count are 231.
        let mut draws = Draws::new(2);
        assert!(worst(&mut |items| draws.shuffle(items)) < 231);
        let careless = worst(&mut |items| {
            for at in 0..3 {
                let other = draws.below(3);
                items.swap(at, other);
            }
        });
        assert!(careless > 231, "{careless}");
    }

    #[test]
    fn uniforms_stay_inside_and_streams_differ() {
        assert!(inside(0) > 0.0 && inside((1 << 52) - 1) < 1.0);
        let first = |mut draws: Draws| draws.uniform().to_bits();
        assert_eq!(first(Draws::new(3)), first(Draws::of_run(3, 0)));
        assert_ne!(first(Draws::new(3)), first(Draws::of_run(3, 1)));
        assert_ne!(first(Draws::new(3)), first(Draws::new(4)));
    }
}
