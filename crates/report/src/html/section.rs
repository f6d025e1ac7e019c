//! Parts of a document as markup.

use crate::document::{Align, Block, Document, Section};
pub(super) use crate::figure::escaped;
use crate::number::{confidence, delta, plain};
use crate::summary::ListedValue;

/// What stands before the command of a page, and after it.
pub(super) const COMMAND_START: &str = "<p>Command:</p>\n<pre><code>";
pub(super) const COMMAND_END: &str = "</code></pre>";

/// A headed part of the page.
pub(super) fn section(title: &str, body: &str) -> String {
    let id = title.to_lowercase().replace(' ', "-");
    format!("<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{title}</h2>\n{body}</section>\n")
}

/// Sentences of the first section.
pub(super) fn paragraphs(document: &Document) -> impl Iterator<Item = &String> {
    document.section(Section::Verdict).filter_map(|block| match block {
        Block::Paragraph { text } => Some(text),
        _ => None,
    })
}

/// A table of all values, where the document has none of theory.
pub(super) fn values(document: &Document, values: &[ListedValue]) -> String {
    let has_table =
        document.section(Section::Theory).any(|block| matches!(block, Block::Table { .. }));
    if has_table || values.is_empty() {
        return String::new();
    }
    let row = |value: &ListedValue| {
        vec![
            value.name.to_owned(),
            plain(value.epsilon, value.kind, 4),
            delta(value.delta),
            value.significance.map_or("–".to_owned(), confidence),
        ]
    };
    let columns = [
        ("value", Align::Left),
        ("ε", Align::Right),
        ("δ", Align::Right),
        ("confidence", Align::Right),
    ];
    let columns: Vec<(String, Align)> =
        columns.into_iter().map(|(heading, align)| (heading.to_owned(), align)).collect();
    table(&columns, &values.iter().map(row).collect::<Vec<_>>())
}

/// What a section contains; empty for nothing.
pub(super) fn body(document: &Document, section: Section) -> String {
    let mut out = String::new();
    let mut rows: Vec<(&str, Vec<&str>)> = Vec::new();
    for block in document.section(section) {
        match block {
            Block::Row { label, text } | Block::Detail { label, text } => match rows.last_mut() {
                Some((_, texts)) if label.is_empty() => texts.push(text),
                _ => rows.push((label, vec![text])),
            },
            Block::Note { text } => rows.push(("note", vec![text])),
            Block::Gap => {}
            other => {
                out.push_str(&list(&std::mem::take(&mut rows)));
                out.push_str(&single(other));
            }
        }
    }
    out + &list(&rows)
}

fn single(block: &Block) -> String {
    match block {
        Block::Line { text } | Block::Paragraph { text } => {
            format!("<p>{}</p>\n", escaped(text.trim()))
        }
        Block::Command { text } => format!("<pre>{}</pre>\n", escaped(text)),
        Block::Table { columns, rows } => table(columns, rows),
        Block::Row { .. } | Block::Detail { .. } | Block::Note { .. } | Block::Gap => String::new(),
    }
}

/// Labelled rows.
fn list(rows: &[(&str, Vec<&str>)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let row = |(label, texts): &(&str, Vec<&str>)| {
        let texts: String =
            texts.iter().map(|text| format!("<dd>{}</dd>", escaped(text))).collect();
        format!("<div><dt>{}</dt>{texts}</div>\n", escaped(label))
    };
    format!("<dl>\n{}</dl>\n", rows.iter().map(row).collect::<String>())
}

fn table(columns: &[(String, Align)], rows: &[Vec<String>]) -> String {
    let class = |align: Align| match align {
        Align::Left => "",
        Align::Right => " class=\"right\"",
    };
    let heading = |(text, align): &(String, Align)| match text.as_str() {
        "" => format!("<td{}></td>", class(*align)),
        text => format!("<th scope=\"col\"{}>{}</th>", class(*align), escaped(text)),
    };
    let row = |cells: &Vec<String>| {
        let cells = cells.iter().zip(columns).enumerate().map(|(place, (text, (_, align)))| {
            let text = escaped(text);
            match place {
                0 => format!("<th scope=\"row\"{}>{text}</th>", class(*align)),
                _ => format!("<td{}>{text}</td>", class(*align)),
            }
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    format!(
        "<div class=\"wide\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n",
        columns.iter().map(heading).collect::<String>(),
        rows.iter().map(row).collect::<String>()
    )
}

/// What was run, and how the numbers can be read and checked. The digests are those of the JSON and of
/// what is not in it.
pub(super) fn reproduction(program: &str, command: &str, digests: &[String; 2]) -> String {
    let [of_json, of_others] = digests;
    let rows = list(&[
        ("version", vec![program]),
        ("report", vec![&format!("SHA-256 of its JSON: {of_json}")]),
        ("figure", vec![&format!("SHA-256 of figure and command: {of_others}")]),
        ("check", vec![RECOMPUTE]),
    ]);
    format!("{rows}{COMMAND_START}{}{COMMAND_END}\n", escaped(command))
}

/// What recomputation shows, and what not.
const RECOMPUTE: &str = "dpscope recompute FILE.html computes the bounds and verdicts again from the counts \
    in this file, prints it again, and lists what it does not check; that they agree does not show who made \
    the file, or that the counts were observed";

/// Text of several lines as markup.
pub(super) fn escaped_lines(text: &str) -> String {
    text.lines().map(escaped).collect::<Vec<_>>().join("\n")
}
