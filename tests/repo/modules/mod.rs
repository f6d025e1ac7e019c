//! The modules of a crate depend on each other without cycles.
//!
//! Module A depends on module B when code in A names an item that is defined in B: by a path, by an
//! import, or as the definition behind a re-export. A module is a file or an inline `mod`, without
//! the modules inside it. Hence:
//!
//! - a module that declares or re-exports its children does not depend on them, until its own code
//!   names one of their items;
//! - a module whose macro call makes items from the names of its children depends on them;
//! - a child that names an item of its parent's file, whose code names an item of that child, is
//!   part of a cycle;
//! - methods that are called without naming their type or trait, and items under `#[cfg(test)]`,
//!   are no dependency.

mod resolve;
mod scan;

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::Tree;
use crate::{assert_none, assert_one};
use resolve::{Crate, Edge};

/// The root files of libraries and programs; test binaries are left alone.
fn roots(tree: &Tree) -> impl Iterator<Item = &str> {
    let is_root = |path: &&str| {
        (path.starts_with("crates/") || path.starts_with("shaders/"))
            && (path.ends_with("/src/lib.rs")
                || path.ends_with("/src/main.rs")
                || path.contains("/src/bin/"))
    };
    tree.rust().map(|(path, _)| path).filter(is_root)
}

/// Sets of modules that all lead to each other.
fn cycles(edges: &[Edge]) -> BTreeSet<BTreeSet<usize>> {
    let from: BTreeSet<usize> = edges.iter().map(|edge| edge.from).collect();
    let reached: BTreeMap<usize, BTreeSet<usize>> =
        from.into_iter().map(|module| (module, reachable(module, edges))).collect();
    let leads = |from: &usize, to: &usize| reached.get(from).is_some_and(|all| all.contains(to));
    let cyclic = reached.keys().filter(|module| leads(module, module));
    cyclic
        .map(|module| {
            let back = reached[module].iter().filter(|other| leads(other, module));
            back.copied().collect()
        })
        .collect()
}

fn reachable(start: usize, edges: &[Edge]) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(module) = open.pop() {
        let next = edges.iter().filter(|edge| edge.from == module).map(|edge| edge.to);
        open.extend(next.filter(|&module| reached.insert(module)));
    }
    reached
}

fn check(tree: &Tree, known: &[&str]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut found = BTreeSet::new();
    for root in roots(tree) {
        let krate = Crate::load(tree, root);
        let edges = krate.edges();
        for cycle in cycles(&edges) {
            match known.iter().find(|folder| root.starts_with(**folder)) {
                Some(folder) => drop(found.insert(*folder)),
                None => problems.push(describe(&krate, &cycle, &edges)),
            }
        }
    }
    let gone = known.iter().filter(|folder| !found.contains(**folder));
    problems.extend(gone.map(|folder| format!("{folder} has no cycle: remove it from KNOWN")));
    problems
}

