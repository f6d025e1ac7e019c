//! The result of a sweep, as text and as CSV.

use dpscope_core::accounting::{Kind, Training};
use dpscope_core::format::given;
use dpscope_report::number::{confidence, grouped, plain};
use dpscope_report::record::{ComparedQuantity, ComparisonLine, Sweep, SweepRow};
use dpscope_report::text::{Align, row, table};
use dpscope_report::words::{epochs_in_words, rounding_sentence};

use crate::commands::lines::title;

/// The table and its legend.
pub(super) fn text(report: &Sweep) -> String {
    let mut columns = vec![("name", Align::Left)];
    columns.extend(["σ", "T", "E", "δ"].map(|heading| (heading, Align::Right)));
    columns.extend(report.quantities.iter().map(|quantity| (column(*quantity), Align::Right)));
    let cells = |swept: &SweepRow| {
        let SweepRow { name, setting, delta, values } = swept;
        let mut row = vec![
            name.clone(),
            setting.whole.noise_multiplier.to_string(),
            grouped(setting.whole.steps_per_epoch),
            epochs_in_words(setting),
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
        out.push_str(&row(column(*quantity), meaning(*quantity)));
    }
    if let (Some(seed), Some(device)) = (&report.seed, &report.device) {
        let confidence = confidence(report.significance);
        out.push_str(&row("draws", &format!("{confidence} confidence; seed {seed}; {device}")));
    }
    for (name, line, at_least) in loose(report).take(MAX_REASONS) {
        let at_least = plain(at_least, Kind::Lower, 2);
        let text = format!(
            "{name}, {}: the exact value may be as low as {at_least}",
            column(line.quantity)
        );
        out.push_str(&row("loose", &text));
    }
    for (name, line, reason) in reasons(report).take(MAX_REASONS) {
        out.push_str(&row("-", &format!("{name}, {}: {reason}", column(line.quantity))));
    }
    for swept in report.rows.iter().take(MAX_REASONS) {
        if let Some(rounding) = rounding_sentence(&swept.setting) {
            out.push_str(&row("epochs", &format!("{}: {rounding}", swept.name)));
        }
    }
    let more = reasons(report).count().saturating_sub(MAX_REASONS);
    if more > 0 {
        out.push_str(&row("-", &format!("{more} more; --json and --csv list all")));
    }
    out
}

/// Missing values whose reason is printed.
const MAX_REASONS: usize = 20;

fn reasons(report: &Sweep) -> impl Iterator<Item = (&str, &ComparisonLine, &str)> {
    report.rows.iter().flat_map(|row| {
        let lines = row.values.iter();
        lines.filter_map(|line| Some((row.name.as_str(), line, line.reason()?)))
    })
}

/// Upper values with a large numeric error, and the smallest possible exact ones.
fn loose(report: &Sweep) -> impl Iterator<Item = (&str, &ComparisonLine, f64)> {
    report.rows.iter().flat_map(|row| {
        let lines = row.values.iter();
        lines.filter_map(|line| Some((row.name.as_str(), line, line.at_least()?)))
    })
}

/// The start of such a file; a file with another start is not overwritten.
pub(super) const CSV_MARK: &str = "name,noise_multiplier,steps,epochs,delta,";

/// One line per training run; a missing value is an empty cell, with its reason in the last one.
pub(super) fn csv(report: &Sweep) -> String {
    let mut out = CSV_MARK.to_owned() + "partial_epoch_steps,";
    for quantity in &report.quantities {
        out.push_str(&format!("{},", csv_column(*quantity)));
    }
    out.push_str("missing\n");
    for SweepRow { name, setting, delta, values } in &report.rows {
        let Training { noise_multiplier, steps_per_epoch: steps, epochs, .. } = setting.whole;
        let partial = setting.partial_epoch_steps;
        let [noise_multiplier, delta] = [noise_multiplier, *delta].map(given);
        out.push_str(&format!(
            "{},{noise_multiplier},{steps},{epochs},{delta},{partial}",
            quoted(name)
        ));
        for line in values {
            let value = line.shown().map_or(String::new(), |shown| given(shown.epsilon));
            out.push_str(&format!(",{value}"));
        }
        let missing: Vec<String> = values
            .iter()
            .filter_map(|line| Some(format!("{}: {}", csv_column(line.quantity), line.reason()?)))
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

fn column(quantity: ComparedQuantity) -> &'static str {
    match quantity {
        ComparedQuantity::Poisson => "Poisson ≤",
        ComparedQuantity::BallsInBins => "bins ≤",
        ComparedQuantity::ShuffleLower => "shuffle ≥",
        ComparedQuantity::PairLower => "limit ≥",
        ComparedQuantity::PairEstimate => "pair ≈",
        ComparedQuantity::Deterministic => "shuffle ≤",
        ComparedQuantity::Audit => "audit ≥",
        ComparedQuantity::ShuffleMaxSlice | ComparedQuantity::ShuffleSum => title(quantity),
    }
}

fn meaning(quantity: ComparedQuantity) -> &'static str {
    match quantity {
        ComparedQuantity::Poisson => "claim of Poisson accounting",
        ComparedQuantity::BallsInBins => "upper bound for balls-in-bins batches, proven",
        ComparedQuantity::ShuffleLower => "lower bound for shuffled batches, proven",
        ComparedQuantity::PairLower => {
            "lower limit from draws of the exact pair, or the proven bound if that is larger"
        }
        ComparedQuantity::PairEstimate => "estimate for the exact pair",
        ComparedQuantity::Deterministic => "upper bound for shuffled batches and any data, proven",
        ComparedQuantity::Audit => "lower bound from a simulated audit of shuffled batches",
        ComparedQuantity::ShuffleMaxSlice | ComparedQuantity::ShuffleSum => title(quantity),
    }
}

fn csv_column(quantity: ComparedQuantity) -> &'static str {
    match quantity {
        ComparedQuantity::Poisson => "poisson_upper",
        ComparedQuantity::BallsInBins => "balls_in_bins_upper",
        ComparedQuantity::ShuffleLower => "shuffle_lower",
        ComparedQuantity::ShuffleMaxSlice => "shuffle_max_slice_lower",
        ComparedQuantity::ShuffleSum => "shuffle_sum_lower",
        ComparedQuantity::PairLower => "pair_lower",
        ComparedQuantity::PairEstimate => "pair_estimate",
        ComparedQuantity::Deterministic => "deterministic_upper",
        ComparedQuantity::Audit => "audit_lower",
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
