//! Published results beside ours, as text.

use super::{Align, row, table};
use crate::record::{Reproduction, ReproductionSection};

/// The document as text: sections with an empty line between them.
#[must_use]
pub fn reproduction_text(report: &Reproduction) -> String {
    let sections = report.sections.iter().map(section);
    sections.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn section(section: &ReproductionSection) -> String {
    let mut out = String::new();
    if !section.text.is_empty() {
        out += &format!("{}\n", section.text);
    }
    let align = |is_right| if is_right { Align::Right } else { Align::Left };
    let columns = section.columns.iter().map(|one| (one.heading.as_str(), align(one.is_right)));
    let columns: Vec<_> = columns.collect();
    if !columns.is_empty() {
        out += &table(&columns, &section.printed);
    }
    section.notes.iter().fold(out, |out, note| out + &labelled(&note.label, &note.text))
}

/// A label that is too long for its column has a line of its own.
fn labelled(label: &str, text: &str) -> String {
    match label.chars().count() {
        0..=12 => row(label, text),
        _ => format!("  {label}\n") + &row("", text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::record::{ReproductionColumn, ReproductionNote};

    #[test]
    fn sections_are_apart_and_long_labels_stand_alone() {
        let column = |heading: &str, is_right| ReproductionColumn {
            id: "x".to_owned(),
            heading: heading.to_owned(),
            is_right,
        };
        let note =
            |label: &str| ReproductionNote { label: label.to_owned(), text: "said".to_owned() };
        let texts = |texts: [&str; 2]| texts.map(str::to_owned).to_vec();
        let sections = vec![
            ReproductionSection { text: "head".to_owned(), ..ReproductionSection::default() },
            ReproductionSection {
                columns: vec![column("setting", false), column("ε ≥", true)],
                printed: vec![texts(["a", "0.2"]), texts(["b", "12.5"])],
                ..ReproductionSection::default()
            },
            ReproductionSection::default(),
            ReproductionSection {
                text: "notes:".to_owned(),
                notes: vec![note("ε ≥"), note("a longer label")],
                ..ReproductionSection::default()
            },
        ];
        let report = Reproduction::new("figure-0", 1, Value::Null, sections);
        assert_eq!(
            reproduction_text(&report),
            "head\n\n  setting   ε ≥\n  a         0.2\n  b        12.5\n\n\
             notes:\n  ε ≥         said\n  a longer label\n              said\n"
        );
    }
}
