//! Labelled lines of a report.

/// A label of 12 columns, then text wrapped at 96.
#[must_use]
pub fn row(label: &str, text: &str) -> String {
    wrapped(&format!("  {label:<12}"), &format!("  {:<12}", ""), text, 96)
}

/// Text wrapped at a width: `first` stands before its first line, `others` before the others.
pub(super) fn wrapped(first: &str, others: &str, text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut line = first.to_owned();
    let mut fresh = true;
    for word in text.split_whitespace() {
        if !fresh && line.chars().count() + 1 + word.chars().count() > width {
            out.push_str(line.trim_end());
            out.push('\n');
            line = others.to_owned();
            fresh = true;
        }
        if !fresh {
            line.push(' ');
        }
        line.push_str(word);
        fresh = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
    out
}