/// One line per pair of modules in the cycle, with the first place that names an item.
fn describe(krate: &Crate, cycle: &BTreeSet<usize>, edges: &[Edge]) -> String {
    let mut pairs: BTreeMap<(&str, &str), Vec<&Edge>> = BTreeMap::new();
    for edge in edges {
        if cycle.contains(&edge.from) && cycle.contains(&edge.to) {
            let pair = (krate.label(edge.from), krate.label(edge.to));
            pairs.entry(pair).or_default().push(edge);
        }
    }
    let mut text = format!("a cycle of {} modules:", cycle.len());
    for ((from, to), edges) in pairs {
        let names: BTreeSet<&str> = edges.iter().map(|edge| edge.name.as_str()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        text.push_str(&format!("\n  {from}:{} -> {to}: {}", edges[0].line, names.join(", ")));
    }
    text
}

#[test]
fn modules_have_no_cycles() {
    assert_none(&check(&Tree::load(), &[]));
}

/// A library of two modules `a` and `b`, and a module `c` inside `b`.
fn library(root: &str, a: &str, b: &str, c: &str) -> Tree {
    Tree::of(&[
        ("crates/x/src/lib.rs", root),
        ("crates/x/src/a.rs", a),
        ("crates/x/src/b/mod.rs", b),
        ("crates/x/src/b/c.rs", c),
    ])
}

#[test]
fn a_cycle_is_refused() {
    let root = "mod a; mod b; pub use b::c::C; pub struct Root;";
    let named = [
        "use crate::b::B;",
        "use crate::{b::{self, B}};",
        "use super::b; fn f() { b::B::new(); }",
        "use crate::b::*; fn f(x: &B) {}",
        "fn f() { format!(\"{}\", crate::b::B); }",
        "fn f() { use crate::b::B as Other; }",
        "type T = Vec<<crate::b::B as Clone>::D>;",
    ];
    for code in named {
        let a = format!("{code} pub struct A;");
        let tree = library(root, &a, "mod c; pub struct B(crate::a::A);", "pub struct C;");
        assert_one(&check(&tree, &[]), "crates/x/src/a.rs:1 -> crates/x/src/b/mod.rs: B");
        assert_none(&check(&tree, &["crates/x/src/"]));
    }
    // Through a re-export, and through three modules.
    let tree = library(
        root,
        "use crate::C; pub struct A;",
        "mod c; pub use crate::a::A;",
        "use super::A; pub struct C;",
    );
    assert_one(&check(&tree, &[]), "crates/x/src/a.rs:1 -> crates/x/src/b/c.rs: C");
    // A parent and its child.
    let tree = library(root, "", "mod c; pub struct B(c::C);", "use super::B; pub struct C;");
    assert_one(&check(&tree, &[]), "crates/x/src/b/c.rs:1 -> crates/x/src/b/mod.rs: B");
    // A private helper of the root.
    let tree = library("mod a; fn f() { a::g() }", "pub fn g() { super::f() }", "", "");
    assert_one(&check(&tree, &[]), "crates/x/src/a.rs:1 -> crates/x/src/lib.rs: f");
    // Inline modules, and a macro.
    let inline = "mod a { pub struct A(super::b::B); } mod b { pub struct B(super::a::A); }";
    assert_one(&check(&library(inline, "", "", ""), &[]), "lib.rs::a");
    let table = "mod a; mod b; table! { A => a } pub struct Root;";
    let tree = library(table, "pub struct A(crate::Root);", "mod c;", "");
    assert_one(&check(&tree, &[]), "crates/x/src/lib.rs:1 -> crates/x/src/a.rs: a");
    let macros = "#[macro_use] mod a; fn f() { twice!() }";
    let tree = library(macros, "macro_rules! twice { () => { $crate::f() } }", "", "");
    assert_one(&check(&tree, &[]), "twice");
}

#[test]
fn re_exports_and_tests_are_no_cycle() {
    let root = "mod a; mod b; pub use a::A; pub use b::{B, c::C}; pub struct Root;";
    // A child that uses the root, which re-exports it.
    let free = [
        (
            "use crate::Root; pub struct A;",
            "mod c; pub use c::C; pub struct B;",
            "use super::B; pub struct C;",
        ),
        // Tests.
        (
            "pub struct A; #[cfg(test)] mod tests { use crate::B; }",
            "mod c; pub use c::C; pub struct B(crate::A);",
            "pub struct C; impl C { #[cfg(test)] fn f() -> crate::B { B } }",
        ),
        // Fields, methods, variables and external crates of the same names.
        (
            "pub struct A { b: u8 } fn f(x: A) { x.b(); x.b; let b = b::x(); }",
            "mod c; use crate::A; fn f() { a::B::new(); }",
            "",
        ),
    ];
    for (a, b, c) in free {
        assert_none(&check(&library(root, a, b, c), &[]));
    }
}

#[test]
fn a_known_cycle_that_is_gone_is_refused() {
    let tree = library("mod a;", "", "", "");
    assert_one(&check(&tree, &["crates/x/src/"]), "remove it from KNOWN");
}
