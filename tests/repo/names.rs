//! Public names avoid the words that mean two things in this field.

use crate::source::{Word, tokens, without_tests, words};
use crate::tree::Tree;
use crate::{assert_none, assert_one};

/// Never a public name on their own: each has two meanings.
const AMBIGUOUS: [&str; 8] =
    ["alpha", "beta", "sensitivity", "scale", "sample", "batch", "round", "trial"];

/// Words allowed between `pub` and the name.
const KEYWORDS: [&str; 12] = [
    "const", "async", "unsafe", "extern", "fn", "struct", "enum", "trait", "type", "static", "mod",
    "union",
];

fn is_shipped(path: &str) -> bool {
    (path.starts_with("crates/") || path.starts_with("shaders/src/"))
        && path.contains("/src/")
        && !path.starts_with("crates/xtask/")
}

fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, source) in tree.rust().filter(|(path, _)| is_shipped(path)) {
        let words = words(without_tests(tokens(source)));
        for Word { text, line } in public_names(&words) {
            if AMBIGUOUS.contains(&text.to_lowercase().as_str()) {
                problems.push(format!("{path}:{line}: public name `{text}` means two things"));
            }
        }
    }
    problems
}

/// Items, fields and methods that the words make public. `pub(crate)` is not public, and a
/// re-export is checked where the item is defined.
fn public_names(words: &[Word]) -> impl Iterator<Item = &Word> {
    let is_keyword = |word: &&Word| KEYWORDS.contains(&word.text.as_str());
    let public = words.iter().enumerate().filter(|(_, word)| word.text == "pub");
    public.filter_map(move |(at, _)| words[at + 1..].iter().find(|word| !is_keyword(word)))
}

#[test]
fn public_names_have_one_meaning() {
    assert_none(&check(&Tree::load()));
}

#[test]
fn an_ambiguous_public_name_is_refused() {
    let refused = [
        ("pub struct Sample;", "`Sample`"),
        ("    pub fn scale(&self) -> f64 {}", "`scale`"),
        ("pub struct A { pub sigma: f64, pub alpha: f64 }", "`alpha`"),
        ("pub const unsafe fn round() {}", "`round`"),
        ("pub mod batch;", "`batch`"),
    ];
    for (code, part) in refused {
        assert_one(&check(&Tree::of(&[("crates/core/src/a.rs", code)])), part);
        assert_none(&check(&Tree::of(&[("tests/support/a.rs", code)])));
    }
}

#[test]
fn longer_and_private_names_are_free() {
    let free = "pub struct BatchSampler;\npub batch_size: u64,\npub accuracy: f64,\npub(crate) fn round() {}\nfn trial() {}\n\
                // pub fn alpha() {}\n/// pub fn beta\npub use rand::sample;\n#[cfg(test)]\nmod tests { pub fn scale() {} }\n";
    assert_none(&check(&Tree::of(&[("crates/core/src/a.rs", free)])));
}
