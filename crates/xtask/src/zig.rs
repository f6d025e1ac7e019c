//! Programs for every Linux and for Windows, linked by zig, which comes with the libraries of each.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process::{for_release, in_root, succeed};
use crate::python::{environment, pythons};
use crate::toolchain::ensure_target;

/// The oldest glibc of a release.
pub(crate) const GLIBC: &str = "2.17";

const TOOLS: [&str; 6] = [
    "abi3audit==0.0.26",
    "auditwheel==6.8.2",
    "cargo-zigbuild==0.24.1",
    "maturin==1.16.0",
    "wheel==0.48.0",
    "ziglang==0.17.1",
];

/// The Python of an environment with the tools of releases.
pub(crate) fn tools() -> Result<PathBuf> {
    environment(&system()?, "python", &TOOLS.map(String::from))
}

/// The Python that runs tools.
pub(crate) fn system() -> Result<PathBuf> {
    pythons()?.pop().context("no Python from 3.10 on with venv")
}

/// Builds packages for a target; those with glibc for the oldest one.
pub(crate) fn build(packages: &[&str], target: &str) -> Result<()> {
    let tools = tools()?;
    ensure_target(target)?;
    let programs = tools.parent().context("an environment has a folder of programs")?;
    let mut build = in_root(programs.join("cargo-zigbuild"));
    build.args(["zigbuild", "--release", "--locked"]).args(packages);
    build.args(["--target", &with_glibc(target)]);
    succeed(for_release(&mut build).env("PATH", with_folder(programs)?))
}

fn with_glibc(target: &str) -> String {
    if target.ends_with("-linux-gnu") { format!("{target}.{GLIBC}") } else { target.to_owned() }
}

/// The search path with a folder in front.
pub(crate) fn with_folder(folder: &Path) -> Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [folder.to_owned()].into_iter().chain(std::env::split_paths(&path));
    Ok(std::env::join_paths(folders)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_searched_first() {
        let path = with_folder(Path::new("tools")).unwrap();
        assert_eq!(std::env::split_paths(&path).next().as_deref(), Some(Path::new("tools")));
    }

    #[test]
    fn a_glibc_is_of_targets_that_have_it() {
        assert_eq!(with_glibc("x86_64-unknown-linux-gnu"), "x86_64-unknown-linux-gnu.2.17");
        for target in ["x86_64-unknown-linux-musl", "x86_64-pc-windows-gnu"] {
            assert_eq!(with_glibc(target), target);
        }
    }

    #[test]
    fn every_build_uses_one_version_of_maturin() {
        let project = crate::process::root().join("crates/py/pyproject.toml");
        let project = std::fs::read_to_string(project).unwrap();
        let maturin = TOOLS.iter().find(|tool| tool.starts_with("maturin==")).unwrap();
        assert!(project.contains(&format!("requires = [\"{maturin}\"]")), "{project}");
    }
}
