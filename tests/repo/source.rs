//! Just enough of Rust's lexical rules to tell code from comments, strings and tests.

use std::collections::BTreeSet;

/// The source with comments and literals of text blanked out; every line stays where it is.
pub(crate) fn code_only(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut code = String::with_capacity(source.len());
    let mut at = 0;
    while at < chars.len() {
        let end = skipped(&chars, at);
        if end > at {
            code.extend(chars[at..end].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
            at = end;
        } else {
            code.push(chars[at]);
            at += 1;
        }
    }
    code
}

/// The end of the comment or literal that starts at `at`, or `at` where none does.
fn skipped(chars: &[char], at: usize) -> usize {
    let next = |ahead: usize| chars.get(at + ahead).copied().unwrap_or('\0');
    let inside_a_word = at > 0 && is_word(chars[at - 1]);
    match chars[at] {
        '/' if next(1) == '/' => find(chars, at, |c| c == '\n'),
        '/' if next(1) == '*' => block_comment(chars, at),
        '"' => quoted(chars, at, '"'),
        'r' if !inside_a_word => raw_string(chars, at, at + 1),
        'b' | 'c' if !inside_a_word && next(1) == 'r' => raw_string(chars, at, at + 2),
        // 'x' and '\n' are characters; 'x without a closing quote is a lifetime.
        '\'' if next(1) == '\\' || next(2) == '\'' => quoted(chars, at, '\''),
        _ => at,
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn find(chars: &[char], from: usize, is_end: impl Fn(char) -> bool) -> usize {
    chars[from..].iter().position(|&c| is_end(c)).map_or(chars.len(), |ahead| from + ahead)
}

fn quoted(chars: &[char], at: usize, quote: char) -> usize {
    let mut end = at + 1;
    while end < chars.len() && chars[end] != quote {
        end += if chars[end] == '\\' { 2 } else { 1 };
    }
    (end + 1).min(chars.len())
}

fn block_comment(chars: &[char], at: usize) -> usize {
    let mut depth = 0;
    let mut end = at;
    while end + 1 < chars.len() {
        match (chars[end], chars[end + 1]) {
            ('/', '*') => (depth, end) = (depth + 1, end + 2),
            ('*', '/') => (depth, end) = (depth - 1, end + 2),
            _ => end += 1,
        }
        if depth == 0 {
            return end;
        }
    }
    chars.len()
}

fn raw_string(chars: &[char], at: usize, hashes_from: usize) -> usize {
    let quote = find(chars, hashes_from, |c| c != '#');
    if chars.get(quote) != Some(&'"') {
        return at;
    }
    let hashes = quote - hashes_from;
    let mut end = quote + 1;
    while end < chars.len() {
        end = find(chars, end, |c| c == '"') + 1;
        let closing = chars.iter().skip(end).take(hashes).filter(|&&c| c == '#').count();
        if closing == hashes {
            return (end + hashes).min(chars.len());
        }
    }
    chars.len()
}

/// `code` (from [`code_only`]) with every item under `#[cfg(test)]` blanked out.
pub(crate) fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut rest = code;
    let mut shipped = String::with_capacity(code.len());
    while let Some(start) = rest.find(MARK) {
        let item = &rest[start + MARK.len()..];
        let length = MARK.len() + item_length(item);
        shipped.push_str(&rest[..start]);
        shipped.extend(rest[start..start + length].chars().filter(|&c| c == '\n'));
        rest = &rest[start + length..];
    }
    shipped.push_str(rest);
    shipped
}

/// The length in bytes of the item at the start of `code`: to its `;` or its closing brace.
pub(crate) fn item_length(code: &str) -> usize {
    let mut depth = 0;
    for (at, c) in code.char_indices() {
        match c {
            '}' if depth <= 1 => return at + 1,
            ';' if depth == 0 => return at + 1,
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

/// The names of the tests in a file: functions under `#[test]`, and the names given to
/// libtest-mimic's `Trial::test`.
pub(crate) fn tests_in(source: &str) -> BTreeSet<String> {
    let code = code_only(source);
    let mut names = BTreeSet::new();
    for after in code.split("#[test]").skip(1) {
        // Only other attributes and qualifiers may stand between.
        if let Some((before, function)) = after.split_once("fn ")
            && !before.contains(['{', ';'])
        {
            names.insert(word(function).to_string());
        }
    }
    for after in source.split("Trial::test(\"").skip(1) {
        names.extend(after.split_once('"').map(|(name, _)| name.to_string()));
    }
    names
}

/// The identifier at the start of `text`.
pub(crate) fn word(text: &str) -> &str {
    let text = text.trim_start();
    &text[..text.find(|c| !is_word(c)).unwrap_or(text.len())]
}

/// A run of adjacent doc-comment lines.
#[derive(Debug)]
pub(crate) struct DocBlock {
    /// Line number of the first line.
    pub(crate) line: usize,
    /// The lines without `///` or `//!`.
    pub(crate) lines: Vec<String>,
}

pub(crate) fn doc_blocks(source: &str) -> Vec<DocBlock> {
    let mut blocks: Vec<DocBlock> = Vec::new();
    let mut open = false;
    for (index, line) in source.lines().enumerate() {
        let line = line.trim_start();
        let Some(text) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            open = false;
            continue;
        };
        match blocks.last_mut() {
            Some(block) if open => block.lines.push(text.to_string()),
            _ => blocks.push(DocBlock { line: index + 1, lines: vec![text.to_string()] }),
        }
        open = true;
    }
    blocks
}

/// The pieces of `text` between backticks.
pub(crate) fn in_backticks(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::{code_only, doc_blocks, in_backticks, tests_in, without_tests};

    #[test]
    fn comments_and_text_are_blanked_and_lines_stay() {
        let source = "let a = \"// no { \\\" \"; // yes {\n/* x /* y */ { */ let b = '{';\nlet c: &'a str = r#\"\"{\"#;";
        let code = code_only(source);
        assert_eq!(code.lines().count(), 3);
        assert!(!code.contains('{') && !code.contains("yes"), "{code}");
        assert!(code.contains("let b =") && code.contains("&'a str ="), "{code}");
    }

    #[test]
    fn names_that_end_in_r_are_no_raw_strings() {
        let code = code_only("write!(formatter\"x\"); bar#y; r#type; '\\'' done");
        assert!(code.contains("formatter") && code.contains("bar#y; r#type;"), "{code}");
        assert!(code.ends_with(" done"), "{code}");
    }

    #[test]
    fn test_modules_are_cut_and_nothing_after_them() {
        let code = "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() { {} }\n}\nfn c() {}\n#[cfg(test)]\nuse d;\nfn e() {}\n";
        let shipped = without_tests(code);
        assert!(!shipped.contains("fn b") && !shipped.contains("use d"), "{shipped}");
        assert!(shipped.contains("fn a") && shipped.contains("fn c") && shipped.contains("fn e"));
        assert_eq!(shipped.lines().count(), code.lines().count());
    }

    #[test]
    fn only_functions_under_the_attribute_are_tests() {
        let source = "#[test]\n#[ignore = \"12 min\"]\nfn slow() {}\nfn plain() {}\n// #[test]\nfn commented() {}\nTrial::test(\"adapter\", || Ok(()));";
        let names: Vec<String> = tests_in(source).into_iter().collect();
        assert_eq!(names, ["adapter", "slow"]);
    }

    #[test]
    fn doc_comments_are_read_in_blocks() {
        let blocks = doc_blocks("//! a\n\n/// b\n    /// c\nfn d() {}\n// e\n");
        let lines: Vec<(usize, usize)> =
            blocks.iter().map(|block| (block.line, block.lines.len())).collect();
        assert_eq!(lines, [(1, 1), (3, 2)]);
        assert_eq!(in_backticks("x `a` y `b::c`").collect::<Vec<_>>(), ["a", "b::c"]);
    }
}
