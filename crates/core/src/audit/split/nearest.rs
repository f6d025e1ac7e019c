//! Distances to released rows.

/// Columns after which a row that is too far is left.
const STRIDE: usize = 8;

/// The Euclidean distance of each row to the nearest of the released ones; both have rows of `columns` numbers.
#[must_use]
pub fn nearest_distances(rows: &[f64], released: &[f64], columns: usize) -> Vec<f64> {
    rows.chunks(columns).map(|row| nearest(row, released)).collect()
}

fn nearest(row: &[f64], released: &[f64]) -> f64 {
    let mut least = f64::INFINITY;
    for other in released.chunks(row.len()) {
        let mut sum = 0.0;
        for (one, other) in row.chunks(STRIDE).zip(other.chunks(STRIDE)) {
            sum += one
                .iter()
                .zip(other)
                .map(|(one, other)| (one - other) * (one - other))
                .sum::<f64>();
            if sum >= least {
                break;
            }
        }
        least = least.min(sum);
    }
    least.sqrt()
}

#[cfg(test)]
mod tests {
    use super::nearest_distances;

    #[test]
    fn the_nearest_row_decides() {
        let released: Vec<f64> = [[0.0; 10], [1.0; 10], [5.0; 10]].concat();
        let rows: Vec<f64> = [[1.0; 10], [4.0; 10]].concat();
        let distances = nearest_distances(&rows, &released, 10);
        assert_eq!(distances[0], 0.0);
        assert!((distances[1] - 10.0_f64.sqrt()).abs() < 1e-12);
    }
}
