//! node and npm: whether they are there, what they install, what they build.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::process::{in_root, output_of, root, succeed};

/// The oldest node that every tool of the workspace runs on.
const OLDEST: (u32, u32) = (20, 19);

/// Checks for node and npm, and names what to install if they are missing.
pub(crate) fn found() -> Result<()> {
    const WANTED: &str = "install node 20.19 or later with npm (https://nodejs.org)";
    let version = output_of(in_root("node").arg("--version")).context(WANTED)?;
    ensure!(is_recent(&version), "node {} is too old: {WANTED}", version.trim());
    output_of(npm().arg("--version")).map(drop).context(WANTED)
}

fn is_recent(version: &str) -> bool {
    let mut numbers = version.trim().trim_start_matches('v').split('.').map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= OLDEST,
        _ => false,
    }
}

/// The npm workspace.
pub(crate) fn folder() -> PathBuf {
    root().join("web")
}

/// npm in the workspace's folder.
pub(crate) fn npm() -> Command {
    let mut command = in_root(if cfg!(windows) { "npm.cmd" } else { "npm" });
    // The system's browser is used.
    command.current_dir(folder()).env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
    command
}

/// node with a program that an npm package brings.
pub(super) fn program(path: &str) -> Command {
    let mut command = in_root("node");
    command.arg(folder().join("node_modules").join(path));
    command
}

/// Installs the packages of the lockfile, unless it is unchanged since the last installation.
pub(crate) fn install() -> Result<()> {
    let (wanted, installed) = ("package-lock.json", "node_modules/.package-lock.json");
    if is_newer(&folder().join(installed), &folder().join(wanted)) {
        return Ok(());
    }
    succeed(npm().args(["ci", "--no-audit", "--no-fund"]))
}

fn is_newer(path: &Path, than: &Path) -> bool {
    let changed = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified()).ok();
    changed(path).zip(changed(than)).is_some_and(|(path, than)| path >= than)
}

/// Checks the types and builds the app, then the calculators and the documentation.
pub(super) fn build() -> Result<()> {
    succeed(npm().args(["run", "types"]))?;
    succeed(npm().args(["run", "build"]))
}

#[cfg(test)]
mod tests {
    use super::{is_newer, is_recent};
    use crate::process::target_folder;

    #[test]
    fn old_and_unreadable_versions_are_refused() {
        for version in ["v20.19.0\n", "v20.20.2", "v22.0.1", "v100.1.0"] {
            assert!(is_recent(version), "{version}");
        }
        for version in ["v18.20.4", "v20.18.9", "", "v20", "node"] {
            assert!(!is_recent(version), "{version}");
        }
    }

    #[test]
    fn missing_files_are_never_newer() {
        let folder = target_folder().join("node-test");
        std::fs::create_dir_all(&folder).unwrap();
        let (old, new) = (folder.join("old"), folder.join("new"));
        std::fs::write(&old, "").unwrap();
        std::fs::write(&new, "").unwrap();
        let earlier = std::time::SystemTime::UNIX_EPOCH;
        std::fs::File::options().write(true).open(&old).unwrap().set_modified(earlier).unwrap();
        assert!(is_newer(&new, &old) && !is_newer(&old, &new));
        let missing = folder.join("missing");
        assert!(!is_newer(&missing, &old) && !is_newer(&new, &missing));
    }
}
