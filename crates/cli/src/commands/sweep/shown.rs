//! A sweep as text and as CSV.

use dpscope_core::accounting::{Kind, Training};
use dpscope_core::format::given;
use dpscope_report::number::{confidence, grouped, plain};
use dpscope_report::text::{Align, row, table};

use super::{Sweep, Swept};
use crate::commands::lines::{Line, What};

/// A table that is as wide as it needs to be, and what its columns mean.
pub(super) fn text(report: &Sweep) -> String {
    let mut columns = vec![("name", Align::Left)];
    columns.extend(["σ", "T", "E", "δ"].map(|heading| (heading, Align::Right)));
    columns.extend(report.wanted.iter().map(|what| (what.column(), Align::Right)));
    let cells = |swept: &Swept| {
        let Swept { name, setting, delta, values } = swept;
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
    for what in &report.wanted {
        out.push_str(&row(what.column(), what.meaning()));
    }
    if let (Some(seed), Some(device)) = (&report.seed, &report.device) {
        let confidence = confidence(report.significance);
        out.push_str(&row("draws", &format!("{confidence} confidence; seed {seed}; {device}")));
    }
    for (name, line, at_least) in loose(report).take(MOST_REASONS) {
        let (column, at_least) = (line.what.column(), plain(at_least, Kind::Lower, 2));
        let text = format!("{name}, {column}: the exact value may be as low as {at_least}");
        out.push_str(&row("loose", &text));
    }
    for (name, line, reason) in reasons(report).take(MOST_REASONS) {
        out.push_str(&row("-", &format!("{name}, {}: {reason}", line.what.column())));
    }
    let more = reasons(report).count().saturating_sub(MOST_REASONS);
    if more > 0 {
        out.push_str(&row("-", &format!("{more} more; --json and --csv list all of them")));
    }
    out
}

/// Values without a number that a text gives the reason of.
const MOST_REASONS: usize = 20;

fn reasons(report: &Sweep) -> impl Iterator<Item = (&str, &Line, &str)> {
    report.rows.iter().flat_map(|swept| {
        let lines = swept.values.iter();
        lines.filter_map(|line| Some((swept.name.as_str(), line, line.reason()?)))
    })
}

/// Upper values of which much is left open, and the least that the exact ones may be.
fn loose(report: &Sweep) -> impl Iterator<Item = (&str, &Line, f64)> {
    report.rows.iter().flat_map(|swept| {
        let lines = swept.values.iter();
        lines.filter_map(|line| Some((swept.name.as_str(), line, line.at_least()?)))
    })
}

/// How such a file begins: one that begins otherwise is not replaced.
pub(super) const CSV_MARK: &str = "name,noise_multiplier,steps,epochs,delta,";

/// One line a training; a value that does not exist is an empty cell, its reason the last one.
pub(super) fn csv(report: &Sweep) -> String {
    let mut out = CSV_MARK.to_owned();
    for what in &report.wanted {
        out.push_str(&format!("{},", what.csv_column()));
    }
    out.push_str("missing\n");
    for Swept { name, setting, delta, values } in &report.rows {
        let Training { noise_multiplier, steps_per_epoch, epochs, .. } = setting;
        let [noise_multiplier, delta] = [*noise_multiplier, *delta].map(given);
        out.push_str(&format!(
            "{},{noise_multiplier},{steps_per_epoch},{epochs},{delta}",
            quoted(name)
        ));
        for line in values {
            let value = line.shown().map_or(String::new(), |shown| given(shown.epsilon));
            out.push_str(&format!(",{value}"));
        }
        let missing: Vec<String> = values
            .iter()
            .filter_map(|line| Some(format!("{}: {}", line.what.csv_column(), line.reason()?)))
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

impl What {
    fn column(self) -> &'static str {
        match self {
            What::Poisson => "Poisson ≤",
            What::BallsInBins => "bins ≤",
            What::ShuffleLower => "shuffle ≥",
            What::PairLower => "limit ≥",
            What::PairEstimate => "pair ≈",
            What::Deterministic => "shuffle ≤",
            What::Audit => "audit ≥",
            What::ShuffleMaxSlice | What::ShuffleSum => self.title(),
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            What::Poisson => "what Poisson accounting claims",
            What::BallsInBins => "what balls-in-bins batches leak at most, proven",
            What::ShuffleLower => "what shuffled batches leak at least, proven",
            What::PairLower => {
                "the same from draws of the exact pair, or what is proven if that is more"
            }
            What::PairEstimate => "the exact pair, an estimate",
            What::Deterministic => "what shuffled batches leak at most, whatever the data, proven",
            What::Audit => "what a simulated audit of shuffled batches shows",
            What::ShuffleMaxSlice | What::ShuffleSum => self.title(),
        }
    }

    fn csv_column(self) -> &'static str {
        match self {
            What::Poisson => "poisson_upper",
            What::BallsInBins => "balls_in_bins_upper",
            What::ShuffleLower => "shuffle_lower",
            What::ShuffleMaxSlice => "shuffle_max_slice_lower",
            What::ShuffleSum => "shuffle_sum_lower",
            What::PairLower => "pair_lower",
            What::PairEstimate => "pair_estimate",
            What::Deterministic => "deterministic_upper",
            What::Audit => "audit_lower",
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
