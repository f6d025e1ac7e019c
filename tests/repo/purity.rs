//! Core's source names nothing that reads a clock, a file, the environment or another thread; the program
//! renames files in one place, which flushes them.

use crate::source::{Word, tokens, without_tests, words};
use crate::tree::Tree;
use crate::{assert_none, assert_one};

const CORE: &str = "crates/core/src/";

/// Modules of the standard library that core may not name.
const DENIED_MODULES: [&str; 7] = ["time", "fs", "thread", "env", "io", "net", "process"];

const DENIED_MACROS: [&str; 6] = ["print", "println", "eprint", "eprintln", "dbg", "thread_local"];

/// The only file that may call the crate `libm`.
const WRAPPER: &str = "crates/core/src/math.rs";

const PROGRAM: &str = "crates/cli/src/";

/// The only file of the program that may call `fs::rename`.
const RENAMER: &str = "crates/cli/src/temporary.rs";

fn check(tree: &Tree) -> Vec<String> {
    let mut problems = check_renames(tree);
    for (path, source) in tree.rust().filter(|(path, _)| path.starts_with(CORE)) {
        let words = words(without_tests(tokens(source)));
        for at in 0..words.len() {
            for name in denied(&words[at..]) {
                let line = words[at].line;
                problems.push(format!("{path}:{line}: core may not use `{name}`"));
            }
            if path != WRAPPER && starts_with(&words[at..], ["libm", ":", ":"]) {
                problems.push(format!("{path}: calls `libm` past {WRAPPER}"));
            }
        }
    }
    problems
}

/// Files whose renames may be lost in a power failure.
fn check_renames(tree: &Tree) -> Vec<String> {
    let files = tree.rust().filter(|(path, _)| path.starts_with(PROGRAM) && *path != RENAMER);
    let renames = files.filter(|(_, source)| {
        let words = words(without_tests(tokens(source)));
        (0..words.len()).any(|at| starts_with(&words[at..], ["fs", ":", ":", "rename"]))
    });
    renames.map(|(path, _)| format!("{path}: calls `fs::rename` past {RENAMER}")).collect()
}

/// The denied names that start with the first word: `std::fs`, `std::{fs, …}`, `println!`.
fn denied(words: &[Word]) -> Vec<String> {
    let macros = DENIED_MACROS.iter().filter(|name| starts_with(words, [name, "!"]));
    let mut names: Vec<String> = macros.map(|name| format!("{name}!")).collect();
    if starts_with(words, ["std", ":", ":"]) {
        let is_group = words.get(3).is_some_and(|word| word.text == "{");
        let named: Vec<&Word> = if is_group {
            words[4..].iter().take_while(|word| word.text != ";").collect()
        } else {
            words.iter().skip(3).take(1).collect()
        };
        let modules = named.iter().map(|word| word.text.as_str());
        let modules = modules.filter(|name| DENIED_MODULES.contains(name));
        names.extend(modules.map(|name| format!("std::{name}")));
    }
    names
}

fn starts_with<const N: usize>(words: &[Word], texts: [&str; N]) -> bool {
    words.len() >= N && words.iter().zip(texts).all(|(word, text)| word.text == text)
}

#[test]
fn core_is_pure() {
    assert_none(&check(&Tree::load()));
}

#[test]
fn impure_code_is_refused() {
    let refused = [
        ("let now = std::time::Instant::now();", "`std::time`"),
        ("use std::{collections::BTreeMap, fs};", "`std::fs`"),
        ("fn f() { println!(\"x\"); }", "`println!`"),
        ("let y = libm::exp(x);", "past crates/core/src/math.rs"),
    ];
    for (code, part) in refused {
        assert_one(&check(&Tree::of(&[("crates/core/src/x.rs", code)])), part);
    }
}

#[test]
fn renames_without_a_flush_are_refused() {
    let code = "fn f() { std::fs::rename(a, b); }";
    assert_one(&check(&Tree::of(&[("crates/cli/src/x.rs", code)])), "calls `fs::rename` past");
    assert_none(&check(&Tree::of(&[(RENAMER, code)])));
}

#[test]
fn comments_tests_and_other_packages_are_free() {
    let tree = Tree::of(&[
        ("crates/core/src/a.rs", "// std::fs\n/// println!(\"x\")\nlet a = \"std::env\";"),
        ("crates/core/src/b.rs", "#[cfg(test)]\nmod tests { use std::fs; }"),
        ("crates/core/src/math.rs", "pub fn exp(x: f64) -> f64 { libm::exp(x) }"),
        ("crates/cli/src/main.rs", "use std::fs;"),
    ]);
    assert_none(&check(&tree));
}
