//! `cargo xtask oracles`: runs every generator of oracle data again and shows what changed.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::args::Arguments;
use crate::process::{in_root, passed_on, root};
use crate::python::{interpreter, pins_of};

const HELP: &str = "\
Regenerates committed data: runs every Python script below tests, crates and shaders, benches and
the Python package left out, each in its own folder with the versions that its header pins
(name==version), then shows what changed

Usage: cargo xtask oracles [PATH]

  PATH  only generators whose path contains this text
";

/// Where generators lie; the peers of benches, in folders of that name, are none.
const FOLDERS: [&str; 3] = ["tests", "crates", "shaders"];

pub(crate) fn run(arguments: Vec<String>) -> Result<()> {
    let Some(mut arguments) = Arguments::parse_or_help(arguments, HELP) else {
        return Ok(());
    };
    let part = arguments.positional().unwrap_or_default();
    arguments.finish()?;

    let mut scripts = generators()?;
    scripts.retain(|script| within_root(script).contains(&part));
    if scripts.is_empty() {
        bail!("no generator's path contains `{part}`");
    }
    let mut failed = Vec::new();
    for script in &scripts {
        let name = within_root(script);
        println!("── {name}");
        if let Err(error) = generate(script) {
            println!("── {name}: FAILED: {error:#}");
            failed.push(name);
        }
    }
    println!(
        "── uncommitted changes, those of the generators among them (nothing below: no value changed)"
    );
    passed_on(in_root("git").args(["--no-pager", "diff", "--stat", "--"]).args(FOLDERS))?;
    passed_on(in_root("git").args(["status", "--short", "--"]).args(FOLDERS))?;
    if failed.is_empty() { Ok(()) } else { bail!("failed: {}", failed.join(", ")) }
}

fn generate(script: &Path) -> Result<()> {
    let pins = pins_of(script)?;
    println!("pins: {}", if pins.is_empty() { "none".to_string() } else { pins.join(", ") });
    let python = interpreter("oracles-venv", &pins)?;
    let folder = script.parent().context("a script lies in a folder")?;
    let status = passed_on(in_root(python).current_dir(folder).arg(script))?;
    if status.success() { Ok(()) } else { bail!("{status}") }
}

fn within_root(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Every generator of the tree, sorted.
fn generators() -> Result<Vec<PathBuf>> {
    let mut scripts = Vec::new();
    for folder in FOLDERS {
        find(&root().join(folder), &mut scripts)?;
    }
    scripts.sort();
    Ok(scripts)
}

/// Folders whose scripts are for users, or for comparison; `py` is the Python package.
const NO_GENERATORS: [&str; 4] = ["target", "benches", "examples", "py"];

/// Collects the generators below `folder`.
fn find(folder: &Path, scripts: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && !NO_GENERATORS.contains(&name.as_str()) {
                find(&path, scripts)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "py") {
            scripts.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Path, find, generators, within_root};
    use crate::python::pins_of;

    #[test]
    fn every_generator_of_the_tree_can_be_run() {
        let scripts = generators().unwrap();
        let names: Vec<String> = scripts.iter().map(|script| within_root(script)).collect();
        assert!(names.contains(&"tests/oracles/generate.py".to_string()), "{names:?}");
        for script in scripts {
            pins_of(&script).unwrap();
        }
    }

    #[test]
    fn generators_are_found_at_any_depth_outside_of_benches_and_examples() {
        let folder = std::env::temp_dir().join(format!("dpscope-oracles-{}", std::process::id()));
        for name in ["a/b", "a/benches", "a/examples", ".c"] {
            std::fs::create_dir_all(folder.join(name)).unwrap();
        }
        for name in [
            "generate.py",
            "a/b/fit.py",
            "a/b/fit.csv",
            "a/benches/peer.py",
            "a/examples/trainer.py",
            ".c/d.py",
        ] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        let mut scripts = Vec::new();
        find(&folder, &mut scripts).unwrap();
        scripts.sort();
        let found: Vec<&Path> =
            scripts.iter().map(|path| path.strip_prefix(&folder).unwrap()).collect();
        assert_eq!(found, [Path::new("a/b/fit.py"), Path::new("generate.py")]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
