//! Every `Guarantee` in a doc comment names, in backticks, a test that exists: `unit::test_name` in
//! the same file (or its `tests.rs`), or `tests/FOLDER/FILE.rs::test_name`.

use crate::source::{doc_blocks, in_backticks};
use crate::tree::{Tree, folder};
use crate::{assert_none, assert_one};

/// The test that a piece in backticks names; `None` where it names no test.
pub(crate) enum Reference<'a> {
    Unit(&'a str),
    InFile { path: &'a str, test: &'a str },
}

impl<'a> Reference<'a> {
    pub(crate) fn parse(piece: &'a str) -> Option<Self> {
        if let Some(test) = piece.strip_prefix("unit::") {
            return Some(Self::Unit(test));
        }
        let (path, test) = piece.split_once(".rs::")?;
        // Modules between the file and the test may be written out.
        let test = test.rsplit("::").next().unwrap_or(test);
        Some(Self::InFile { path: &piece[..path.len() + ".rs".len()], test })
    }

    /// What is wrong with the reference, made in the file `from`.
    pub(crate) fn problem(&self, tree: &Tree, from: &str) -> Option<String> {
        match *self {
            Self::Unit(test) => {
                let beside = format!("{}/tests.rs", folder(from));
                let inside = format!("{}/tests.rs", from.trim_end_matches(".rs"));
                let found = [from, &beside, &inside].iter().any(|path| tree.has_test(path, test));
                (!found).then(|| format!("no unit test `{test}` in this file"))
            }
            Self::InFile { path, .. } if !tree.has(path) => Some(format!("no file {path}")),
            Self::InFile { path, test } => {
                (!tree.has_test(path, test)).then(|| format!("no test `{test}` in {path}"))
            }
        }
    }
}

fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, source) in tree.rust() {
        for block in doc_blocks(source) {
            for (offset, text) in guarantees(&block.lines) {
                let place = format!("{path}:{}", block.line + offset);
                let named: Vec<Reference> =
                    in_backticks(&text).filter_map(Reference::parse).collect();
                if named.is_empty() {
                    let meant = suggestions(tree, path, &text);
                    problems.push(format!("{place}: the guarantee names no test{meant}"));
                }
                let wrong = named.iter().filter_map(|reference| reference.problem(tree, path));
                problems.extend(wrong.map(|problem| format!("{place}: {problem}")));
            }
        }
    }
    problems
}

/// References to existing tests whose bare names occur in the text.
fn suggestions(tree: &Tree, from: &str, text: &str) -> String {
    let mut meant = String::new();
    for name in in_backticks(text).map(|piece| piece.rsplit("::").next().unwrap_or(piece)) {
        for (path, _) in tree.tests().iter().filter(|(_, tests)| tests.contains(name)) {
            let place = if path == from { "unit" } else { path };
            meant.push_str(&format!("; write `{place}::{name}`?"));
        }
    }
    meant
}

/// The texts under each `Guarantee` heading of a block, or after `Guarantee:` up to an empty line,
/// with the index of the first line.
fn guarantees(lines: &[String]) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut open, mut inline) = (false, false);
    for (index, line) in lines.iter().map(|line| line.trim()).enumerate() {
        if let Some(heading) = line.strip_prefix("# ") {
            open = heading.starts_with("Guarantee");
            if open {
                found.push((index, String::new()));
            }
        } else if line.starts_with("Guarantee:") {
            found.push((index, line.to_string()));
            inline = true;
            open = true;
        } else if inline && line.is_empty() {
            (inline, open) = (false, false);
        } else if let Some((_, text)) = found.last_mut().filter(|_| open) {
            text.push_str(line);
            text.push('\n');
        }
    }
    found
}

#[test]
fn each_guarantee_names_an_existing_test() {
    assert_none(&check(&Tree::load()));
}

#[test]
fn a_guarantee_without_its_test_is_refused() {
    let source = |named: &str| {
        format!(
            "/// X.\n///\n/// # Guarantee\n///\n/// Holds ({named}).\n///\n/// # Errors\n///\n/// `unit::no`\n\
             pub fn x() {{}}\n#[cfg(test)]\nmod tests {{\n#[test]\nfn covers() {{}}\nfn helper() {{}}\n}}\n"
        )
    };
    let check_named = |named: &str| {
        let text = source(named);
        let coverage = ("tests/coverage/exact.rs", "#[test]\nfn by_enumeration() {}");
        check(&Tree::of(&[("crates/core/src/x.rs", &text), coverage]))
    };
    assert_none(&check_named("`unit::covers`"));
    assert_none(&check_named("`tests/coverage/exact.rs::by_enumeration`, `f64::sqrt`"));
    assert_one(&check_named("proved by hand"), "x.rs:3: the guarantee names no test");
    assert_one(&check_named("see `x::covers`"), "names no test; write `unit::covers`?");
    assert_one(&check_named("`unit::helper`"), "no unit test `helper`");
    assert_one(&check_named("`tests/coverage/exact.rs::gone`"), "no test `gone`");
    assert_one(&check_named("`tests/coverage/gone.rs::by_enumeration`"), "no file");
    assert_one(&check_named("`unit::covers`, `unit::gone`"), "no unit test `gone`");
}

#[test]
fn one_line_guarantees_are_found() {
    let check_line = |line: &str| {
        let source = format!("/// X.\n/// {line}\n///\n/// `unit::covers`\npub fn x() {{}}");
        check(&Tree::of(&[("crates/core/src/x.rs", &source)]))
    };
    assert_one(&check_line("Guarantee: holds."), "x.rs:2: the guarantee names no test");
    assert_one(&check_line("Guarantee: `unit::gone`."), "no unit test `gone`");
    assert_none(&check_line("No guarantee: none."));
}

#[test]
fn the_test_of_a_guarantee_may_be_in_the_tests_file() {
    let source = "/// # Guarantee\n/// Holds: `unit::covers`.\npub fn x() {}";
    let tests = "#[test]\nfn covers() {}";
    for path in ["crates/core/src/a/tests.rs", "crates/core/src/a/x/tests.rs"] {
        assert_none(&check(&Tree::of(&[("crates/core/src/a/x.rs", source), (path, tests)])));
    }
}
