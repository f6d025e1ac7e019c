//! Public names avoid the words that mean two things in this field.

use crate::source::{code_only, without_tests, word};
use crate::tree::Tree;
use crate::{assert_none, assert_one};

/// Never a public name on their own: each has two meanings.
const AMBIGUOUS: [&str; 8] =
    ["alpha", "beta", "sensitivity", "scale", "sample", "batch", "round", "trial"];

/// Words that may stand between `pub` and the name.
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
        let code = without_tests(&code_only(source));
        for (index, line) in code.lines().enumerate() {
            for name in public_names(line) {
                if AMBIGUOUS.contains(&name.to_lowercase().as_str()) {
                    let line = index + 1;
                    problems.push(format!("{path}:{line}: public name `{name}` means two things"));
                }
            }
        }
    }
    problems
}

/// Items, fields and methods that a line of code makes public. `pub(crate)` is not public, and a
/// re-export has been looked at where it was defined.
fn public_names(line: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (at, _) in line.match_indices("pub ") {
        let inside_a_word = line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let mut rest = line[at + "pub ".len()..].trim_start();
        while KEYWORDS.contains(&word(rest)) {
            rest = rest[word(rest).len()..].trim_start();
        }
        let name = word(rest);
        if !inside_a_word && !name.is_empty() && name != "use" {
            names.push(name);
        }
    }
    names
}

#[test]
fn public_names_have_one_meaning() {
    assert_none(&check(&Tree::load()));
}

#[test]
fn an_ambiguous_public_name_is_refused() {
    let refused = [
        ("pub struct Sample;", "`Sample`"),
        ("    pub fn scale(&self) -> f64 {", "`scale`"),
        ("pub struct A { pub sigma: f64, pub alpha: f64 }", "`alpha`"),
        ("pub const unsafe fn round() {", "`round`"),
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
