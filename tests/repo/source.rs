//! Rust files as tokens, lexed by `proc_macro2`. Tokens rather than a syntax tree, because macros
//! such as `proptest!` contain functions too.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};

pub(crate) fn tokens(source: &str) -> TokenStream {
    source.parse().expect("the tokens of a Rust file")
}

/// An identifier, literal, punctuation character or opening bracket.
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// The words of the tokens, those inside brackets included; a comment is none.
pub(crate) fn words(tokens: TokenStream) -> Vec<Word> {
    let word = |text: String, span: Span| Word { text, line: span.start().line };
    let mut all = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let bracket = match group.delimiter() {
                    Delimiter::Brace => "{",
                    Delimiter::Bracket => "[",
                    Delimiter::Parenthesis => "(",
                    Delimiter::None => "",
                };
                all.push(word(bracket.to_string(), group.span_open()));
                all.extend(words(group.stream()));
            }
            token => all.push(word(token.to_string(), token.span())),
        }
    }
    all
}

/// The tokens outside items under `#[cfg(test)]` and `#[cfg(all(test, …))]`.
pub(crate) fn without_tests(tokens: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut shipped: Vec<TokenTree> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) if is_test_mark(group) => {
                shipped.pop(); // the `#` of the mark; other attributes may precede it
                while let [.., TokenTree::Punct(hash), TokenTree::Group(_)] = &shipped[..]
                    && hash.as_char() == '#'
                {
                    shipped.truncate(shipped.len() - 2);
                }
                at += item_length(&tokens[at + 1..]);
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), without_tests(group.stream()));
                inner.set_span(group.span());
                shipped.push(inner.into());
            }
            token => shipped.push(token.clone()),
        }
        at += 1;
    }
    shipped.into_iter().collect()
}

fn is_test_mark(group: &Group) -> bool {
    let text = group.stream().to_string().replace(' ', "");
    group.delimiter() == Delimiter::Bracket
        && (text == "cfg(test)" || text.starts_with("cfg(all(test,"))
}

/// The number of tokens up to the end of the item: its `;` or its braces, with a `;` after them.
pub(crate) fn item_length(tokens: &[TokenTree]) -> usize {
    let end = tokens.iter().position(ends_item).map_or(tokens.len(), |at| at + 1);
    end + usize::from(tokens.get(end).is_some_and(is_semicolon))
}

fn ends_item(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
        || is_semicolon(token)
}

fn is_semicolon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';')
}

pub(crate) struct Function {
    pub(crate) name: String,
    /// Without `#[…]`.
    pub(crate) attributes: Vec<String>,
    /// Parameters and body.
    pub(crate) words: Vec<Word>,
}

impl Function {
    pub(crate) fn is_test(&self) -> bool {
        self.attributes.iter().any(|text| text == "test")
    }
}

/// The functions of a file, nested ones and those inside macros included.
pub(crate) fn functions(tokens: TokenStream) -> Vec<Function> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        match &tokens[at..] {
            [TokenTree::Group(group), ..] => found.extend(functions(group.stream())),
            [TokenTree::Ident(keyword), TokenTree::Ident(name), rest @ ..] if keyword == "fn" => {
                let before = tokens[..at].iter().rev().take_while(|token| !ends_item(token));
                let attribute = |token: &TokenTree| match token {
                    TokenTree::Group(group) => Some(group.stream().to_string()),
                    _ => None,
                };
                found.push(Function {
                    name: name.to_string(),
                    attributes: before.filter_map(attribute).collect(),
                    words: words(rest[..item_length(rest)].iter().cloned().collect()),
                });
            }
            _ => {}
        }
    }
    found
}

/// The names of the tests in a file: functions under `#[test]`, and the names that libtest-mimic's
/// `Trial::test` registers.
pub(crate) fn tests_in(source: &str) -> BTreeSet<String> {
    let tokens = tokens(source);
    let words = words(tokens.clone());
    let registered = words.windows(6).filter_map(|words| {
        let [before @ .., name] = words else { return None };
        let before = before.iter().map(|word| word.text.as_str());
        before.eq(["Trial", ":", ":", "test", "("]).then(|| name.text.trim_matches('"').to_string())
    });
    let tests = functions(tokens).into_iter().filter(Function::is_test);
    let tests = tests.map(|function| function.name);
    tests.chain(registered).collect()
}

/// Adjacent doc-comment lines.
#[derive(Debug)]
pub(crate) struct DocBlock {
    /// Line number of the first line.
    pub(crate) line: usize,
    /// The lines without `///` or `//!`.
    pub(crate) lines: Vec<String>,
}

/// Text matching suffices for comments, and preserves lines as in the file.
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
    use super::{doc_blocks, functions, in_backticks, tests_in, tokens, without_tests, words};

    fn texts(source: &str) -> Vec<(usize, String)> {
        words(without_tests(tokens(source)))
            .into_iter()
            .map(|word| (word.line, word.text))
            .collect()
    }

    #[test]
    fn words_are_neither_comments_nor_text_and_name_their_lines() {
        let source = "let a = \"// no { \\\" \"; // yes {\n/* x /* y */ { */ let b = '{';\nlet c: &'a str = r#\"\"{\"#;";
        let words = texts(source);
        assert!(!words.iter().any(|(_, text)| text == "{" || text == "yes"), "{words:?}");
        for (line, name) in [(1, "a"), (2, "b"), (3, "c")] {
            assert!(words.contains(&(line, name.to_string())), "{words:?}");
        }
    }

    #[test]
    fn test_modules_are_cut_and_nothing_after_them() {
        let source = "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() { {} }\n}\nfn c() {}\n#[cfg(all(test, unix))]\nuse {d};\nimpl X { /// F.\n #[cfg(test)] fn f() {} }\nfn e() {}\n";
        let shipped = functions(without_tests(tokens(source)));
        let names: Vec<&str> = shipped.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["a", "c", "e"]);
        let words = texts(source);
        assert!(
            words.contains(&(11, "e".into()))
                && !words.iter().any(|(_, text)| text == "d" || text == ";")
        );
    }

    #[test]
    fn only_functions_under_the_attribute_are_tests() {
        let source = "#[test]\n#[ignore = \"12 min\"]\nfn slow() {}\nfn plain() {}\n// #[test]\nfn commented() {}\n\
                      proptest! { #[test] fn drawn(x in 0..9) {} }\n#[cfg(test)] fn helper() {}\n\
                      fn f() { Trial::test(\"adapter\", || Ok(())); }";
        let names: Vec<String> = tests_in(source).into_iter().collect();
        assert_eq!(names, ["adapter", "drawn", "slow"]);
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
