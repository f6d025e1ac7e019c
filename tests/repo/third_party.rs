//! Licences, sources and banned crates among everything that the workspace depends on, on each
//! platform that it is built for, with every feature, tests and build scripts included.

use cargo_metadata::semver::{Version, VersionReq};
use cargo_metadata::{CargoOpt, Metadata, MetadataCommand};
use spdx::{Expression, ParseMode};

use crate::tree::Tree;
use crate::{assert_none, assert_one};

const PLATFORMS: [&str; 4] = [
    "x86_64-unknown-linux-gnu",
    "x86_64-pc-windows-msvc",
    "aarch64-apple-darwin",
    "wasm32-unknown-unknown",
];

/// Permissive licences only: the program ships under MIT OR Apache-2.0.
const LICENCES: [&str; 7] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "CC0-1.0",     // tiny-keccak, which cargo metadata lists and no build uses
    "ISC",         // libloading, which finds graphics drivers
    "Unicode-3.0", // unicode-ident, beside MIT OR Apache-2.0
    "Zlib",        // foldhash, zlib-rs
];

const BANNED: [(&str, &str, &str); 10] = [
    ("bincode", "3", "a release that deliberately does not compile"),
    ("openssl", "*", "needs a C library on every platform"),
    ("openssl-sys", "*", "needs a C library on every platform"),
    ("r_mathlib", "*", "GPL"),
    ("special", "*", "the inverse beta function hangs or is wrong at large n"),
    ("puruspe", "*", "the inverse beta function hangs or is wrong at large n"),
    ("spec_math", "*", "the inverse beta function hangs or is wrong at large n"),
    ("faer", "*", "takes minutes to build"),
    ("burn", "*", "no per-example gradients"),
    ("candle-core", "*", "no per-example gradients"),
];

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// A package of the dependency tree, reduced to what is checked.
#[derive(Debug, Clone)]
struct Package {
    name: String,
    version: Version,
    license: Option<String>,
    /// `None` for a package of this workspace.
    source: Option<String>,
    /// Names of dependencies from a registry that take any version.
    wildcards: Vec<String>,
}

fn load() -> Vec<Package> {
    let mut packages: Vec<Package> = Vec::new();
    for platform in PLATFORMS {
        for package in reduce(&metadata(platform)) {
            let same = |other: &Package| {
                (&other.name, &other.version) == (&package.name, &package.version)
            };
            if !packages.iter().any(same) {
                packages.push(package);
            }
        }
    }
    packages
}

fn metadata(platform: &str) -> Metadata {
    MetadataCommand::new()
        .manifest_path(Tree::root().join("Cargo.toml"))
        .features(CargoOpt::AllFeatures)
        .other_options(["--locked", "--filter-platform", platform].map(String::from))
        .exec()
        .expect("cargo metadata")
}

/// The packages that the platform resolves to: metadata lists those of other platforms too.
fn reduce(metadata: &Metadata) -> Vec<Package> {
    let resolved = &metadata.resolve.as_ref().expect("a resolved graph").nodes;
    let packages = resolved.iter().map(|node| &metadata[&node.id]);
    packages
        .map(|package| Package {
            name: package.name.to_string(),
            version: package.version.clone(),
            license: package.license.clone(),
            source: package.source.as_ref().map(|source| source.repr.clone()),
            wildcards: package
                .dependencies
                .iter()
                .filter(|edge| edge.path.is_none() && edge.req == VersionReq::STAR)
                .map(|edge| edge.name.clone())
                .collect(),
        })
        .collect()
}

fn check(packages: &[Package]) -> Vec<String> {
    packages
        .iter()
        .flat_map(|package| {
            let found = [wrong_licence(package), wrong_source(package), ban(package)];
            let found = found.into_iter().flatten().chain(wildcards(package));
            found.map(|problem| format!("{} {}: {problem}", package.name, package.version))
        })
        .collect()
}

