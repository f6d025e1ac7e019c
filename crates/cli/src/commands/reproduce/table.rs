//! A reproduced figure or table, as text.

use dpscope_core::accounting::{Cell, Kind};
use dpscope_report::number::{confidence, grouped, plain};
use dpscope_report::record::{DifferenceReason, ReproductionReport, ReproductionRow};
use dpscope_report::text::{Align, row, table};

use dpscope_simulation::Plan;

pub(super) const REASONS: [DifferenceReason; 5] = [
    DifferenceReason::UpperEnd,
    DifferenceReason::CopiedClaim,
    DifferenceReason::Observations,
    DifferenceReason::Chance,
    DifferenceReason::Unexplained,
];

pub(super) fn text(report: &ReproductionReport) -> String {
    let mut out = format!(
        "{}: {} observations per setting (paper: {}), δ = {:e}, ceiling of estimates {:.2}\n\n",
        report.what,
        grouped(report.observations),
        grouped(report.published_observations),
        report.delta,
        report.ceiling
    );
    let columns = [
        ("setting", Align::Left),
        ("σ", Align::Right),
        ("T", Align::Right),
        ("E", Align::Right),
        ("claimed", Align::Right),
        ("Poisson", Align::Right),
        ("published", Align::Right),
        ("ours", Align::Right),
        ("diff", Align::Right),
        ("why", Align::Left),
        ("bound", Align::Right),
        ("pair ≥", Align::Right),
        ("pair ≈", Align::Left),
    ];
    let rows: Vec<_> = report.rows.iter().map(cells).collect();
    out.push_str(&table(&columns, &rows));
    let (confidence, cuts) = (confidence(report.significance), Plan::DEFAULT_CUTS);
    out.push('\n');
    for (label, about) in [
        ("claimed", "as printed in the paper; Poisson is the upper bound of our accountant"),
        (
            "ours",
            "by the published rule: the largest value over all cuts, uncorrected; an estimate",
        ),
        ("bound", &format!("{confidence} confidence, {cuts} cuts fixed by a pilot")),
        (
            "pair",
            &format!(
                "ε of the audited pair itself, which no number of observations exceeds: a lower limit \
                 (proven for several epochs, {confidence} confidence for one) and an estimate"
            ),
        ),
    ] {
        out.push_str(&row(label, about));
    }
    let seen = |reason: &DifferenceReason| {
        report.rows.iter().any(|row| row.why_they_differ.contains(reason))
    };
    for reason in REASONS.iter().filter(|reason| seen(reason)) {
        out.push_str(&row(&format!("why: {}", reason.mark()), reason.text()));
    }
    out.push_str(&format!("\nseed {}; {}\n", report.seed, report.device));
    out
}

fn cells(row: &ReproductionRow) -> [String; 13] {
    let printed = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.2}"));
    let theory = |cell: &Cell| {
        cell.value().map_or("-".to_owned(), |value| plain(value.epsilon, value.kind, 2))
    };
    let lower = &row.pair.lower;
    [
        row.name.clone(),
        format!("{:.2}", row.noise_multiplier),
        row.steps.to_string(),
        row.epochs.to_string(),
        printed(row.claimed_epsilon),
        theory(&row.poisson),
        printed(row.published_estimate),
        format!("{:.2}", row.ours.our_estimate),
        row.ours.difference.map_or("-".to_owned(), |change| format!("{change:+.2}")),
        row.why_they_differ.iter().map(|reason| reason.mark()).collect(),
        plain(row.ours.our_bound, Kind::Lower, 2),
        plain(lower.epsilon, lower.kind, 2),
        row.pair.estimate.value().map_or("-".to_owned(), |value| {
            let error = value.standard_error.unwrap_or(0.0);
            format!("{:.2} ± {:.2}", value.epsilon, (100.0 * error).ceil() / 100.0)
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_distinct_marks() {
        let mut marks = REASONS.map(DifferenceReason::mark);
        marks.sort_unstable();
        assert!(marks.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
