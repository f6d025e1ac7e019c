//! Every WGSL kernel has its CPU twin beside it, with the same stem, and the other way round.

use crate::source::{doc_blocks, in_backticks};
use crate::tree::{Tree, folder};
use crate::{assert_none, assert_one};

/// A kernel without a twin, or a file that calls itself the twin of a kernel that is not there.
fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, _) in tree.files() {
        if let Some(stem) = path.strip_suffix(".wgsl")
            && !tree.has(&format!("{stem}.rs"))
        {
            problems.push(format!("{path}: no twin {stem}.rs"));
        }
    }
    for (path, source) in tree.rust().filter(|(path, _)| path.starts_with("shaders/src/")) {
        for kernel in kernels_claimed(source) {
            let expected = path.replace(".rs", ".wgsl");
            let named = format!("{}/{kernel}", folder(path));
            if named != expected {
                problems.push(format!("{path}: twin of `{kernel}`, whose stem differs"));
            } else if !tree.has(&named) {
                problems.push(format!("{path}: twin of `{kernel}`, which is not in the tree"));
            }
        }
    }
    problems
}

/// The kernels named in doc comments as "twin of `NAME.wgsl`".
fn kernels_claimed(source: &str) -> Vec<String> {
    let mut kernels = Vec::new();
    for block in doc_blocks(source) {
        let text = block.lines.join(" ");
        for after in text.split("win of ").skip(1).filter(|after| after.trim().starts_with('`')) {
            kernels.extend(
                in_backticks(after)
                    .take(1)
                    .filter(|name| name.ends_with(".wgsl"))
                    .map(str::to_string),
            );
        }
    }
    kernels
}

#[test]
fn each_kernel_has_a_twin() {
    assert_none(&check(&Tree::load()));
}

#[test]
fn a_kernel_without_its_twin_is_refused() {
    let kernel = ("shaders/src/bgm/scores.wgsl", "@compute fn main() {}");
    let twin = ("shaders/src/bgm/scores.rs", "//! Twin of `scores.wgsl`.\n");
    assert_none(&check(&Tree::of(&[kernel, twin])));
    assert_one(&check(&Tree::of(&[kernel])), "no twin");
    assert_one(&check(&Tree::of(&[twin])), "not in the tree");
    let other = ("shaders/src/bgm/other.rs", "//! CPU twin of `scores.wgsl`.\n");
    assert_one(&check(&Tree::of(&[kernel, twin, other])), "stem differs");
}
