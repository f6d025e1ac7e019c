//! Correlation between the worlds.

use super::{
    Dependence, IndependenceCheck, IndependenceError, RecordedRuns, tail::student_two_sided,
};

/// Minimum number of pairs of runs.
const LEAST_RUNS: usize = 4;

/// Tests whether run i of D and run i of D′ have correlated outputs, as they do when both worlds
/// were trained from the same seeds.
///
/// With u, v the outputs of the two worlds less their means over runs (step by step), d outputs per
/// run, and s_i = Σ_j u_ij·v_ij:
///
/// statistic = Σ_ij u_ij·v_ij ÷ √(Σ u_ij²·Σ v_ij²), t = √(R(R−2)/(R−1))·mean(s)/sd(s)
///
/// | argument | meaning |
/// |---|---|
/// | `target`, `zero_out` | outputs of D and of D′, runs × epochs × steps; extra runs of the longer one are ignored |
///
/// # Guarantee
/// The p-value is two-sided, of Student's t with R − 2 degrees of freedom, and assumes only that
/// runs are identically distributed; the factor (R−2)/(R−1) corrects for the subtracted means, and
/// is exact for normal noise. Test
/// `tests/agreement/independence.rs::shared_noise_between_worlds_is_detected`.
///
/// # Errors
/// Worlds whose runs differ in length.
///
/// # Reference
/// The variances of s under independent normal outputs, Var Σ s = σ⁴d(R − 1) and E\[sample variance\]
/// = σ⁴d(R − 2)/R, follow from the two projections that remove the means.
pub fn shared_noise(
    target: RecordedRuns<'_>,
    zero_out: RecordedRuns<'_>,
) -> Result<IndependenceCheck, IndependenceError> {
    target.check_shape(zero_out)?;
    let finite = |run: &[f64]| run.iter().all(|value| value.is_finite());
    let pairs: Vec<(&[f64], &[f64])> = target
        .runs()
        .zip(zero_out.runs())
        .filter(|(left, right)| finite(left) && finite(right))
        .collect();
    if pairs.len() < LEAST_RUNS {
        return Ok(IndependenceCheck::too_little_data());
    }
    let (mean_left, mean_right) = means(&pairs, target.run_len());
    let (mut left_squares, mut right_squares) = (0.0, 0.0);
    let products: Vec<f64> = pairs
        .iter()
        .map(|(left, right)| {
            let mut product = 0.0;
            for (((l, r), ml), mr) in left.iter().zip(*right).zip(&mean_left).zip(&mean_right) {
                let (u, v) = (l - ml, r - mr);
                left_squares += u * u;
                right_squares += v * v;
                product += u * v;
            }
            product
        })
        .collect();

    let runs = products.len() as f64;
    let mean = products.iter().sum::<f64>() / runs;
    let variance = products.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / (runs - 1.0);
    let correlation = runs * mean / (left_squares * right_squares).sqrt();
    if !correlation.is_finite() {
        return Ok(IndependenceCheck::too_little_data());
    }
    let t = mean * (runs * (runs - 2.0) / (runs - 1.0)).sqrt() / variance.sqrt();
    let p_value = student_two_sided(t, runs - 2.0);
    let finding = Dependence::SharedNoise { correlation };
    Ok(IndependenceCheck::new(correlation, p_value, finding))
}

/// Mean over runs of each output, in the two worlds.
fn means(pairs: &[(&[f64], &[f64])], run_len: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut left, mut right) = (vec![0.0; run_len], vec![0.0; run_len]);
    for (l, r) in pairs {
        left.iter_mut().zip(*l).for_each(|(sum, value)| *sum += value);
        right.iter_mut().zip(*r).for_each(|(sum, value)| *sum += value);
    }
    let runs = pairs.len() as f64;
    left.iter_mut().chain(&mut right).for_each(|sum| *sum /= runs);
    (left, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(target: &[f64], zero_out: &[f64], steps: usize) -> IndependenceCheck {
        let view = |values| RecordedRuns::new(values, 1, steps).unwrap();
        shared_noise(view(target), view(zero_out)).unwrap()
    }

    #[test]
    fn a_world_against_itself_is_fully_correlated() {
        let values: Vec<f64> = (0..400).map(|i| f64::from(i * i * 7 % 101)).collect();
        let found = check(&values, &values, 10);
        assert!((found.statistic - 1.0).abs() < 1e-12);
        assert!(
            matches!(found.finding, Some(Dependence::SharedNoise { correlation }) if correlation > 0.999)
        );
    }

    #[test]
    fn a_mean_that_both_worlds_share_is_no_correlation() {
        // Drift over the steps, equal in all runs, and nothing else.
        let drift: Vec<f64> = (0..40).map(|i| f64::from(i % 10)).collect();
        assert_eq!(check(&drift, &drift, 10).finding, None);
    }

    #[test]
    fn few_or_failed_runs_have_no_finding() {
        assert_eq!(check(&[1.0, 2.0, 3.0], &[3.0, 5.0, 1.0], 1).p_value, 1.0);
        let mut broken = vec![f64::NAN; 12];
        broken[..3].copy_from_slice(&[1.0, 2.0, 4.0]);
        assert_eq!(check(&broken, &broken, 1).p_value, 1.0);
    }
}
