/// Separator of two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delimiter {
    Character(char),
    /// Any run of blanks and tabs.
    Blanks,
}

impl Delimiter {
    /// Semicolons come first: where they separate, a comma may be a decimal sign.
    pub(super) fn of(line: &str) -> Self {
        let mut quoted = false;
        let mut found = [false; 3];
        for byte in line.bytes() {
            quoted ^= byte == b'"';
            for (found, delimiter) in found.iter_mut().zip(DELIMITERS) {
                *found |= !quoted && char::from(byte) == delimiter;
            }
        }
        let first = found.iter().position(|&found| found);
        first.map_or(Self::Blanks, |place| Self::Character(DELIMITERS[place]))
    }
}

const DELIMITERS: [char; 3] = [';', ',', '\t'];

/// A quotation mark that is not closed on its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenQuote;

/// The cells of one line, trimmed and without their quotation marks; a doubled mark inside stays.
pub(super) struct Cells<'l> {
    rest: Option<&'l str>,
    delimiter: Delimiter,
}

impl<'l> Cells<'l> {
    pub(super) fn new(line: &'l str, delimiter: Delimiter) -> Self {
        let line = if delimiter == Delimiter::Blanks { line.trim_ascii() } else { line };
        Self { rest: Some(line), delimiter }
    }
}

impl<'l> Iterator for Cells<'l> {
    type Item = Result<&'l str, OpenQuote>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = match self.delimiter {
            Delimiter::Character('\t') => self.rest?.trim_start_matches(' '),
            _ => self.rest?.trim_ascii_start(),
        };
        let end = if rest.starts_with('"') {
            match closing_quote(rest) {
                // Text between the quote and the delimiter makes the cell no number.
                Some(mark) => delimiter_at(&rest[mark..], self.delimiter).map(|end| mark + end),
                None => {
                    self.rest = None;
                    return Some(Err(OpenQuote));
                }
            }
        } else {
            delimiter_at(rest, self.delimiter)
        };
        let Some(end) = end else {
            self.rest = None;
            return Some(Ok(content(rest)));
        };
        self.rest = Some(&rest[end + 1..]);
        Some(Ok(content(&rest[..end])))
    }
}

/// Position of the first delimiter, each of which is one byte long.
fn delimiter_at(text: &str, delimiter: Delimiter) -> Option<usize> {
    match delimiter {
        Delimiter::Character(character) => text.bytes().position(|b| b == character as u8),
        Delimiter::Blanks => text.bytes().position(|b| b.is_ascii_whitespace()),
    }
}

/// Position after the mark that closes the one at the start.
fn closing_quote(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut position = 1;
    while position < bytes.len() {
        match (bytes[position], bytes.get(position + 1)) {
            (b'"', Some(b'"')) => position += 2,
            (b'"', _) => return Some(position + 1),
            _ => position += 1,
        }
    }
    None
}

fn content(cell: &str) -> &str {
    let cell = cell.trim_ascii();
    let inside = cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"'));
    inside.map_or(cell, str::trim_ascii)
}

/// The line up to the first `#` outside of quotation marks.
pub(super) fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let end = line.bytes().position(|byte| {
        quoted ^= byte == b'"';
        byte == b'#' && !quoted
    });
    end.map_or(line, |end| &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(line: &str) -> Vec<Result<&str, OpenQuote>> {
        Cells::new(line, Delimiter::of(line)).collect()
    }

    fn whole(line: &str) -> Vec<&str> {
        cells(line).into_iter().map(Result::unwrap).collect()
    }

    #[test]
    fn delimiters_are_found_outside_of_quotes() {
        assert_eq!(Delimiter::of("1,5;2,5"), Delimiter::Character(';'));
        assert_eq!(Delimiter::of("\"a;b\",c"), Delimiter::Character(','));
        assert_eq!(Delimiter::of("1\t2 3"), Delimiter::Character('\t'));
        assert_eq!(Delimiter::of("1 2"), Delimiter::Blanks);
    }

    #[test]
    fn cells_are_trimmed_and_unquoted() {
        assert_eq!(whole("1, 2 ,3"), ["1", "2", "3"]);
        assert_eq!(whole("1,,"), ["1", "", ""]);
        assert_eq!(whole("1  2   3"), ["1", "2", "3"]);
        assert_eq!(whole("\"a, b\",\"c\"\"d\", \"e\" "), ["a, b", "c\"\"d", "e"]);
        assert_eq!(whole("\"a b\" c"), ["a b", "c"]);
        assert_eq!(whole("σ,µ"), ["σ", "µ"]);
        assert_eq!(whole("\"1\"2,3"), ["\"1\"2", "3"]);
        assert_eq!(whole("\t2\t"), ["", "2", ""]);
        assert_eq!(whole(" 1 2 "), ["1", "2"]);
    }

    #[test]
    fn open_quotes_end_the_line() {
        assert_eq!(cells("1,\"2,3"), [Ok("1"), Err(OpenQuote)]);
        assert_eq!(cells("\"\"\"").last(), Some(&Err(OpenQuote)));
    }

    #[test]
    fn comments_start_outside_of_quotes() {
        assert_eq!(without_comment("1 2 # 3"), "1 2 ");
        assert_eq!(without_comment("\"#x\",1"), "\"#x\",1");
        assert_eq!(without_comment("1"), "1");
    }
}
