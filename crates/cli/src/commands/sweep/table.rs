//! The result of a sweep, as text and as CSV.

use dpscope_core::accounting::{Kind, Training};
use dpscope_core::foreign_text::ForeignText;
use dpscope_core::format::given;
use dpscope_report::number::{confidence, grouped, plain};
use dpscope_report::record::{ComparedQuantity, ComparisonLine, Sweep, SweepRow};
use dpscope_report::text::{Align, row, table};
use dpscope_report::words::{epochs_in_words, rounding_sentence};

/// The table and its legend.
pub(super) fn text(report: &Sweep) -> String {
    let mut columns = vec![("name", Align::Left)];
    columns.extend(["σ", "T", "E", "δ"].map(|heading| (heading, Align::Right)));
    columns.extend(report.quantities.iter().map(|quantity| (column(*quantity), Align::Right)));
    let cells = |swept: &SweepRow| {
        let SweepRow { name, setting, delta, values } = swept;
        let mut row = vec![
            ForeignText::new(name).to_string(),
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
            "{}, {}: the exact value may be as low as {at_least}",
            ForeignText::new(name),
            column(line.quantity)
        );
        out.push_str(&row("loose", &text));
    }
    for (name, line, reason) in reasons(report).take(MAX_REASONS) {
        let name = ForeignText::new(name);
        out.push_str(&row("-", &format!("{name}, {}: {reason}", column(line.quantity))));
    }
    for swept in report.rows.iter().take(MAX_REASONS) {
        if let Some(rounding) = rounding_sentence(&swept.setting) {
            out.push_str(&row("epochs", &format!("{}: {rounding}", ForeignText::new(&swept.name))));
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

/// Upper values with a large numeric error or gap of theory, and the smallest possible exact ones.
fn loose(report: &Sweep) -> impl Iterator<Item = (&str, &ComparisonLine, f64)> {
    report.rows.iter().flat_map(|row| {
        let lines = row.values.iter();
        lines.filter_map(|line| Some((row.name.as_str(), line, line.at_least()?)))
    })
}

/// The start of such a file; a file with another start is not overwritten.
pub(super) const CSV_MARK: &str = "name,noise_multiplier,steps,epochs,delta,";

/// One record per training run; a missing value is an empty field, with its reason in the last one.
pub(super) fn csv(report: &Sweep) -> String {
    let heading = CSV_MARK.split_terminator(',').chain(["partial_epoch_steps"]);
    let columns: Vec<String> = report.quantities.iter().map(|it| csv_column(*it)).collect();
    let heading = heading.chain(columns.iter().map(String::as_str));
    let mut out = line(heading.chain(["missing"]));
    for SweepRow { name, setting, delta, values } in &report.rows {
        let Training { noise_multiplier, steps_per_epoch, epochs, .. } = setting.whole;
        let mut fields = vec![
            name.clone(),
            given(noise_multiplier),
            steps_per_epoch.to_string(),
            epochs.to_string(),
            given(*delta),
            setting.partial_epoch_steps.to_string(),
        ];
        let shown = values.iter().map(ComparisonLine::shown);
        fields.extend(shown.map(|shown| shown.map_or(String::new(), |it| given(it.epsilon))));
        let missing: Vec<String> = values
            .iter()
            .filter_map(|line| Some(format!("{}: {}", csv_column(line.quantity), line.reason()?)))
            .collect();
        fields.push(missing.join("; "));
        out += &line(fields.iter().map(String::as_str));
    }
    out
}

/// One record of a CSV file, with quotation marks where a field needs them.
fn line<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail; the writer flushes when it is dropped.
    let _ = csv::Writer::from_writer(&mut bytes).write_record(fields);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn column(quantity: ComparedQuantity) -> &'static str {
    quantity.words().map_or("audit ≥", |words| words.column)
}

fn meaning(quantity: ComparedQuantity) -> &'static str {
    let audit = "lower bound from a simulated audit of shuffled batches";
    quantity.words().map_or(audit, |words| words.meaning)
}

/// Its name in documents, and its side unless the name ends in it.
fn csv_column(quantity: ComparedQuantity) -> String {
    let side = match quantity {
        ComparedQuantity::Bound(bound) => bound.row().kind,
        ComparedQuantity::Audit => Kind::Lower,
    };
    let (name, side) = (quantity.record(), side.name());
    if name.ends_with(side) { name.to_owned() } else { format!("{name}_{side}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_would_break_a_record_are_quoted() {
        assert_eq!(line(["plain", ""].into_iter()), "plain,\n");
        assert_eq!(line(["a, \"b\"", "c\nd"].into_iter()), "\"a, \"\"b\"\"\",\"c\nd\"\n");
    }
}
