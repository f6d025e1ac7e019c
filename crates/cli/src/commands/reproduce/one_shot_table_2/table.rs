//! The table as text.

use dpscope_core::format::{given, rounded};
use dpscope_report::number::grouped;
use dpscope_report::record::{
    ComparedEstimate, EstimateSpread, OneShotTableReport, OneShotTableRow,
};
use dpscope_report::text::{Align, row, table};

pub(super) fn text(report: &OneShotTableReport) -> String {
    let mut out = format!(
        "one-shot-table-2: estimates of ε of the Gaussian mechanism at δ = {}, {} runs per setting \
         (paper: {})\n\n",
        given(report.delta),
        grouped(report.runs),
        report.published_runs
    );
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
    out.push_str("\nother numbers of the paper:\n");
    for found in &report.discrepancies {
        let about =
            format!("printed {}; computed: {}: {}", found.printed, found.computed, found.says);
        out.push_str(&format!("  {}\n", found.place));
        out.push_str(&row("", &about));
    }
    out
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
