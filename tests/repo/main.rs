//! The tree obeys itself: dependency table, twins, guarantees, names, sizes,
//! tests that can fail.
//!
//! Each check is a function over a tree or a package list in memory, so that a test can hand it a
//! bad one and see it refused.

mod additions;
mod can_fail;
mod dependencies;
mod doc_comments;
mod documents;
mod guarantees;
mod held;
mod kernels;
mod layout;
mod lints;
mod modules;
mod names;
mod purity;
mod source;
mod subjects;
mod third_party;
mod tree;

/// Fails with every problem on its own line.
#[track_caller]
fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// Fails unless exactly one problem was found and it contains `part`: the broken twin of a check.
#[track_caller]
fn assert_one(problems: &[String], part: &str) {
    assert!(problems.len() == 1 && problems[0].contains(part), "expected `{part}`: {problems:#?}");
}
