//! Text in ASCII, for terminals and logs that show nothing else.

use std::borrow::Cow;
use std::iter::Peekable;
use std::ops::Range;
use std::str::Chars;

use dpscope_core::foreign_text::is_plain;

/// Converts text to ASCII; the columns of each paragraph stay aligned.
///
/// By hand: transliteration crates write ε as "e" and know no columns.
pub(crate) fn ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    let mut converted = String::new();
    let lines: Vec<&str> = text.split('\n').collect();
    for paragraph in lines.split_inclusive(|line| line.is_empty()) {
        for line in aligned(paragraph) {
            converted.push_str(&line);
            converted.push('\n');
        }
    }
    converted.pop(); // the last line has no line break of its own
    converted.into()
}

/// The lines of a paragraph, with each column as wide as its widest cell.
fn aligned(paragraph: &[&str]) -> Vec<String> {
    let lines: Vec<Vec<char>> = paragraph.iter().map(|line| line.chars().collect()).collect();
    let mut texts = vec![String::new(); lines.len()];
    let columns = columns(&lines);
    for (index, column) in columns.iter().enumerate() {
        let gap = column.start - index.checked_sub(1).map_or(0, |index| columns[index].end);
        let cells: Vec<String> = lines.iter().map(|line| cell(line, column)).collect();
        let reaches_end =
            |cell: &String| cell.chars().count() == column.len() && !cell.ends_with(' ');
        let is_right_aligned = cells.iter().any(|cell| cell.starts_with(' '))
            && cells.iter().all(|cell| cell.is_empty() || reaches_end(cell));
        let text = |cell: &String| {
            let shown = if is_right_aligned { cell.trim_start() } else { cell };
            converted(shown.trim_end())
        };
        let cells: Vec<String> = cells.iter().map(text).collect();
        let width = cells.iter().map(String::len).max().unwrap_or_default().max(column.len());
        for (text, cell) in texts.iter_mut().zip(&cells) {
            text.extend(std::iter::repeat_n(' ', gap));
            let padded =
                if is_right_aligned { format!("{cell:>width$}") } else { format!("{cell:width$}") };
            text.push_str(&padded);
        }
    }
    texts.iter().map(|text| text.trim_end().to_owned()).collect()
}

/// Ranges of characters that two or more columns of spaces separate in every line.
fn columns(lines: &[Vec<char>]) -> Vec<Range<usize>> {
    let width = lines.iter().map(Vec::len).max().unwrap_or_default();
    let is_blank =
        |at: usize| lines.iter().all(|line| line.get(at).is_none_or(|&symbol| symbol == ' '));
    let mut columns: Vec<Range<usize>> = Vec::new();
    for at in (0..width).filter(|&at| !is_blank(at)) {
        match columns.last_mut() {
            Some(last) if at <= last.end + 1 => last.end = at + 1,
            _ => columns.push(at..at + 1),
        }
    }
    columns
}

/// The characters of a line in a column; empty where it has none there.
fn cell(line: &[char], column: &Range<usize>) -> String {
    let end = column.end.min(line.len());
    let cell: String = line.get(column.start..end).unwrap_or_default().iter().collect();
    if cell.trim().is_empty() { String::new() } else { cell }
}

fn converted(text: &str) -> String {
    let mut converted = String::new();
    let mut symbols = text.chars().peekable();
    while let Some(symbol) = symbols.next() {
        if symbol.is_ascii() {
            converted.push(symbol);
        } else if let Some(first) = raised(symbol) {
            converted.push('^');
            converted.push(first);
            push_raised(&mut converted, &mut symbols);
        } else {
            match name(symbol) {
                Some(name) => converted.push_str(name),
                None => converted.extend(symbol.escape_unicode()),
            }
        }
    }
    converted
}

/// The rest of an exponent.
fn push_raised(converted: &mut String, symbols: &mut Peekable<Chars<'_>>) {
    while let Some(next) = symbols.peek().copied().and_then(raised) {
        converted.push(next);
        symbols.next();
    }
}

