//! Rows that compare an audit with theory.

use dpscope_core::accounting::{Cell, Kind};
use dpscope_core::audit::OutcomeKind;

use super::Document;
use crate::number::{plain, shown_ratio};
use crate::record::{AuditedEpsilon, TheoryComparison};

/// Rows of a report in words.
pub(crate) fn add_comparison(
    document: &mut Document,
    theory: &TheoryComparison,
    result: AuditedEpsilon,
) {
    document.row("accountant", &claimed(theory, result));
    let value = |cell: &Option<Cell>, sign: char| {
        let row = cell.as_ref().and_then(Cell::value)?;
        Some(format!("ε {sign} {}", plain(row.epsilon, row.kind, 4)))
    };
    let proven = [value(&theory.lower, '≥'), value(&theory.upper, '≤')];
    let proven: Vec<String> = proven.into_iter().flatten().collect();
    if !proven.is_empty() {
        let text = format!("{} by theory, for batches drawn in this way", proven.join(" and "));
        document.row("proven", &text);
    }
}

fn claimed(theory: &TheoryComparison, result: AuditedEpsilon) -> String {
    let (poisson, gap) = match (&theory.poisson, theory.gap) {
        (Cell::Value(poisson), Some(gap)) => (poisson, gap),
        (Cell::Missing { reason }, _) => return format!("no Poisson ε: {reason}"),
        (Cell::Value(_), None) => return String::new(),
    };
    let claimed = format!(
        "ε ≤ {} if batches were Poisson sampled, which is what is usually claimed",
        plain(poisson.epsilon, Kind::Upper, 4)
    );
    if gap <= 0.0 {
        return format!("{claimed}; this audit shows no more, which proves nothing");
    }
    let (least, kind) = match result.kind {
        OutcomeKind::Bound => ("at least ", Kind::Lower),
        OutcomeKind::Estimate => ("an estimated ", Kind::Estimate),
    };
    let times = if poisson.epsilon > 0.0 {
        let ratio = match kind {
            Kind::Lower => shown_ratio(result.epsilon, poisson.epsilon, 4),
            _ => result.epsilon / poisson.epsilon,
        };
        format!(" ({} times the value)", plain(ratio, kind, 1))
    } else {
        String::new()
    };
    format!("{claimed}; this audit shows {least}{} above that{times}", plain(gap, kind, 4))
}
