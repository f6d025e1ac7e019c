//! The result of a sweep, as text and as CSV.

use dpscope_core::accounting::{Kind, Training};
use dpscope_core::format::given;

use super::record::{Sweep, SweepRow};
use crate::commands::lines::{Line, Quantity};
use dpscope_report::number::{confidence, grouped, plain};
use dpscope_report::text::{Align, row, table};

/// The table and its legend.
pub(super) fn text(report: &Sweep) -> String {
    let mut columns = vec![("name", Align::Left)];
    columns.extend(["σ", "T", "E", "δ"].map(|heading| (heading, Align::Right)));
    columns.extend(report.quantities.iter().map(|quantity| (quantity.column(), Align::Right)));
    let cells = |swept: &SweepRow| {
        let SweepRow { name, setting, delta, values } = swept;
        let mut row = vec![
            name.clone(),
            setting.noise_multiplier.to_string(),
            grouped(setting.steps_per_epoch),
            grouped(setting.epochs),
            format!("{delta:e}"),
        ];
        row.extend(values.iter().map(|line| {
            line.shown().map_or("-".to_owned(), |shown| plain(shown.epsilon, shown.kind, 2))
        }));
        row
    };
    let mut out = table(&columns, &report.rows.iter().map(cells).collect::<Vec<_>>());
    out.push('\n');
    for quantity in &report.quantities {
        out.push_str(&row(quantity.column(), quantity.meaning()));
    }
    if let (Some(seed), Some(device)) = (&report.seed, &report.device) {
        let confidence = confidence(report.significance);
        out.push_str(&row("draws", &format!("{confidence} confidence; seed {seed}; {device}")));
    }
    for (name, line, at_least) in loose(report).take(MAX_REASONS) {
        let (column, at_least) = (line.quantity.column(), plain(at_least, Kind::Lower, 2));
        let text = format!("{name}, {column}: the exact value may be as low as {at_least}");
        out.push_str(&row("loose", &text));
    }
    for (name, line, reason) in reasons(report).take(MAX_REASONS) {
        out.push_str(&row("-", &format!("{name}, {}: {reason}", line.quantity.column())));
    }
    let more = reasons(report).count().saturating_sub(MAX_REASONS);
    if more > 0 {
        out.push_str(&row("-", &format!("{more} more; --json and --csv list all")));
    }
    out
}

/// Missing values whose reason is printed.
const MAX_REASONS: usize = 20;

fn reasons(report: &Sweep) -> impl Iterator<Item = (&str, &Line, &str)> {
    report.rows.iter().flat_map(|row| {
        let lines = row.values.iter();
        lines.filter_map(|line| Some((row.name.as_str(), line, line.reason()?)))
    })
}

/// Upper values with a large numeric error, and the smallest possible exact ones.
fn loose(report: &Sweep) -> impl Iterator<Item = (&str, &Line, f64)> {
    report.rows.iter().flat_map(|row| {
        let lines = row.values.iter();
        lines.filter_map(|line| Some((row.name.as_str(), line, line.at_least()?)))
    })
}

/// The start of such a file; a file with another start is not overwritten.
pub(super) const CSV_MARK: &str = "name,noise_multiplier,steps,epochs,delta,";

/// One line per training run; a missing value is an empty cell, with its reason in the last one.
pub(super) fn csv(report: &Sweep) -> String {
    let mut out = CSV_MARK.to_owned();
    for quantity in &report.quantities {
        out.push_str(&format!("{},", quantity.csv_column()));
    }
    out.push_str("missing\n");
    for SweepRow { name, setting, delta, values } in &report.rows {
        let Training { noise_multiplier, steps_per_epoch: steps, epochs, .. } = setting;
        let [noise_multiplier, delta] = [*noise_multiplier, *delta].map(given);
        out.push_str(&format!("{},{noise_multiplier},{steps},{epochs},{delta}", quoted(name)));
        for line in values {
            let value = line.shown().map_or(String::new(), |shown| given(shown.epsilon));
            out.push_str(&format!(",{value}"));
        }
        let missing: Vec<String> = values
            .iter()
            .filter_map(|line| Some(format!("{}: {}", line.quantity.csv_column(), line.reason()?)))
            .collect();
        out.push_str(&format!(",{}\n", quoted(&missing.join("; "))));
    }
    out
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

impl Quantity {
    fn column(self) -> &'static str {
        match self {
            Quantity::Poisson => "Poisson ≤",
            Quantity::BallsInBins => "bins ≤",
            Quantity::ShuffleLower => "shuffle ≥",
            Quantity::PairLower => "limit ≥",
            Quantity::PairEstimate => "pair ≈",
            Quantity::Deterministic => "shuffle ≤",
            Quantity::Audit => "audit ≥",
            Quantity::ShuffleMaxSlice | Quantity::ShuffleSum => self.title(),
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Quantity::Poisson => "claim of Poisson accounting",
            Quantity::BallsInBins => "upper bound for balls-in-bins batches, proven",
            Quantity::ShuffleLower => "lower bound for shuffled batches, proven",
            Quantity::PairLower => {
                "lower limit from draws of the exact pair, or the proven bound if that is larger"
            }
            Quantity::PairEstimate => "estimate for the exact pair",
            Quantity::Deterministic => "upper bound for shuffled batches and any data, proven",
            Quantity::Audit => "lower bound from a simulated audit of shuffled batches",
            Quantity::ShuffleMaxSlice | Quantity::ShuffleSum => self.title(),
        }
    }

    fn csv_column(self) -> &'static str {
        match self {
            Quantity::Poisson => "poisson_upper",
            Quantity::BallsInBins => "balls_in_bins_upper",
            Quantity::ShuffleLower => "shuffle_lower",
            Quantity::ShuffleMaxSlice => "shuffle_max_slice_lower",
            Quantity::ShuffleSum => "shuffle_sum_lower",
            Quantity::PairLower => "pair_lower",
            Quantity::PairEstimate => "pair_estimate",
            Quantity::Deterministic => "deterministic_upper",
            Quantity::Audit => "audit_lower",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_would_break_a_line_are_quoted() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a, \"b\""), "\"a, \"\"b\"\"\"");
    }
}
