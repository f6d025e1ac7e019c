//! Doc comments stand alone: a reader who sees one of them without its neighbours understands it.

use crate::tree::Tree;
use crate::{assert_none, assert_one};

/// First words that refer to a neighbour.
const DEPENDENT: [&str; 5] = ["The same", "Of", "Those", "None that", "As of"];

fn check(tree: &Tree) -> Vec<String> {
    let problems = |(path, source): (&str, &str)| -> Vec<String> {
        let dependent = first_lines(source).filter(|(_, text)| !stands_alone(text));
        let problem = |(number, text)| format!("{path}:{number}: `{text}` does not stand alone");
        dependent.map(problem).collect()
    };
    tree.rust().flat_map(problems).collect()
}

/// The lines that begin a doc comment or a section of one, with their numbers.
fn first_lines(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut comment = None;
    source.lines().zip(1..).filter_map(move |(line, number)| {
        let before = std::mem::replace(&mut comment, doc_comment(line));
        let (marker, text) = comment?;
        let continues = before.is_some_and(|(other, text)| other == marker && !is_heading(text));
        (!continues).then_some((number, text))
    })
}

/// The marker and the text of a line that is a doc comment.
fn doc_comment(line: &str) -> Option<(&str, &str)> {
    let (marker, text) = line.trim_start().split_at_checked(3)?;
    let is_doc = marker == "//!" || (marker == "///" && !text.starts_with('/'));
    is_doc.then_some((marker, text.trim()))
}

/// `# Errors`, and not a hidden line of an example.
fn is_heading(text: &str) -> bool {
    let is_of_title = |c: char| c.is_alphabetic() || c == ' ';
    text.strip_prefix("# ").is_some_and(|title| title.chars().all(is_of_title))
}

fn stands_alone(text: &str) -> bool {
    let begins = |words: &&str| {
        text.strip_prefix(*words).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    !DEPENDENT.iter().any(begins) && !is_symbol(text)
}

/// One letter or symbol and nothing else, with or without an index: `T.`, `β₁`.
fn is_symbol(text: &str) -> bool {
    let mut name = text.trim_end_matches('.').trim_matches('`').chars();
    name.next().is_some_and(|first| !first.is_ascii_punctuation()) && name.all(is_index)
}

fn is_index(c: char) -> bool {
    matches!(c, '′' | '¹' | '²' | '³' | '₀'..='ₜ')
}

/// The problems of one file.
fn check_file(source: &str) -> Vec<String> {
    check(&Tree::of(&[("crates/core/src/a.rs", source)]))
}

#[test]
fn doc_comments_stand_alone() {
    assert_none(&check(&Tree::load()));
}

#[test]
fn first_words_that_refer_to_a_neighbour_are_refused() {
    let refused = [
        "The same of an epoch.",
        "Of a layout.",
        "Those that were made, at least one.",
        "None that a page can cause.",
        "As of `mu_lower`.",
    ];
    for text in refused {
        assert_one(&check_file(&format!("//! {text}\n")), "a.rs:1");
        let of_field = format!("/// Steps.\nstruct A {{\n    /// {text}\n    a: f64,\n}}\n");
        assert_one(&check_file(&of_field), &format!("a.rs:3: `{text}`"));
        assert_one(&check_file(&format!("//! Steps.\n/// {text}\nfn a() {{}}\n")), "a.rs:2");
        assert_one(&check_file(&format!("/// Adds.\n///\n/// # Errors\n/// {text}\n")), "a.rs:4");
    }
}

#[test]
fn a_symbol_alone_is_refused() {
    for text in ["T.", "σ", "`q`", "`μ`.", "β₁.", "h²"] {
        assert_one(&check_file(&format!("    /// {text}\n    a: f64,\n")), text);
    }
}

#[test]
fn other_comments_are_free() {
    let free = [
        "/// Noise multiplier σ.",
        "/// Offsets of batches.",
        "/// The samples.",
        "/// Steps of an epoch.\n/// Those of the last are counted.\n/// T.",
        "/// # let a = [1,\n/// 2];\n/// }",
        "/// ```",
        "///",
        "// Of a layout.",
        "//// Of a layout.",
        "let a = \"/// Of a layout.\";",
    ];
    for source in free {
        assert_none(&check_file(source));
    }
}
