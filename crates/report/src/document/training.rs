//! Rows about models that were trained.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::OutcomeKind;
use dpscope_core::format::rounded;

use super::Document;
use crate::number::{counted, plain, signed};
use crate::record::{Idealised, TrainingFacts};

pub(crate) fn add_training(document: &mut Document, training: &TrainingFacts) {
    let name = |place: &[&str]| {
        let found = place.iter().try_fold(&training.description, |value, key| value.get(key));
        found.map_or(String::new(), |value| match value {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    };
    document.row(
        "trained",
        &format!(
            "on {} records of {}, learning rate {}",
            name(&["data", "records"]),
            name(&["data", "name"]),
            name(&["settings", "learning_rate"])
        ),
    );
    if let Some(share) = training.correct_share {
        let asked = counted(training.asked, "prediction");
        document.row(
            "models",
            &format!("{:.1} % of {asked} on held-out data are correct", 100.0 * share),
        );
    }
    if let (Some(bias), Some(variance), Some(error)) =
        (training.bias, training.residual_variance, training.residual_variance_error)
    {
        let text = format!(
            "outputs deviate by {} σ from the idealised mean and vary by {} ± {error:.4} of the \
                 noise variance",
            signed(bias),
            rounded(variance, 4)
        );
        document.row("residuals", &text);
    }
    if let Some(Idealised { kind, epsilon }) = training.idealised {
        let shown = match kind {
            OutcomeKind::Bound => format!("≥ {}", plain(epsilon, Kind::Lower, 4)),
            OutcomeKind::Estimate => format!("≈ {epsilon:.4}"),
        };
        let text = format!(
            "ε {shown} by the same audit of the batched Gaussian mechanism: what these \
                 runs could show if no record but the canary's mattered"
        );
        document.row("idealised", &text);
    }
}