/// The symbol of an exponent on the line.
fn raised(symbol: char) -> Option<char> {
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ"
        .chars()
        .position(|known| known == symbol)
        .and_then(|at| "0123456789-+n".chars().nth(at))
}

/// How a symbol is written in ASCII; other symbols are escaped.
fn name(symbol: char) -> Option<&'static str> {
    Some(match symbol {
        'α' => "alpha",
        'δ' => "delta",
        'Δ' => "Delta",
        'ε' => "eps",
        'θ' => "theta",
        'λ' => "lambda",
        'μ' | 'µ' => "mu",
        'π' => "pi",
        'ρ' => "rho",
        'σ' => "sigma",
        'Σ' => "Sum",
        'τ' => "tau",
        'φ' => "phi",
        'Φ' => "Phi",
        '≤' => "<=",
        '≥' => ">=",
        '≈' => "~",
        '≠' => "!=",
        '±' => "+/-",
        '×' => "x",
        '÷' => "/",
        '·' => "*",
        '⊥' => "_|_",
        '√' => "sqrt",
        '∞' => "inf",
        '′' => "'",
        '½' => "1/2",
        '¼' => "1/4",
        '¾' => "3/4",
        '→' => "->",
        '…' => "...",
        '−' | '–' | '—' | '─' | '━' => "-",
        '│' | '┃' => "|",
        '┌' | '┐' | '└' | '┘' | '├' | '┤' | '┬' | '┴' | '┼' => "+",
        '█' | '▉' | '▊' | '▋' | '▌' | '▍' | '▎' | '▏' | '▓' => "#",
        '░' | '▒' | '•' => ".",
        '‘' | '’' => "'",
        '“' | '”' => "\"",
        '\u{a0}' | '\u{2009}' | '\u{202f}' => " ",
        _ => return None,
    })
}

/// Escapes what a terminal or a CI log would interpret in a JSON document and, with `is_ascii`,
/// everything beyond ASCII.
pub(crate) fn printable_json(text: &str, is_ascii: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for symbol in text.chars() {
        // `##[add-mask]` is a command anywhere in a line; in JSON, `#` occurs only in strings
        let starts_command = symbol == '#' && escaped.ends_with('#');
        let is_plain = symbol == '\n' || is_plain(symbol);
        if is_plain && !starts_command && (symbol.is_ascii() || !is_ascii) {
            escaped.push(symbol);
        } else {
            let units = symbol.encode_utf16(&mut [0; 2]).to_vec();
            escaped.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_have_names() {
        for (text, expected) in [
            ("ε ≥ 1 at δ = 10⁻⁵", "eps >= 1 at delta = 10^-5"),
            ("μ ± σ² ≈ 2 × 3 – 4…", "mu +/- sigma^2 ~ 2 x 3 - 4..."),
            ("café", "caf\\u{e9}"),
            ("plain  text\n\nas it is\n", "plain  text\n\nas it is\n"),
        ] {
            assert_eq!(ascii(text), expected);
        }
    }

    #[test]
    fn columns_stay_aligned() {
        let text = "\
a table

  value       σ  shuffle ≥  pair ≈  ran
  Poisson     1      12.34    1.00  shuffle
  ε ≤ δ    0.39       3.40   23.40  poisson

  label       μ ≥ 2 from
              σ of both
";
        let expected = "\
a table

  value         sigma  shuffle >=  pair ~  ran
  Poisson           1       12.34    1.00  shuffle
  eps <= delta   0.39        3.40   23.40  poisson

  label       mu >= 2 from
              sigma of both
";
        assert_eq!(ascii(text), expected);
    }

    #[test]
    fn json_documents_mean_the_same() {
        let document =
            serde_json::json!({ "ε": "σ ≥ 1 \"𝜀\"", "a": ["\u{9b}\u{7f}\u{202e}", "###[b]"] });
        for is_ascii in [true, false] {
            let text = printable_json(&document.to_string(), is_ascii);
            assert!(text.is_ascii() == is_ascii && text.chars().all(is_plain), "{text}");
            assert!(!text.contains("##"), "{text}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), document);
        }
    }
}
