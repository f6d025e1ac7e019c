//! `cargo xtask oracles`: runs every generator of oracle data again and shows what changed.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::args::Arguments;
use crate::process::{in_root, passed_on, root};
use crate::python::{interpreter, pins_of_file};

const HELP: &str = "\
Regenerates the oracle data: runs every generate.py and make.py below tests and crates, each in its
own folder with the versions that its header pins (name==version), then shows what changed

Usage: cargo xtask oracles [PATH]

  PATH  only generators whose path contains this text
";

/// File names of generators.
const GENERATORS: [&str; 2] = ["generate.py", "make.py"];

pub(crate) fn run(arguments: Vec<String>) -> Result<()> {
    let mut arguments = Arguments::new(arguments);
    if arguments.help() {
        print!("{HELP}");
        return Ok(());
    }
    let part = arguments.positional().unwrap_or_default();
    arguments.finish()?;

    let mut scripts = Vec::new();
    for folder in ["tests", "crates"] {
        find(&root().join(folder), &mut scripts)?;
    }
    scripts.retain(|script| within_root(script).contains(&part));
    scripts.sort();
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
    println!("── changed by the generators (nothing below means nothing changed)");
    passed_on(in_root("git").args(["--no-pager", "diff", "--stat", "--", "tests", "crates"]))?;
    passed_on(in_root("git").args(["status", "--short", "--", "tests", "crates"]))?;
    if failed.is_empty() { Ok(()) } else { bail!("failed: {}", failed.join(", ")) }
}

fn generate(script: &Path) -> Result<()> {
    let pins = pins_of_file(script)?;
    println!("pins: {}", if pins.is_empty() { "none".to_string() } else { pins.join(", ") });
    let python = interpreter("oracles-venv", &pins)?;
    let folder = script.parent().context("a script lies in a folder")?;
    let status = passed_on(in_root(python).current_dir(folder).arg(script))?;
    if status.success() { Ok(()) } else { bail!("{status}") }
}

fn within_root(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Collects the generators below `folder`.
fn find(folder: &Path, scripts: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            find(&path, scripts)?;
        } else if GENERATORS.contains(&name.as_str()) {
            scripts.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Path, find};

    #[test]
    fn generators_are_found_by_their_name_at_any_depth() {
        let folder = std::env::temp_dir().join(format!("dpscope-oracles-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("a/b")).unwrap();
        for name in ["generate.py", "a/b/make.py", "a/other.py"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        let mut scripts = Vec::new();
        find(&folder, &mut scripts).unwrap();
        scripts.sort();
        let found: Vec<&Path> =
            scripts.iter().map(|path| path.strip_prefix(&folder).unwrap()).collect();
        assert_eq!(found, [Path::new("a/b/make.py"), Path::new("generate.py")]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
