//! Seeds from recorded data.

/// A seed below 2⁵³ that depends on every bit of the recorded values of both worlds.
///
/// Audits of files split them at random; with this seed the same files always have the same result.
/// SplitMix64's mixing function over the bits of all values; not cryptographic.
///
/// # Example
/// ```
/// use dpscope_core::random::content_seed;
/// let seed = content_seed([&[1.0, 2.0], &[0.5]]);
/// assert_eq!(seed, content_seed([&[1.0, 2.0], &[0.5]]));
/// assert_ne!(seed, content_seed([&[1.0], &[2.0, 0.5]]));
/// ```
#[must_use]
pub fn content_seed(worlds: [&[f64]; 2]) -> u64 {
    let mixed = worlds.iter().fold(0, |state, values| {
        let start = mix(state ^ values.len() as u64);
        values.iter().fold(start, |state, value| mix(state ^ value.to_bits()))
    });
    mixed >> 11
}

fn mix(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_and_every_place_counts() {
        let values: Vec<f64> = (0..50).map(f64::from).collect();
        let seed = content_seed([&values, &values]);
        assert!(seed < 1 << 53);
        for index in 0..50 {
            for bit in [0, 31, 51, 63] {
                let mut changed = values.clone();
                changed[index] = f64::from_bits(changed[index].to_bits() ^ (1 << bit));
                assert_ne!(content_seed([&changed, &values]), seed);
                assert_ne!(content_seed([&values, &changed]), seed);
            }
        }
        let mut swapped = values.clone();
        swapped.swap(3, 4);
        assert_ne!(content_seed([&swapped, &values]), seed);
    }

    #[test]
    fn seeds_are_stable() {
        assert_eq!(content_seed([&[1.0, -2.5], &[0.25]]), 4_401_126_425_826_447);
    }
}
