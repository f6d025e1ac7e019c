//! Labelled lines of a report.

/// A label of 12 columns, then text wrapped at 96.
#[must_use]
pub fn row(label: &str, text: &str) -> String {
    let mut out = String::new();
    let mut line = format!("  {label:<12}");
    let mut fresh = true;
    for word in text.split_whitespace() {
        if !fresh && line.chars().count() + 1 + word.chars().count() > 96 {
            out.push_str(line.trim_end());
            out.push('\n');
            line = format!("  {:<12}", "");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_at_96_columns() {
        let text = row("label", &"word ".repeat(60));
        assert!(text.lines().count() > 3 && text.lines().all(|line| line.len() <= 96));
    }
}
