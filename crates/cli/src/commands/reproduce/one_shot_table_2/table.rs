//! The table as text.

use dpscope_core::format::{given, rounded};
use dpscope_report::number::grouped;
use dpscope_report::record::{
    ComparedEstimate, EstimateSpread, OneShotNullEstimates, OneShotTableReport, OneShotTableRow,
};
use dpscope_report::text::{Align, row, table};

pub(super) fn text(report: &OneShotTableReport) -> String {
    let mut out = format!(
        "one-shot-table-2: estimates of ε of the Gaussian mechanism at δ = {}, {} runs per setting \
         (paper: {})\n",
        given(report.delta),
        grouped(report.runs),
        report.published_runs
    );
    out.push_str(&match &report.full_dimension_device {
        Some(device) => {
            format!("every coordinate of directions, noise and sum drawn on {device}\n\n")
        }
        None => "cosines drawn by their joint distribution (--full draws every coordinate)\n\n"
            .to_owned(),
    });
    let columns = [
        ("ε", Align::Right),
        ("σ", Align::Right),
        ("d", Align::Right),
        ("canaries", Align::Right),
        ("published", Align::Right),
        ("fitted sd", Align::Right),
        ("", Align::Left),
        ("known sd", Align::Right),
        ("", Align::Left),
    ];
    let rows: Vec<_> = report.rows.iter().map(cells).collect();
    out.push_str(&table(&columns, &rows));
    out.push('\n');
    for (label, about) in [
        (
            "published",
            "as printed in the paper; mean ± standard deviation over runs, here and beside",
        ),
        (
            "fitted sd",
            "its algorithm as printed: mean and standard deviation of the cosines are fitted",
        ),
        (
            "known sd",
            "standard deviation 1/√d, which no mechanism changes: our estimate by the mean score",
        ),
        (
            "!",
            "differs from the printed mean by more than rounding and three standard errors: a fitted \
             standard deviation adds an upward bias, and the printed values are those of a known one",
        ),
    ] {
        out.push_str(&row(label, about));
    }
    out.push_str(&null_estimates(report));
    out.push_str("\nother numbers of the paper:\n");
    for found in &report.discrepancies {
        let about =
            format!("printed {}; computed: {}: {}", found.printed, found.computed, found.says);
        out.push_str(&format!("  {}\n", found.place));
        out.push_str(&row("", &about));
    }
    out
}

/// What would be estimated if nothing leaked.
fn null_estimates(report: &OneShotTableReport) -> String {
    let columns = [
        ("d", Align::Right),
        ("canaries", Align::Right),
        ("fitted sd", Align::Right),
        ("known sd", Align::Right),
    ];
    let range = |[low, high]: [f64; 2]| format!("{} to {}", rounded(low, 2), rounded(high, 2));
    let cells = |null: &OneShotNullEstimates| {
        let [dimension, canaries] = [null.dimension, null.canaries].map(grouped);
        vec![dimension, canaries, range(null.fitted_sd), range(null.known_sd)]
    };
    let rows: Vec<_> = report.null_estimates.iter().map(cells).collect();
    let title = "\nestimates without any leak, 90 % of runs (these are estimates, not bounds):\n\n";
    title.to_owned() + &table(&columns, &rows)
}

fn cells(row: &OneShotTableRow) -> Vec<String> {
    let spread =
        |spread: EstimateSpread| format!("{} ± {}", rounded(spread.mean, 2), rounded(spread.sd, 2));
    let mark = |compared: &ComparedEstimate| if compared.is_mismatch { "!" } else { "" }.to_owned();
    vec![
        given(row.epsilon),
        rounded(row.noise_multiplier, 4),
        grouped(row.dimension),
        grouped(row.canaries),
        spread(row.published),
        spread(row.fitted_sd.ours),
        mark(&row.fitted_sd),
        spread(row.known_sd.ours),
        mark(&row.known_sd),
    ]
}
