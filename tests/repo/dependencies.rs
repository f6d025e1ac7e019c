//! Edges between our packages, what core may pull in, and the fields that every package has.

use std::process::Command;

use cargo_metadata::{DependencyKind, MetadataCommand};

use crate::tree::Tree;
use crate::{assert_none, assert_one};

/// Which of our packages each may use. `tests` may use all.
const ALLOWED: [(&str, &[&str]); 14] = [
    ("dpscope-core", &[]),
    ("dpscope-report", &["dpscope-core"]),
    ("dpscope-shaders", &["dpscope-core"]),
    ("dpscope-formats", &["dpscope-core"]),
    ("dpscope-engine", &["dpscope-core", "dpscope-shaders"]),
    (
        "dpscope-simulation",
        &["dpscope-core", "dpscope-report", "dpscope-shaders", "dpscope-engine"],
    ),
    (
        "dpscope-train",
        &[
            "dpscope-core",
            "dpscope-report",
            "dpscope-shaders",
            "dpscope-formats",
            "dpscope-engine",
            "dpscope-simulation",
        ],
    ),
    (
        "dpscope-recorded",
        &["dpscope-core", "dpscope-report", "dpscope-formats", "dpscope-simulation"],
    ),
    ("dpscope-synth", &["dpscope-core", "dpscope-report", "dpscope-formats", "dpscope-engine"]),
    (
        "dpscope",
        &[
            "dpscope-recorded",
            "dpscope-core",
            "dpscope-report",
            "dpscope-shaders",
            "dpscope-formats",
            "dpscope-engine",
            "dpscope-simulation",
            "dpscope-train",
            "dpscope-synth",
        ],
    ),
    ("dpscope-py", &["dpscope"]),
    (
        "dpscope-wasm",
        &[
            "dpscope",
            "dpscope-synth",
            "dpscope-train",
            "dpscope-core",
            "dpscope-report",
            "dpscope-shaders",
            "dpscope-formats",
            "dpscope-engine",
            "dpscope-simulation",
        ],
    ),
    (
        "dpscope-wasm-bits",
        &["dpscope-core", "dpscope-shaders", "dpscope-engine", "dpscope-simulation"],
    ),
    ("xtask", &[]),
];

const WITHOUT_LIMIT: &str = "dpscope-tests";

/// Input or output, threads, clock, entropy, GPU, browser: none of it may reach core.
const DENIED_TO_CORE: [&str; 36] = [
    "anyhow",
    "chrono",
    "clap",
    "crossbeam",
    "crossbeam-deque",
    "crossbeam-utils",
    "csv",
    "fastrand",
    "futures",
    "getrandom",
    "half",
    "indicatif",
    "instant",
    "js-sys",
    "libc",
    "log",
    "memmap2",
    "mio",
    "nalgebra",
    "num_cpus",
    "ocl",
    "parking_lot",
    "pollster",
    "rand",
    "rand_chacha",
    "rayon",
    "rayon-core",
    "serde_json",
    "tempfile",
    "time",
    "tokio",
    "tracing",
    "wasm-bindgen",
    "web-sys",
    "web-time",
    "wgpu",
];

/// A package of the workspace, reduced to what is checked.
#[derive(Debug, Clone)]
struct Package {
    name: String,
    license: Option<String>,
    description: Option<String>,
    /// What one finds a published package by; `None` for those that stay here.
    keywords: Option<Vec<String>>,
    /// Our packages among its dependencies, those of tests and benches left out.
    ours: Vec<String>,
}

impl Package {
    fn new(name: &str, ours: &[&str]) -> Self {
        Self {
            name: name.to_string(),
            license: Some("MIT OR Apache-2.0".to_string()),
            description: Some("x".to_string()),
            keywords: None,
            ours: ours.iter().map(ToString::to_string).collect(),
        }
    }
}

fn packages() -> Vec<Package> {
    let manifest = Tree::root().join("Cargo.toml");
    let metadata = MetadataCommand::new().manifest_path(manifest).no_deps().exec();
    let metadata = metadata.expect("cargo metadata");
    let is_ours = |name: &str| metadata.packages.iter().any(|package| package.name == name);
    let reduce = |package: &cargo_metadata::Package| Package {
        name: package.name.to_string(),
        license: package.license.clone(),
        description: package.description.clone(),
        keywords: package.publish.is_none().then(|| package.keywords.clone()),
        ours: package
            .dependencies
            .iter()
            .filter(|edge| edge.kind != DependencyKind::Development && is_ours(&edge.name))
            .map(|edge| edge.name.clone())
            .collect(),
    };
    metadata.packages.iter().map(reduce).collect()
}

fn check_edges(packages: &[Package]) -> Vec<String> {
    let mut problems = Vec::new();
    for package in packages.iter().filter(|package| package.name != WITHOUT_LIMIT) {
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == package.name) else {
            problems.push(format!("package `{}` is not in the dependency table", package.name));
            continue;
        };
        for edge in package.ours.iter().filter(|edge| !allowed.contains(&edge.as_str())) {
            problems.push(format!("`{}` may not depend on `{edge}`", package.name));
        }
    }
    problems
}

fn check_fields(packages: &[Package]) -> Vec<String> {
    let mut problems = Vec::new();
    for package in packages {
        if package.license.as_deref() != Some("MIT OR Apache-2.0") {
            problems.push(format!("`{}`: license is {:?}", package.name, package.license));
        }
        if package.description.as_deref().is_none_or(str::is_empty) {
            problems.push(format!("`{}` has no description", package.name));
        }
        if package.keywords.as_ref().is_some_and(Vec::is_empty) {
            problems.push(format!("`{}` is published without keywords", package.name));
        }
    }
    problems
}

