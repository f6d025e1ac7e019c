//! A test that cannot fail and a file without code are refused: they look like cover and give none.

use std::collections::BTreeSet;

use crate::source::{code_only, item_length, word};
use crate::tree::Tree;
use crate::{assert_none, assert_one};

/// What fails a test, as text in its body or in that of a function that it calls.
const FAILS: [&str; 8] = [
    "assert",
    "panic!",
    "unreachable!",
    ".unwrap()",
    ".unwrap_err()",
    ".expect(",
    ".expect_err(",
    "?",
];

struct Function<'a> {
    name: &'a str,
    /// Attributes and qualifiers before `fn`.
    before: &'a str,
    /// From the parameters to the end of the body.
    code: &'a str,
}

impl Function<'_> {
    fn can_fail(&self, failing: &BTreeSet<&str>) -> bool {
        let mut words = self.code.split(|c: char| !c.is_alphanumeric() && c != '_');
        self.before.contains("should_panic")
            || FAILS.iter().any(|part| self.code.contains(part))
            || words.any(|word| failing.contains(word))
    }
}

fn functions(code: &str) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    for (at, keyword) in code.match_indices("fn ") {
        let rest = &code[at + keyword.len()..];
        let name = word(rest);
        let inside_a_word = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if !name.is_empty() && !inside_a_word {
            let before = code[..at].rsplit(['{', '}', ';']).next().unwrap_or_default();
            found.push(Function { name, before, code: &rest[name.len()..item_length(rest)] });
        }
    }
    found
}

/// Adds the names of those that fail by themselves or through another.
fn add_failing<'a>(functions: &[Function<'a>], failing: &mut BTreeSet<&'a str>) {
    let mut before = usize::MAX;
    while failing.len() != before {
        before = failing.len();
        for function in functions {
            if function.can_fail(failing) {
                failing.insert(function.name);
            }
        }
    }
}

/// Helpers are looked for in the test's own file and among the files of tests.
fn check_tests(tree: &Tree) -> Vec<String> {
    let sources: Vec<(&str, String)> =
        tree.rust().map(|(path, source)| (path, code_only(source))).collect();
    let of_tests = |path: &str| path.starts_with("tests/") || path.contains("/tests/");
    let shared = sources.iter().filter(|(path, _)| of_tests(path));
    let shared: Vec<Function> = shared.flat_map(|(_, code)| functions(code)).collect();
    let mut shared_failing = BTreeSet::new();
    add_failing(&shared, &mut shared_failing);

    let mut problems = Vec::new();
    for (path, code) in &sources {
        let functions = functions(code);
        let mut failing = shared_failing.clone();
        add_failing(&functions, &mut failing);
        for test in functions.iter().filter(|function| function.before.contains("#[test]")) {
            if !test.can_fail(&failing) {
                problems.push(format!("{path}: the test `{}` cannot fail", test.name));
            }
        }
    }
    problems
}

fn check_files(tree: &Tree) -> Vec<String> {
    let empty = tree.rust().filter(|(_, source)| code_only(source).trim().is_empty());
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
             fn idle() {{}}\n#[test]\nfn first() {{ {body} }}\n"
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
