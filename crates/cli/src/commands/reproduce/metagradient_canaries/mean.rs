//! Means with standard errors.

use dpscope_report::record::MeanEstimate;
use dpscope_train::metagradient::MeanAuc;

/// The mean of independent values; its standard error is 0 for a single one.
pub(super) fn mean(values: &[f64]) -> MeanEstimate {
    let count = values.len().max(1) as f64;
    let value = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|one| (one - value) * (one - value)).sum();
    let standard_error = (squares / (count - 1.0).max(1.0) / count).sqrt();
    MeanEstimate { value, standard_error }
}

/// A mean AUC.
pub(super) fn of_auc(auc: MeanAuc) -> MeanEstimate {
    MeanEstimate { value: auc.value, standard_error: auc.standard_error }
}