/// Crates that the root manifest lists and no member uses.
fn check_inherited(tree: &Tree) -> Vec<String> {
    let root = tree.text("Cargo.toml").unwrap_or_default();
    let listed = root.split("[workspace.dependencies]").nth(1).unwrap_or_default();
    let listed = listed.split("\n[").next().unwrap_or_default();
    let names = listed.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
    let inherits = |manifest: &str, name: &str| {
        manifest.lines().any(|line| {
            line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', ' ']))
                && line.contains("workspace = true")
        })
    };
    let members: Vec<&str> = tree
        .files()
        .filter(|(path, _)| path.ends_with("/Cargo.toml"))
        .map(|(_, manifest)| manifest)
        .collect();
    names
        .filter(|name| !members.iter().any(|manifest| inherits(manifest, name)))
        .map(|name| format!("Cargo.toml lists `{name}`, which no member inherits"))
        .collect()
}

/// The names of all crates that are compiled into core, on any platform, with every feature but
/// `schema`, which is for the generator of `dpscope-report`, and `clap`, which is for the program.
fn crates_in_core() -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "-p", "dpscope-core", "-e", "normal,no-proc-macro", "--features", "serde"])
        .args(["--target", "all", "--prefix", "none", "--format", "{p}"])
        .current_dir(Tree::root())
        .output()
        .expect("cargo tree");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8_lossy(&output.stdout).into_owned();
    tree.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_string).collect()
}

fn check_core(crates: &[String]) -> Vec<String> {
    let denied = |name: &&String| DENIED_TO_CORE.contains(&name.as_str());
    crates.iter().filter(denied).map(|name| format!("core pulls in `{name}`")).collect()
}

#[test]
fn edges_between_our_packages_match_the_table() {
    assert_none(&check_edges(&packages()));
}

#[test]
fn an_edge_outside_the_table_is_refused() {
    let engine = Package::new("dpscope-engine", &["dpscope-core", "dpscope-shaders"]);
    assert_none(&check_edges(&[engine.clone(), Package::new("dpscope-tests", &["dpscope"])]));
    let upward = Package::new("dpscope-core", &["dpscope-engine"]);
    assert_one(&check_edges(&[engine.clone(), upward]), "`dpscope-core` may not");
    let statistics = Package::new("dpscope-engine", &["dpscope-core", "dpscope-formats"]);
    assert_one(&check_edges(&[statistics]), "`dpscope-engine` may not depend on `dpscope-formats`");
    assert_one(&check_edges(&[Package::new("dpscope-new", &[])]), "not in the dependency table");
}

#[test]
fn metadata_contains_edges() {
    let program = packages().into_iter().find(|package| package.name == "dpscope").unwrap();
    assert!(program.ours.contains(&"dpscope-core".to_string()), "{program:?}");
}

#[test]
fn every_package_has_the_fields_that_publishing_needs() {
    assert_none(&check_fields(&packages()));
}

#[test]
fn a_published_package_without_keywords_is_refused() {
    let mut package = Package::new("dpscope-core", &[]);
    package.keywords = Some(vec!["x".to_string()]);
    assert_none(&check_fields(&[package.clone()]));
    package.keywords = Some(Vec::new());
    assert_one(&check_fields(&[package]), "without keywords");
}

#[test]
fn published_packages_are_those_listed() {
    let published = packages().into_iter().filter(|package| package.keywords.is_some());
    let mut published: Vec<String> = published.map(|package| package.name).collect();
    published.sort();
    let tree = Tree::load();
    let table = tree.text("crates/xtask/RELEASING.md").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| dpscope"));
    let mut listed: Vec<String> = rows
        .filter_map(|row| row.split_once(" |"))
        .map(|(name, _)| format!("dpscope{name}"))
        .collect();
    listed.sort();
    assert_eq!(published, listed);
}

#[test]
fn another_licence_is_refused() {
    let mut package = Package::new("dpscope-core", &[]);
    assert_none(&check_fields(&[package.clone()]));
    package.license = None;
    assert_one(&check_fields(&[package.clone()]), "license is None");
    package.license = Some("GPL-3.0".to_string());
    assert_one(&check_fields(&[package]), "GPL-3.0");
}

#[test]
fn every_listed_crate_is_used_by_a_member() {
    assert_none(&check_inherited(&Tree::load()));
}

#[test]
fn a_listed_crate_that_no_member_uses_is_refused() {
    let check_listed = |listed: &str| {
        let root = format!(
            "[workspace.dependencies]\n{listed}\n# tests only\n\n[workspace.lints.rust]\na = \"b\"\n"
        );
        let member = "[dependencies]\nlibm.workspace = true\nserde = { workspace = true, optional = true }\n";
        check_inherited(&Tree::of(&[("Cargo.toml", &root), ("shaders/Cargo.toml", member)]))
    };
    assert_none(&check_listed("libm = \"0.2\"\nserde = { version = \"1\" }"));
    assert_one(&check_listed("libm = \"0.2\"\nserde_json = \"1\""), "`serde_json`");
}

#[test]
fn core_pulls_in_nothing_impure() {
    let crates = crates_in_core();
    assert!(crates.contains(&"libm".to_string()), "{crates:?}");
    assert_none(&check_core(&crates));
}

#[test]
fn an_impure_crate_in_core_is_refused() {
    let crates = ["dpscope-core", "libm", "getrandom"].map(str::to_string);
    assert_one(&check_core(&crates), "`getrandom`");
}
