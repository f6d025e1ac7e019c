//! Labels beside the ends of curves, without overlap.

/// Least distance of two labels.
const APART: f64 = 23.0;

/// Heights of labels close to `wanted`, between `top` and `bottom`, without overlap where there is
/// room.
pub(super) fn heights(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut found = wanted.to_vec();
    let mut least = top;
    for &index in &order {
        found[index] = found[index].max(least);
        least = found[index] + APART;
    }
    let mut most = bottom;
    for &index in order.iter().rev() {
        found[index] = found[index].min(most);
        most = found[index] - APART;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_apart_and_inside() {
        for wanted in [vec![50.0; 7], vec![0.0, 400.0, 399.0, 398.0, 1.0], vec![7.0]] {
            let found = heights(&wanted, 0.0, 400.0);
            let mut sorted = found.clone();
            sorted.sort_by(f64::total_cmp);
            assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= APART), "{found:?}");
            assert!(found.iter().all(|y| (0.0..=400.0).contains(y)), "{found:?}");
        }
        assert_eq!(heights(&[100.0, 300.0], 0.0, 400.0), [100.0, 300.0]);
    }
}
