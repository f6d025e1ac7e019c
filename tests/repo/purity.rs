//! Core's source names nothing that reads a clock, a file, the environment or another thread.

use crate::source::{code_only, without_tests, word};
use crate::tree::Tree;
use crate::{assert_none, assert_one};

const CORE: &str = "crates/core/src/";

/// Modules of the standard library that core may not name.
const DENIED_MODULES: [&str; 7] = ["time", "fs", "thread", "env", "io", "net", "process"];

const DENIED_MACROS: [&str; 6] =
    ["print!", "println!", "eprint!", "eprintln!", "dbg!", "thread_local!"];

/// The only file that may call the crate `libm`.
const WRAPPER: &str = "crates/core/src/math.rs";

fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, source) in tree.rust().filter(|(path, _)| path.starts_with(CORE)) {
        let code = without_tests(&code_only(source));
        for (index, line) in code.lines().enumerate() {
            for name in named(line) {
                problems.push(format!("{path}:{}: core may not use {name}", index + 1));
            }
        }
        if path != WRAPPER && code.contains("libm::") {
            problems.push(format!("{path}: calls `libm` past {WRAPPER}"));
        }
        problems.extend(grouped(&code).map(|name| format!("{path}: core may not use {name}")));
    }
    problems
}

/// Denied names that a line writes out: `std::fs`, `println!`.
fn named(line: &str) -> Vec<String> {
    let mut names = Vec::new();
    for after in line.split("std::").skip(1) {
        if DENIED_MODULES.contains(&word(after)) {
            names.push(format!("`std::{}`", word(after)));
        }
    }
    let called: Vec<&str> = line.split_inclusive('!').filter(|part| part.ends_with('!')).collect();
    for part in called {
        let start = part.trim_end_matches('!').rfind(|c: char| !c.is_alphanumeric() && c != '_');
        let name = &part[start.map_or(0, |at| at + 1)..];
        if DENIED_MACROS.contains(&name) {
            names.push(format!("`{name}`"));
        }
    }
    names
}

/// Denied modules inside `use std::{…}`.
fn grouped(code: &str) -> impl Iterator<Item = String> {
    let groups = code.split("std::{").skip(1).filter_map(|after| after.split_once(';'));
    let words = groups.flat_map(|(group, _)| {
        group.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_string)
    });
    words
        .filter(|name| DENIED_MODULES.contains(&name.as_str()))
        .map(|name| format!("`std::{name}`"))
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
fn comments_tests_and_other_packages_are_free() {
    let tree = Tree::of(&[
        ("crates/core/src/a.rs", "// std::fs\n/// println!(\"x\")\nlet a = \"std::env\";"),
        ("crates/core/src/b.rs", "#[cfg(test)]\nmod tests { use std::fs; }"),
        ("crates/core/src/math.rs", "pub fn exp(x: f64) -> f64 { libm::exp(x) }"),
        ("crates/cli/src/main.rs", "use std::fs;"),
    ]);
    assert_none(&check(&tree));
}
