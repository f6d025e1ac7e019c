//! The lint set is on in every package, and covers what differs between platforms.

use crate::tree::{Tree, folder};
use crate::{assert_none, assert_one};

/// Functions of f64 and f32 whose last bit depends on the platform.
const PLATFORM: [&str; 27] = [
    "exp", "exp2", "exp_m1", "ln", "ln_1p", "log", "log2", "log10", "powf", "powi", "sin", "cos",
    "sin_cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh",
    "atanh", "cbrt", "hypot", "mul_add",
];

/// Lints that must be errors in the root manifest.
const DENIED: [&str; 4] =
    ["disallowed_methods", "unwrap_used", "panic", "undocumented_unsafe_blocks"];

fn check_disallowed(tree: &Tree) -> Vec<String> {
    let listed = tree.text("clippy.toml").unwrap_or_default();
    let missing = platform_functions().filter(|path| !listed.contains(&format!("\"{path}\"")));
    missing.map(|path| format!("clippy.toml does not disallow {path}")).collect()
}

fn platform_functions() -> impl Iterator<Item = String> {
    let of = |float: &'static str| PLATFORM.iter().map(move |name| format!("{float}::{name}"));
    of("f64").chain(of("f32"))
}

fn check_denied(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    let root = tree.text("Cargo.toml").unwrap_or_default();
    for lint in DENIED {
        if !root.lines().any(|line| line.starts_with(&format!("{lint} = \"deny\""))) {
            problems.push(format!("Cargo.toml does not deny {lint}"));
        }
    }
    for (path, manifest) in tree.files().filter(|(path, _)| is_member(path)) {
        let inherits = manifest
            .split("[lints]")
            .nth(1)
            .is_some_and(|after| after.trim_start().starts_with("workspace = true"));
        if !inherits {
            problems.push(format!("{path} does not inherit the workspace's lints"));
        }
    }
    problems
}

/// A manifest of the workspace: `crates/*`, `shaders`, `tests`, `tests/wasm`.
fn is_member(path: &str) -> bool {
    path.ends_with("/Cargo.toml")
        && (["shaders", "tests", "tests/wasm"].contains(&folder(path))
            || folder(folder(path)) == "crates")
}

#[test]
fn functions_that_differ_between_platforms_are_disallowed() {
    assert_none(&check_disallowed(&Tree::load()));
}

#[test]
fn a_gap_in_the_disallowed_list_is_refused() {
    for gap in ["f64::tanh", "f32::log"] {
        let line = |path: String| format!("  {{ path = \"{path}\", reason = \"x\" }},\n");
        let listed = platform_functions().filter(|path| path != gap).map(line);
        let listed: String = listed.collect();
        assert_one(&check_disallowed(&Tree::of(&[("clippy.toml", &listed)])), gap);
    }
}

#[test]
fn every_package_inherits_the_lints() {
    assert_none(&check_denied(&Tree::load()));
}

#[test]
fn a_package_without_lints_is_refused() {
    let root: String = DENIED.iter().map(|lint| format!("{lint} = \"deny\"\n")).collect();
    let root = ("Cargo.toml", root.as_str());
    let member = ("crates/core/Cargo.toml", "[lints]\nworkspace = true\n");
    let fuzz = ("tests/fuzz/Cargo.toml", "[package]\n");
    assert_none(&check_denied(&Tree::of(&[root, member, fuzz])));
    let bare = ("shaders/Cargo.toml", "[package]\n");
    assert_one(&check_denied(&Tree::of(&[root, member, bare])), "shaders/Cargo.toml");
    let nested = ("tests/wasm/Cargo.toml", "[package]\n");
    assert_one(&check_denied(&Tree::of(&[root, member, nested])), "tests/wasm/Cargo.toml");
    let lax = ("Cargo.toml", &root.1.replace("panic = \"deny\"", "panic = \"warn\"") as &str);
    assert_one(&check_denied(&Tree::of(&[lax, member])), "deny panic");
}
