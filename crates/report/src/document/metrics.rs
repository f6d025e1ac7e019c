//! Metrics that membership-inference papers report.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::metrics::{AttackMetrics, GdpEpsilon};
use dpscope_core::format::given;

use super::{Align, Document, Section};
use crate::number::{confidence, plain};

/// The metrics of an attack, one per line.
#[must_use]
pub fn metrics_document(metrics: &AttackMetrics) -> Document {
    let mut document = Document::default();
    add_metrics(&mut document, metrics);
    document
}

/// The table, among the evidence.
pub(crate) fn add_metrics(document: &mut Document, metrics: &AttackMetrics) {
    let limits = |lower: f64, upper: f64| {
        let [lower, upper] = [(1e4 * lower).floor(), (1e4 * upper).ceil()].map(|limit| limit / 1e4);
        format!("{lower:.4} to {upper:.4}")
    };
    let row = |name: String, value: f64, limits: String| [name, format!("{value:.4}"), limits];
    let mut rows = Vec::new();
    if let Some(auc) = metrics.auc {
        rows.push(row("AUC".to_owned(), auc.value, limits(auc.lower, auc.upper)));
    }
    for at in &metrics.tpr_at_fpr {
        let name = format!("TPR at FPR {} %", given(100.0 * at.fpr));
        rows.push(row(name, at.value, limits(at.lower, at.upper)));
    }
    if let Some(GdpEpsilon { gdp_mu, epsilon, .. }) = metrics.gdp {
        let value = epsilon.map_or("∞".to_owned(), |epsilon| plain(epsilon, Kind::Lower, 4));
        let mu = plain(gdp_mu, Kind::Lower, 4);
        let basis = format!("from μ ≥ {mu}; assumes the curve of two Gaussians");
        rows.push(["Gaussian ε ≥".to_owned(), value, basis]);
    }
    if let Some(estimate) = metrics.plug_in {
        let (low, high) = (estimate.bootstrap_low, estimate.bootstrap_high);
        let spread = format!("{low:.4} to {high:.4} by bootstrap; an estimate, not a bound");
        rows.push(row("plug-in ε ≈".to_owned(), estimate.value, spread));
    }
    let heading = format!("{} limits of each", confidence(metrics.significance));
    document.open(Section::Evidence);
    document
        .table(&[("metric", Align::Left), ("value", Align::Right), (&heading, Align::Left)], &rows);
}
