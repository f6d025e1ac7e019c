//! Each top-level folder and each package has a README, each invariant in a document names the test
//! that checks it, and the documented test command is the one that runs without a terminal.

use crate::guarantees::Reference;
use crate::source::in_backticks;
use crate::tree::Tree;
use crate::{assert_none, assert_one};

/// Documents, and whether invariants must be stated there.
const DOCUMENTS: [(&str, bool); 6] = [
    ("ARCHITECTURE.md", true),
    ("crates/README.md", true),
    ("shaders/README.md", true),
    ("tests/README.md", true),
    ("tests/PROMISES.md", true),
    ("web/README.md", false),
];

const COMMAND: &str = "cargo xtask test";

fn check_readmes(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, states_invariants) in DOCUMENTS {
        match tree.text(path) {
            None => problems.push(format!("{path} is missing")),
            Some(text) if states_invariants && invariants(text).is_empty() => {
                problems.push(format!("{path} has no bullet under a heading `Invariants`"));
            }
            Some(_) => {}
        }
    }
    for (path, text) in tree.files() {
        if let Some(package) = path.strip_suffix("/Cargo.toml")
            && package.starts_with("crates/")
            && !tree.has(&format!("{package}/README.md"))
        {
            problems.push(format!("{package}/README.md is missing"));
        }
        // The tests of the web are no Rust.
        if path.ends_with(".md") && !path.starts_with("web/") {
            for bullet in invariants(text) {
                problems.extend(check_bullet(tree, path, &bullet));
            }
        }
    }
    problems
}

/// The bullets under headings with the word "Invariants", each with its continuation lines.
fn invariants(text: &str) -> Vec<String> {
    let mut bullets: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        if line.starts_with('#') {
            open = line.to_lowercase().contains("invariants");
        } else if open && (line.starts_with("- ") || line.starts_with("* ")) {
            bullets.push(line[2..].to_string());
        } else if open && line.starts_with("  ") && !bullets.is_empty() {
            let last = bullets.len() - 1;
            bullets[last].push_str(line);
        }
    }
    bullets
}

/// A bullet names a test by its file (`PATH.rs::test_name`) or, where it is a unit test, by its
/// path within the crate (`module::tests::test_name`).
fn check_bullet(tree: &Tree, path: &str, bullet: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let mut holds = false;
    for piece in in_backticks(bullet) {
        match Reference::parse(piece) {
            Some(reference) => match reference.problem(tree, path) {
                None => holds = true,
                Some(problem) => problems.push(format!("{path}: {problem}")),
            },
            None => {
                let name = piece.rsplit("::").next().unwrap_or(piece);
                holds |= tree.tests().values().any(|tests| tests.contains(name));
            }
        }
    }
    if !holds && problems.is_empty() {
        let start: String = bullet.chars().take(60).collect();
        problems.push(format!("{path}: this invariant names no existing test: {start}"));
    }
    problems
}

fn check_command(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    let script = tree.text(".ci/run").unwrap_or_default();
    let called = script.lines().filter(|line| line.contains("cargo ")).collect::<Vec<_>>();
    if called.len() != 1 || !called[0].contains(COMMAND) {
        problems.push(format!(".ci/run calls {called:?}, not exactly `{COMMAND}`"));
    }
    if !tree.text("README.md").unwrap_or_default().contains(COMMAND) {
        problems.push(format!("README.md does not name `{COMMAND}`"));
    }
    problems
}

#[test]
fn each_folder_has_a_readme_whose_invariants_name_tests() {
    assert_none(&check_readmes(&Tree::load()));
}

#[test]
fn an_invariant_without_its_test_is_refused() {
    let check_bullet = |bullet: &str| {
        let text =
            format!("# crates\n\nText.\n\n## Invariants\n\n{bullet}\n\n## Map\n\n- no test\n");
        check_readmes(&Tree::of(&[
            ("ARCHITECTURE.md", "## Invariants\n- Equal: `random::tests::equal`.\n"),
            ("crates/README.md", &text),
            ("shaders/README.md", "## Invariants\n- Equal: `random::tests::equal`.\n"),
            ("tests/README.md", "## Invariants\n- Equal:\n  `tests/repo/a.rs::equal`.\n"),
            ("tests/PROMISES.md", "# Invariants\n- Equal:\n\n  | `tests/repo/a.rs::equal` |\n"),
            ("web/README.md", "# web\n"),
            ("tests/repo/a.rs", "#[test]\nfn equal() {}"),
        ]))
    };
    assert_none(&check_bullet("- Core is pure (`tests/repo/a.rs::equal`)."));
    assert_one(&check_bullet("- Core is pure."), "names no existing test: Core is pure");
    assert_one(&check_bullet("- Core is pure (`tests::gone`)."), "names no existing test");
    assert_one(&check_bullet("- Core is pure (`tests/repo/a.rs::gone`)."), "no test `gone`");
    assert_one(&check_bullet("Core is pure."), "has no bullet");
}

#[test]
fn a_missing_readme_is_refused() {
    let problems = check_readmes(&Tree::of(&[("crates/new/Cargo.toml", "")]));
    assert_eq!(problems.len(), DOCUMENTS.len() + 1, "{problems:?}");
    assert!(problems.contains(&"crates/new/README.md is missing".to_string()), "{problems:?}");
}

#[test]
fn the_documented_command_is_the_one_that_ci_runs() {
    assert_none(&check_command(&Tree::load()));
}

#[test]
fn another_command_is_refused() {
    let readme = ("README.md", "Tests: `cargo xtask test`.");
    assert_none(&check_command(&Tree::of(&[readme, (".ci/run", "exec cargo xtask test\n")])));
    let script = (".ci/run", "cargo xtask test\ncargo build\n");
    assert_one(&check_command(&Tree::of(&[readme, script])), "not exactly");
    assert_one(&check_command(&Tree::of(&[(".ci/run", "cargo xtask test\n")])), "README.md");
}
