//! Sizes of files, names of modules, what the root manifest leaves alone, and no trace of the
//! machine that a file was written on.

use crate::source::{tokens, words};
use crate::tree::Tree;
use crate::{assert_none, assert_one};

/// Lines of code in one file; comments and empty lines are free.
const MOST_LINES: usize = 500;

/// Files that may be longer. Split by topic instead of adding one.
const LONGER: [&str; 0] = [];

/// Written by a generator, read by no one from top to bottom.
const GENERATED_TYPES: &str = "crates/report/types.d.ts";

const DENIED_MODULES: [&str; 7] =
    ["utils", "util", "misc", "common", "helpers", "helper", "shared"];

fn check_sizes(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    let rust = tree.rust().filter(|(path, _)| !LONGER.contains(path));
    for (path, source) in rust.chain(web_sources(tree)) {
        let lines = source.lines().map(str::trim);
        // Text is good enough for a length: `*` and `/` start lines of comments and hardly others.
        let is_code = |line: &&str| !line.is_empty() && !line.starts_with(['*', '/']);
        let lines = lines.filter(is_code).count();
        if lines > MOST_LINES {
            problems.push(format!("{path}: {lines} lines of code, more than {MOST_LINES}"));
        }
    }
    problems
}

/// TypeScript, JavaScript and styles.
fn web_sources(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    let extensions = [".ts", ".js", ".css"];
    let files = tree.files().filter(|(path, _)| *path != GENERATED_TYPES);
    files.filter(move |(path, _)| extensions.iter().any(|end| path.ends_with(end)))
}

/// The lockfile names versions and checksums; where packages come from is the installing machine's
/// business.
fn check_lockfile(tree: &Tree) -> Vec<String> {
    let lockfile = tree.text("web/package-lock.json").unwrap_or_default();
    let is_address = |line: &&str| line.contains("\"resolved\": \"") && line.contains("://");
    let foreign = |line: &&str| is_address(line) && !line.contains("https://registry.npmjs.org/");
    lockfile.lines().filter(foreign).map(|line| format!("web/package-lock.json: {line}")).collect()
}

fn check_modules(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, _) in web_sources(tree) {
        let name = path.rsplit('/').next().unwrap_or(path);
        if name.split('.').next().is_some_and(|name| DENIED_MODULES.contains(&name)) {
            problems.push(format!("{path}: its name says nothing about its topic"));
        }
    }
    for (path, source) in tree.rust() {
        let parts = path.trim_end_matches(".rs").split('/');
        for part in parts.filter(|part| DENIED_MODULES.contains(part)) {
            problems.push(format!("{path}: `{part}` says nothing about its topic"));
        }
        for pair in words(tokens(source)).windows(2) {
            let (keyword, name) = (&pair[0].text, pair[1].text.as_str());
            if keyword == "mod" && DENIED_MODULES.contains(&name) {
                problems.push(format!("{path}: module `{name}` says nothing about its topic"));
            }
        }
    }
    problems
}

/// Starts of absolute paths that exist on one machine only.
fn machine_paths() -> [String; 6] {
    // Put together here, so that this file does not refuse itself.
    ["work/", "root/", "home/", "Users/", "tmp/pip", "tmp/target-"].map(|path| format!("/{path}"))
}

fn check_machine_paths(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, text) in tree.files() {
        for (index, line) in text.lines().enumerate() {
            for path in machine_paths() {
                if line.match_indices(&path).any(|(at, _)| starts_a_path(&line[..at])) {
                    problems.push(format!("{file}:{}: holds {path}", index + 1));
                }
            }
        }
    }
    problems
}

/// True where the text before a slash belongs to no longer path or address.
fn starts_a_path(before: &str) -> bool {
    !before.ends_with(|c: char| c.is_alphanumeric() || "_-.~/}>*)".contains(c))
}

fn check_manifest(tree: &Tree) -> Vec<String> {
    let manifest = tree.text("Cargo.toml").unwrap_or_default();
    let mut problems = Vec::new();
    if manifest.lines().any(|line| line.trim_start().starts_with("default-members")) {
        problems.push("Cargo.toml sets default-members: a bare `cargo test` skips the rest".into());
    }
    for folder in ["crates/*", "shaders", "tests", "tests/wasm"] {
        let members = manifest.lines().find(|line| line.starts_with("members"));
        if !members.is_some_and(|members| members.contains(&format!("\"{folder}\""))) {
            problems.push(format!("Cargo.toml: `{folder}` is no member"));
        }
    }
    problems
}

