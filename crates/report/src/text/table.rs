//! Tables of plain text.

use crate::document::Align;

/// A heading and rows, two blanks between columns as wide as they need to be, two in front.
#[must_use]
pub fn table(columns: &[(&str, Align)], rows: &[impl AsRef<[String]>]) -> String {
    let width = |text: &str| text.chars().count();
    let most = |(column, (heading, _)): (usize, &(&str, Align))| {
        let cells = rows.iter().filter_map(|row| row.as_ref().get(column));
        cells.map(|cell| width(cell)).fold(width(heading), usize::max)
    };
    let widths: Vec<usize> = columns.iter().enumerate().map(most).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for ((cell, (_, align)), most) in cells.zip(columns).zip(&widths) {
            text.push_str("  ");
            text.push_str(&match align {
                Align::Left => format!("{cell:<most$}"),
                Align::Right => format!("{cell:>most$}"),
            });
        }
        format!("{}\n", text.trim_end())
    };
    let mut out = line(&mut columns.iter().map(|(heading, _)| *heading));
    for row in rows {
        out.push_str(&line(&mut row.as_ref().iter().map(String::as_str)));
    }
    out
}