fn wrong_licence(package: &Package) -> Option<String> {
    let Some(text) = &package.license else { return Some("states no licence".to_string()) };
    // Older crates write `MIT/Apache-2.0`.
    let expression = match Expression::parse_mode(text, ParseMode::LAX) {
        Ok(expression) => expression,
        Err(error) => return Some(format!("the licence `{text}` is no SPDX expression: {error}")),
    };
    let is_allowed = expression.evaluate(|licence| LICENCES.contains(&&*licence.to_string()));
    (!is_allowed).then(|| format!("the licence `{text}` is not allowed"))
}

fn wrong_source(package: &Package) -> Option<String> {
    let source = package.source.as_ref().filter(|source| *source != REGISTRY)?;
    Some(format!("comes from {source}, not from crates.io"))
}

fn ban(package: &Package) -> Option<String> {
    let is_banned = |(name, versions, _): &&(&str, &str, &str)| {
        *name == package.name
            && VersionReq::parse(versions).expect("a version").matches(&package.version)
    };
    let (_, _, reason) = BANNED.iter().find(is_banned)?;
    Some(format!("is banned: {reason}"))
}

/// A package of ours that takes any version of a crate.
fn wildcards(package: &Package) -> impl Iterator<Item = String> {
    let ours = package.source.is_none().then_some(&package.wildcards);
    ours.into_iter().flatten().map(|name| format!("takes any version of `{name}`"))
}

fn example(name: &str, license: &str) -> Package {
    Package {
        name: name.to_string(),
        version: Version::new(3, 0, 1),
        license: Some(license.to_string()),
        source: Some(REGISTRY.to_string()),
        wildcards: Vec::new(),
    }
}

#[test]
fn licences_sources_and_crates_are_allowed() {
    let packages = load();
    for name in ["clap", "windows-sys", "objc2", "js-sys"] {
        assert!(packages.iter().any(|package| package.name == name), "`{name}` was not seen");
    }
    assert_none(&check(&packages));
}

#[test]
fn a_copyleft_licence_is_refused() {
    let allowed = ["MIT", "MIT/Apache-2.0", "MIT OR GPL-3.0-only", "(MIT OR ISC) AND Unicode-3.0"];
    for license in allowed {
        assert_none(&check(&[example("a", license)]));
    }
    let refused = [
        "GPL-3.0-only",
        "MIT AND GPL-2.0-or-later",
        "MPL-2.0",
        "Apache-2.0 WITH GCC-exception-3.1",
    ];
    for license in refused {
        assert_one(&check(&[example("a", license)]), "is not allowed");
    }
    assert_one(&check(&[example("a", "mine")]), "no SPDX expression");
    let none = Package { license: None, ..example("a", "MIT") };
    assert_one(&check(&[none]), "states no licence");
}

#[test]
fn another_source_is_refused() {
    let git = "git+https://github.com/serde-rs/serde#0123456789abcdef";
    for source in [git, "registry+https://example.org/index"] {
        let foreign = Package { source: Some(source.to_string()), ..example("serde", "MIT") };
        assert_one(&check(&[foreign]), source);
    }
    assert_none(&check(&[Package { source: None, ..example("dpscope", "MIT") }]));
}

#[test]
fn a_banned_crate_is_refused() {
    assert_one(&check(&[example("openssl-sys", "MIT")]), "needs a C library");
    let bincode = example("bincode", "MIT");
    assert_one(&check(std::slice::from_ref(&bincode)), "does not compile");
    assert_none(&check(&[Package { version: Version::new(2, 0, 1), ..bincode }]));
}

#[test]
fn a_wildcard_version_of_ours_is_refused() {
    let ours = |wildcards: &[&str]| Package {
        source: None,
        wildcards: wildcards.iter().map(ToString::to_string).collect(),
        ..example("dpscope", "MIT")
    };
    assert_none(&check(&[ours(&[])]));
    assert_one(&check(&[ours(&["serde"])]), "takes any version of `serde`");
}
