//! Sums of powers of e^{x_t/σ²}, from one exponential per slot.

const LANES: usize = 8;

/// Sums over the slots of one epoch, in units of the largest term of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct PowerSums {
    /// Largest output, max_t x_t
    pub(super) maximum: f64,
    /// Sum of the outputs, Σ_t x_t
    pub(super) total: f64,
    /// Σ_t e^{(x_t − max)/σ²}
    pub(super) first: f64,
    /// Σ_t e^{2(x_t − max)/σ²}
    pub(super) second: f64,
    /// Σ_{t>1} e^{k(x_t − max)/(4σ²)}, k the power
    pub(super) others: f64,
}

impl PowerSums {
    /// | argument | meaning |
    /// |---|---|
    /// | `outputs` | x_t; the target's slot is the first |
    /// | `rate` | 1/(4σ²) |
    /// | `quarters` | the power k, ≥ 1 |
    ///
    /// Sums run in a fixed order of eight lanes, the same on every target.
    pub(super) fn of(outputs: &[f64], rate: f64, quarters: u32) -> Self {
        let (maximum, total) = maximum_and_total(outputs);
        let (mut first, mut second, mut others) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        let mut chunk = [0.0; LANES];
        for block in outputs.chunks(LANES) {
            chunk[..block.len()].copy_from_slice(block);
            chunk[block.len()..].fill(f64::NEG_INFINITY);
            let quarter = chunk.map(|x| exp_of_nonpositive((x - maximum) * rate));
            let whole = quarter.map(|u| (u * u) * (u * u));
            let powers = power(quarter, quarters);
            for lane in 0..LANES {
                first[lane] += whole[lane];
                second[lane] += whole[lane] * whole[lane];
                others[lane] += powers[lane];
            }
        }
        // the target's own term is subtracted where it may not dominate, else the sum is computed
        // anew
        let target = power([exp_of_nonpositive((outputs[0] - maximum) * rate); LANES], quarters)[0];
        let all = sum(others);
        let others = if target < 0.5 * all {
            all - target
        } else {
            let term =
                |&x: &f64| power([exp_of_nonpositive((x - maximum) * rate); LANES], quarters)[0];
            outputs[1..].iter().map(term).sum()
        };
        PowerSums { maximum, total, first: sum(first), second: sum(second), others }
    }
}

fn maximum_and_total(outputs: &[f64]) -> (f64, f64) {
    let (mut maximum, mut total) = ([f64::NEG_INFINITY; LANES], [0.0; LANES]);
    let blocks = outputs.chunks_exact(LANES);
    for (lane, x) in blocks.remainder().iter().enumerate() {
        (maximum[lane], total[lane]) = (*x, *x);
    }
    for block in blocks {
        for lane in 0..LANES {
            let x = block[lane];
            maximum[lane] = if x > maximum[lane] { x } else { maximum[lane] };
            total[lane] += x;
        }
    }
    (maximum.into_iter().fold(f64::NEG_INFINITY, f64::max), sum(total))
}

fn sum(lanes: [f64; LANES]) -> f64 {
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// u^k in every lane.
#[inline(always)]
fn power(mut base: [f64; LANES], mut k: u32) -> [f64; LANES] {
    let mut product = [1.0; LANES];
    while k > 0 {
        for lane in 0..LANES {
            if k & 1 == 1 {
                product[lane] *= base[lane];
            }
            base[lane] *= base[lane];
        }
        k >>= 1;
    }
    product
}

/// e^x for x ≤ 0, as a polynomial that vectorises; e^−700 below −700.
///
/// Relative error below 4e-16: x = k ln 2 + r with |r| ≤ 0.35, and e^r by its series to r¹².
#[inline(always)]
fn exp_of_nonpositive(x: f64) -> f64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0; // 1.5·2⁵²: its last bits are the nearest integer
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let x = if x > -700.0 { x } else { -700.0 };
    let shifted = x * std::f64::consts::LOG2_E + SHIFT;
    let k = shifted - SHIFT;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let p = 1.0 / 479_001_600.0;
    let p = p * r + 1.0 / 39_916_800.0;
    let p = p * r + 1.0 / 3_628_800.0;
    let p = p * r + 1.0 / 362_880.0;
    let p = p * r + 1.0 / 40_320.0;
    let p = p * r + 1.0 / 5_040.0;
    let p = p * r + 1.0 / 720.0;
    let p = p * r + 1.0 / 120.0;
    let p = p * r + 1.0 / 24.0;
    let p = p * r + 1.0 / 6.0;
    let p = p * r + 0.5;
    let p = p * r + 1.0;
    let p = p * r + 1.0;
    p * f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math;

    #[test]
    fn exponential_is_exact_to_its_stated_error() {
        let mut worst = 0.0_f64;
        for index in 0..200_000 {
            let x = -0.0034567 * f64::from(index);
            worst = worst.max((exp_of_nonpositive(x) / math::exp(x) - 1.0).abs());
        }
        assert!(worst < 4e-16, "{worst:e}");
        assert_eq!(exp_of_nonpositive(0.0), 1.0);
        assert!(exp_of_nonpositive(f64::NEG_INFINITY) < 1e-300);
    }

    #[test]
    fn sums_are_those_of_the_plain_formula() {
        for length in [2_usize, 7, 8, 9, 33] {
            for target in [-1.0, 4.0] {
                let mut x: Vec<f64> = (0..length).map(|t| math::sin(t as f64)).collect();
                x[0] = target;
                let s2 = 0.49;
                let seen = PowerSums::of(&x, 0.25 / s2, 13);
                let maximum = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                assert_eq!(seen.maximum, maximum);
                assert!((seen.total - x.iter().sum::<f64>()).abs() < 1e-13);
                let of = |k: f64, from: usize| -> f64 {
                    x[from..].iter().map(|x| math::exp(k * (x - maximum) / s2)).sum()
                };
                assert!((seen.first / of(1.0, 0) - 1.0).abs() < 1e-13);
                assert!((seen.second / of(2.0, 0) - 1.0).abs() < 1e-13);
                assert!((seen.others / of(3.25, 1) - 1.0).abs() < 1e-13, "{length} {target}");
            }
        }
    }
}
