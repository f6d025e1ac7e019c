//! Several tests at once.

/// Chance that correct code has a phase that is not as stated.
pub(crate) const FALSE_ALARM: f64 = 1e-3;

/// P-values adjusted by Holm's method, in the given order: those of at most α have a chance of at most
/// α to contain a false one, however the tests depend on each other.
///
/// # Reference
/// S. Holm, "A simple sequentially rejective multiple test procedure", 1979.
///
/// # Example
/// ```
/// let adjusted = dpscope_core::recorded::holm(&[0.01, 0.04, 0.03]);
/// assert_eq!(adjusted, [0.03, 0.06, 0.06]);
/// ```
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let (mut adjusted, mut largest) = (vec![1.0; p_values.len()], 0.0_f64);
    for (place, index) in order.into_iter().enumerate() {
        let left = (p_values.len() - place) as f64;
        largest = largest.max((left * p_values[index]).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}
