//! A test that cannot fail and a file without code are refused: they suggest coverage where there is none.

use std::collections::BTreeSet;

use crate::source::{Function, functions, tokens};
use crate::tree::Tree;
use crate::{assert_none, assert_one};

/// What fails a test, as a word in its body or in that of a function that it calls; so does every
/// word that starts as one of [`ASSERTIONS`].
const FAILS: [&str; 5] = ["unwrap", "unwrap_err", "expect", "expect_err", "?"];

const FAILING_MACROS: [&str; 2] = ["panic", "unreachable"];

const ASSERTIONS: [&str; 3] = ["assert", "prop_assert", "debug_assert"];

fn can_fail(function: &Function, failing: &BTreeSet<String>) -> bool {
    let words: Vec<&str> = function.words.iter().map(|word| word.text.as_str()).collect();
    let is_failing_macro = |pair: &[&str]| FAILING_MACROS.contains(&pair[0]) && pair[1] == "!";
    function.attributes.iter().any(|text| text.starts_with("should_panic"))
        || words.windows(2).any(is_failing_macro)
        || words.iter().enumerate().any(|(at, word)| {
            let is_assertion = ASSERTIONS.iter().any(|start| word.starts_with(start));
            FAILS.contains(word)
                || failing.contains(*word)
                || (is_assertion && !asserts_nothing(&words[at + 1..]))
        })
}

/// Whether the words after the name of an assertion are those of `!(true)`, with or without a message;
/// closing brackets are no words.
fn asserts_nothing(after: &[&str]) -> bool {
    matches!(after, ["!", "(", "true"] | ["!", "(", "true", "," | ";", ..])
}

/// Adds the names of those that fail by themselves or through another.
fn add_failing<'a>(
    functions: impl Iterator<Item = &'a Function> + Clone,
    failing: &mut BTreeSet<String>,
) {
    let mut before = usize::MAX;
    while failing.len() != before {
        before = failing.len();
        for function in functions.clone() {
            if !failing.contains(&function.name) && can_fail(function, failing) {
                failing.insert(function.name.clone());
            }
        }
    }
}

/// Helpers are looked for in the test's own file and among the files of tests.
fn check_tests(tree: &Tree) -> Vec<String> {
    let files: Vec<(&str, Vec<Function>)> =
        tree.rust().map(|(path, source)| (path, functions(tokens(source)))).collect();
    let of_tests = files
        .iter()
        .filter(|(path, _)| path.starts_with("tests/") || path.contains("/tests/"))
        .flat_map(|(_, functions)| functions);
    let mut shared_failing = BTreeSet::new();
    add_failing(of_tests, &mut shared_failing);

    let mut problems = Vec::new();
    for (path, functions) in &files {
        let mut failing = shared_failing.clone();
        add_failing(functions.iter(), &mut failing);
        for test in functions.iter().filter(|function| function.is_test()) {
            if !can_fail(test, &failing) {
                problems.push(format!("{path}: the test `{}` cannot fail", test.name));
            }
        }
    }
    problems
}

fn check_files(tree: &Tree) -> Vec<String> {
    let has_items = |source| !syn::parse_file(source).expect("a Rust file").items.is_empty();
    let empty = tree.rust().filter(|(_, source)| !has_items(source));
    empty.map(|(path, _)| format!("{path}: no code")).collect()
}

#[test]
fn every_test_can_fail() {
    assert_none(&check_tests(&Tree::load()));
}

#[test]
fn a_test_that_cannot_fail_is_refused() {
    let check_body = |body: &str| {
        let source = format!(
            "fn helper(a: [u8; 2]) {{ assert_eq!(a, [0; 2]); }}\nfn through() {{ helper([0; 2]); }}\n\
             fn idle() {{}}\n#[test]\nfn first() {{\n{body}\n}}\n"
        );
        let support = ("tests/support/a.rs", "pub fn same() { panic!() }");
        check_tests(&Tree::of(&[("crates/core/src/a.rs", &source), support]))
    };
    for body in ["assert!(x)", "through()", "same()", "x.unwrap();", "f()?; Ok(())"] {
        assert_none(&check_body(body));
    }
    for body in ["", "idle()", "let x = 1; // assert!(x)", "x.unwrap_or(1);", "f(\"assert\")"] {
        assert_one(&check_body(body), "`first` cannot fail");
    }
    for body in ["assert!(true);", "assert!( true , \"reached\")", "debug_assert!(true)"] {
        assert_one(&check_body(body), "`first` cannot fail");
    }
    let panics = "#[test]\n#[should_panic]\nfn a() { f() }";
    assert_none(&check_tests(&Tree::of(&[("tests/a.rs", panics)])));
}

#[test]
fn every_file_has_code() {
    assert_none(&check_files(&Tree::load()));
}

#[test]
fn a_file_without_code_is_refused() {
    assert_one(&check_files(&Tree::of(&[("tests/cli/a.rs", "//! Help.\n\n// todo\n")])), "no code");
    assert_none(&check_files(&Tree::of(&[("tests/cli/a.rs", "mod b;\n"), ("b.md", "")])));
}
