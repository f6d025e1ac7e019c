//! Metrics that membership-inference papers report, as a table.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::metrics::{AttackMetrics, GdpEpsilon};
use dpscope_core::format::given;

use super::table::{Align, table};
use crate::number::{confidence, plain};

/// The metrics of an attack, one per line.
#[must_use]
pub fn metrics_text(metrics: &AttackMetrics) -> String {
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
    table(&[("metric", Align::Left), ("value", Align::Right), (&heading, Align::Left)], &rows)
}

#[cfg(test)]
mod tests {
    use dpscope_core::audit::Scores;
    use dpscope_core::audit::bound::Statement;
    use dpscope_core::audit::metrics::MetricOptions;

    use super::*;

    #[test]
    fn metrics_are_one_line_each() {
        let world = |shift: f64| -> Vec<f64> {
            (0..2000).map(|i| f64::from(i * 7919 % 2000) / 600.0 + shift).collect()
        };
        let (target, zero_out) = (world(1.0), world(0.0));
        let text = |delta: f64| {
            let statement = Statement { delta, significance: 0.05 };
            let options = MetricOptions { statement, seed: 1, has_coverage: true };
            let scores = Scores::new(&target, &zero_out);
            metrics_text(&AttackMetrics::of_scores(&scores, &options).unwrap())
        };
        let shown = text(1e-5);
        assert_eq!(shown.lines().count(), 7, "{shown}");
        for part in ["95 % limits of each", "TPR at FPR 0.1 %", "assumes", "an estimate"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(text(0.0).contains("∞  from μ ≥"), "{}", text(0.0));
    }
}