fn check_licences(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, part) in [("LICENSE-MIT", "MIT License"), ("LICENSE-APACHE", "Version 2.0")] {
        if !tree.text(path).unwrap_or_default().contains(part) {
            problems.push(format!("{path} is missing or not the licence"));
        }
    }
    problems
}

#[test]
fn files_are_short() {
    assert_none(&check_sizes(&Tree::load()));
}

#[test]
fn a_long_file_is_refused() {
    let long = "fn f() {}\n".repeat(MOST_LINES + 1);
    assert_one(&check_sizes(&Tree::of(&[("a.rs", &long)])), "501 lines");
    let documented = format!("{}{}", "/// Text.\n\n".repeat(400), "fn f() {}\n".repeat(MOST_LINES));
    assert_none(&check_sizes(&Tree::of(&[("a.rs", &documented)])));
    let long = "f();\n".repeat(MOST_LINES + 1);
    assert_one(&check_sizes(&Tree::of(&[("web/a.ts", &long)])), "501 lines");
    let documented = format!("{}{}", "/** Text.\n * More.\n */\n\n".repeat(400), "f();\n");
    assert_none(&check_sizes(&Tree::of(&[("web/a.ts", &documented), ("web/a.json", &long)])));
}

#[test]
fn the_lockfile_names_no_other_registry() {
    assert_none(&check_lockfile(&Tree::load()));
}

#[test]
fn another_registry_is_refused() {
    let check = |resolved: &str| {
        let lockfile = format!("{{\n  \"resolved\": \"{resolved}\",\n}}");
        check_lockfile(&Tree::of(&[("web/package-lock.json", &lockfile)]))
    };
    assert_none(&check("app"));
    assert_none(&check("https://registry.npmjs.org/lit/-/lit-3.3.3.tgz"));
    assert_one(&check("https://mirror.example.org/npm/lit/-/lit-3.3.3.tgz"), "mirror");
}

#[test]
fn modules_are_named_after_their_topic() {
    assert_none(&check_modules(&Tree::load()));
}

#[test]
fn a_module_without_a_topic_is_refused() {
    for path in ["crates/core/src/utils.rs", "crates/core/src/helpers/mod.rs"] {
        assert_one(&check_modules(&Tree::of(&[(path, "")])), "says nothing");
    }
    assert_one(&check_modules(&Tree::of(&[("web/app/src/utils.test.ts", "")])), "says nothing");
    assert_none(&check_modules(&Tree::of(&[("web/app/src/shared-state.ts", "")])));
    let inline = ("crates/core/src/a.rs", "pub mod misc { }\nmod miscellany;\n");
    assert_one(&check_modules(&Tree::of(&[inline])), "module `misc`");
}

#[test]
fn no_file_names_a_path_of_one_machine() {
    assert_none(&check_machine_paths(&Tree::load()));
}

#[test]
fn a_path_of_one_machine_is_refused() {
    for path in machine_paths() {
        let text = format!("see `{path}x`\n");
        assert_one(&check_machine_paths(&Tree::of(&[("a.md", &text)])), &path);
    }
    let free = "https://example.org/work/x, src/root/y, ~/home/z, ${HOME}/work/x, ./root/a";
    assert_none(&check_machine_paths(&Tree::of(&[("a.md", free)])));
}

#[test]
fn the_root_manifest_leaves_no_member_out() {
    assert_none(&check_manifest(&Tree::load()));
}

#[test]
fn default_members_are_refused() {
    let members = "members = [\"crates/*\", \"shaders\", \"tests\", \"tests/wasm\"]\n";
    assert_none(&check_manifest(&Tree::of(&[("Cargo.toml", members)])));
    let narrow = format!("{members}default-members = [\"crates/cli\"]\n");
    assert_one(&check_manifest(&Tree::of(&[("Cargo.toml", &narrow)])), "default-members");
    let short = "members = [\"crates/*\", \"shaders\", \"tests/wasm\"]\n";
    assert_one(&check_manifest(&Tree::of(&[("Cargo.toml", short)])), "`tests` is no member");
}

#[test]
fn both_licences_are_there() {
    assert_none(&check_licences(&Tree::load()));
}

#[test]
fn a_missing_licence_is_refused() {
    let mit = ("LICENSE-MIT", "MIT License\n");
    assert_one(&check_licences(&Tree::of(&[mit])), "LICENSE-APACHE");
}
