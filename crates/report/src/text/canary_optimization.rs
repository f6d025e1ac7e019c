//! Optimised canaries as text.

use crate::number::{counted, grouped};
use crate::record::{AucEstimate, CanaryComparison, CanaryOptimizationReport};
use crate::text::{Align, row, table};

/// What an optimisation of canaries gained.
#[must_use]
pub fn canary_optimization_text(report: &CanaryOptimizationReport) -> String {
    let mut out = row("result", &report.conclusion()) + "\n";
    let columns = [
        ("canaries", Align::Left),
        ("AUC raw", Align::Right),
        ("calibrated", Align::Right),
        ("per canary", Align::Right),
    ];
    let cells = |line: &CanaryComparison| {
        [
            line.canaries.name().to_owned(),
            estimate(line.raw),
            estimate(line.calibrated),
            estimate(line.per_canary),
        ]
    };
    let rows: Vec<_> = report.comparison.iter().map(cells).collect();
    out.push_str(&table(&columns, &rows));
    out.push('\n');
    let about = format!(
        "estimates with standard errors, from {} and their complements, the same for all rows",
        counted(report.compared_splits, "fresh split")
    );
    out.push_str(&row("AUC", &about));
    out.push_str(&row(
        "calibrated",
        "loss less the canary's mean loss in other trainings without it",
    ));
    let trained = format!(
        "{}, {} parameters, on {} records of {}: {} of {}, learning rate {}, momentum {}",
        report.model,
        grouped(report.parameters),
        grouped(report.records),
        report.data,
        counted(report.steps, "step"),
        report.batch_size,
        report.learning_rate,
        report.momentum
    );
    out.push_str(&row("trained", &trained));
    let smoothness =
        format!("{:.2}, of at most 1; metagradients mislead below 0.80", report.metasmoothness);
    out.push_str(&row("smoothness", &smoothness));
    let content = match report.is_rounded {
        true => "inputs (rounded), relaxed (before rounding), labels, indices of their records",
        false => "inputs, labels, indices of their records",
    };
    out.push_str(&row("file", &format!("{}: {content}", report.file)));
    out.push_str(&row("digest", &report.canaries_digest));
    out.push_str(&row("device", &report.devices.join(", then ")));
    out.push_str(&row("seed", &report.seed));
    for warning in &report.warnings {
        out.push_str(&row("warning", warning));
    }
    out
}

fn estimate(auc: AucEstimate) -> String {
    format!("{:.3} ± {:.3}", auc.value, auc.standard_error)
}
