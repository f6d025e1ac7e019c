//! A document as text.

use super::row::wrapped;
use super::{row, table};
use crate::document::{Align, Block, Document};

/// Columns of a paragraph.
const PARAGRAPH: usize = 80;

/// All parts of a document in their order, without the details of pages.
#[must_use]
pub fn document_text(document: &Document) -> String {
    document.parts().iter().map(|part| block(&part.block)).collect()
}

fn block(block: &Block) -> String {
    match block {
        Block::Line { text } => format!("{text}\n"),
        Block::Paragraph { text } => wrapped("", "", text, PARAGRAPH),
        Block::Row { label, text } => row(label, text),
        Block::Note { text } => format!("note: {text}\n"),
        Block::Table { columns, rows } => {
            let columns: Vec<(&str, Align)> =
                columns.iter().map(|(heading, align)| (heading.as_str(), *align)).collect();
            table(&columns, rows)
        }
        Block::Command { text } => format!("  {text}\n"),
        Block::Gap => "\n".to_owned(),
        Block::Detail { .. } => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use dpscope_core::audit::Scores;
    use dpscope_core::audit::bound::Statement;
    use dpscope_core::audit::metrics::{AttackMetrics, MetricOptions};

    use super::*;
    use crate::document::metrics_document;

    #[test]
    fn metrics_are_one_line_each() {
        let world = |shift: f64| -> Vec<f64> {
            (0..2000).map(|i| f64::from(i * 7919 % 2000) / 600.0 + shift).collect()
        };
        let (target, zero_out) = (world(1.0), world(0.0));
        let text = |delta: f64| {
            let statement = Statement { delta, significance: 0.05 };
            let options = MetricOptions { statement, seed: 1, has_coverage: true };
            let scores = Scores::new(&target, &zero_out);
            document_text(&metrics_document(&AttackMetrics::of_scores(&scores, &options).unwrap()))
        };
        let shown = text(1e-5);
        assert_eq!(shown.lines().count(), 7, "{shown}");
        for part in ["95 % limits of each", "TPR at FPR 0.1 %", "assumes", "an estimate"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(text(0.0).contains("∞  from μ ≥"), "{}", text(0.0));
    }
}
