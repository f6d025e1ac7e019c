//! The files of the repository, in memory.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use crate::source::tests_in;

/// Path relative to the root, with forward slashes → text; files that are no UTF-8 are left out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
    tests: OnceCell<BTreeMap<String, BTreeSet<String>>>,
}

impl Tree {
    /// The tree that these tests are part of: what git tracks, and what it would not ignore.
    pub(crate) fn load() -> Self {
        let root = Self::root();
        let mut files = BTreeMap::new();
        for path in tracked(root).unwrap_or_else(|| walked(root)) {
            if let Ok(text) = std::fs::read_to_string(root.join(&path)) {
                files.insert(path, text);
            }
        }
        assert!(files.contains_key("Cargo.toml"), "no workspace in {}", root.display());
        Self { files, tests: OnceCell::new() }
    }

    pub(crate) fn root() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
    }

    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let owned = |&(path, text): &(&str, &str)| (path.to_string(), text.to_string());
        Self { files: files.iter().map(owned).collect(), tests: OnceCell::new() }
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Rust files, in order of their paths.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(|(path, _)| path.ends_with(".rs"))
    }

    /// The names of the tests in each Rust file.
    pub(crate) fn tests(&self) -> &BTreeMap<String, BTreeSet<String>> {
        let of_file = |(path, source): (&str, &str)| (path.to_string(), tests_in(source));
        self.tests.get_or_init(|| self.rust().map(of_file).collect())
    }

    pub(crate) fn has_test(&self, path: &str, test: &str) -> bool {
        self.tests().get(path).is_some_and(|tests| tests.contains(test))
    }
}

/// The folder of `path`, empty for the root.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// What git lists; `None` where there is no git or no repository.
fn tracked(root: &Path) -> Option<Vec<String>> {
    // A clone that belongs to another user is refused without this, and it is only read.
    let output = Command::new("git")
        .args(["-c", "safe.directory=*", "ls-files", "-z"])
        .args(["--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let paths = String::from_utf8(output.stdout).ok()?;
    Some(paths.split('\0').filter(|path| !path.is_empty()).map(str::to_string).collect())
}

/// Folders that git ignores: by name anywhere, or by path.
const BUILT: [&str; 9] = [
    "target",
    "node_modules",
    ".git",
    "web/dist",
    "web/pages",
    "web/wasm/audits",
    "web/wasm/calculators",
    "web/wasm/files",
    "web/wasm/studies",
];

/// Every file except build outputs, for a tree without git.
fn walked(root: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy();
            let relative = relative.replace('\\', "/");
            if !path.is_dir() {
                paths.push(relative);
            } else if !BUILT.contains(&name.as_str()) && !BUILT.contains(&relative.as_str()) {
                folders.push(path);
            }
        }
    }
    paths
}

#[test]
fn both_ways_of_listing_see_the_manifest() {
    assert!(walked(Tree::root()).contains(&"tests/Cargo.toml".to_string()));
    let tree = Tree::load();
    assert!(tree.has("tests/repo/tree.rs"));
    assert_eq!(folder("tests/repo/tree.rs"), "tests/repo");
    assert_eq!(folder("README.md"), "");
}
