//! Standard normals in f64.

use super::{Purpose, chacha8, key};
use crate::math;

/// Independent standard normals in f64 from the words of one stream.
///
/// Marsaglia's polar method: (u, v) in the middle of one of 2¹⁰⁴ cells of (−1, 1)², accepted if s =
/// u² + v² < 1, yields u√(−2 ln s/s) and v√(−2 ln s/s).
///
/// # Numerics
/// Relative error below 2e-15 of the normal of the point (u, v). |z| < 12.
///
/// # Guarantee
/// They follow the normal distribution (`unit::normals_are_normally_distributed`), and their values
/// are stable (`unit::values_are_stable`).
///
/// # Reference
/// G. Marsaglia and T. A. Bray, "A convenient method for generating normal variables" (1964).
#[derive(Debug, Clone)]
pub struct WideNormals {
    key: [u32; 8],
    stream: u64,
    block: u64,
    words: [u32; 16],
    used: usize,
    second: Option<f64>,
}

impl WideNormals {
    /// Normals of a stream, from its first word.
    #[must_use]
    pub fn new(seed: u64, purpose: Purpose, stream: u64) -> Self {
        let key = key(seed, purpose);
        WideNormals { key, stream, block: 0, words: [0; 16], used: 16, second: None }
    }

    /// Fills a slice with the next normals.
    pub fn fill(&mut self, out: &mut [f64]) {
        for z in out {
            *z = self.next_normal();
        }
    }

    fn next_normal(&mut self) -> f64 {
        if let Some(second) = self.second.take() {
            return second;
        }
        loop {
            let (u, v) = (self.next_uniform(), self.next_uniform());
            let s = u * u + v * v;
            if s < 1.0 {
                let factor = (-2.0 * math::ln(s) / s).sqrt();
                self.second = Some(v * factor);
                return u * factor;
            }
        }
    }

    /// Uniform on (−1, 1), in the middle of one of 2⁵² cells; exact.
    fn next_uniform(&mut self) -> f64 {
        if self.used == self.words.len() {
            self.words = chacha8::block(&self.key, self.block, self.stream);
            self.block += 1;
            self.used = 0;
        }
        let [low, high] = [self.words[self.used], self.words[self.used + 1]];
        self.used += 2;
        let word = u64::from(high) << 32 | u64::from(low);
        (2 * (word >> 12) + 1) as f64 * (1.0 / 4_503_599_627_370_496.0) - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::normal_cdf;

    /// χ² of 64 equally likely cells in standard deviations, and the correlation of neighbours in
    /// standard errors; the larger of the two.
    fn deviation(normals: &[f64]) -> f64 {
        let mut cells = [0.0_f64; 64];
        for z in normals {
            cells[((64.0 * normal_cdf(*z)) as usize).min(63)] += 1.0;
        }
        let n = normals.len() as f64;
        let chi: f64 = cells.iter().map(|c| (c - n / 64.0) * (c - n / 64.0) * 64.0 / n).sum();
        let products: f64 = normals.windows(2).map(|z| z[0] * z[1]).sum();
        ((chi - 63.0) / 126.0_f64.sqrt()).max(products.abs() / n.sqrt())
    }

    #[test]
    fn normals_are_normally_distributed() {
        let mut normals = vec![0.0; 1 << 18];
        WideNormals::new(5, Purpose::Test, 1).fill(&mut normals);
        assert!(deviation(&normals) < 4.5, "{}", deviation(&normals));
        let more: Vec<f64> = normals.iter().map(|z| 1.01 * z).collect();
        assert!(deviation(&more) > 4.5, "noise x 1.01");
        let doubled: Vec<f64> = normals.iter().flat_map(|z| [*z, *z]).collect();
        assert!(deviation(&doubled) > 4.5, "each twice");
    }

    #[test]
    fn filling_in_parts_yields_the_same_normals() {
        let (mut whole, mut parts) = ([0.0; 37], [0.0; 37]);
        WideNormals::new(5, Purpose::Test, 1).fill(&mut whole);
        let mut normals = WideNormals::new(5, Purpose::Test, 1);
        let (head, tail) = parts.split_at_mut(11);
        normals.fill(head);
        normals.fill(tail);
        assert_eq!(whole, parts);
        WideNormals::new(5, Purpose::Test, 3).fill(&mut parts);
        assert_ne!(whole, parts);
    }

    #[test]
    fn values_are_stable() {
        let mut normals = [0.0; 3];
        WideNormals::new(20_261_121, Purpose::Test, 5).fill(&mut normals);
        assert_eq!(
            normals.map(f64::to_bits),
            [4_602_084_569_023_837_533, 13_821_705_016_689_563_002, 13_832_084_833_431_734_700,]
        );
    }
}
