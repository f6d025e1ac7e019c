//! Python peers and oracle generators, each in a virtual environment with pinned versions.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process::{in_root, output_of, target_folder};

/// The interpreter of a virtual environment that holds exactly `pins` (such as `numpy==2.3.5`) and
/// what they require; made on first use below the target folder.
pub(crate) fn interpreter(kind: &str, pins: &[String]) -> Result<PathBuf> {
    if let Some(loose) = pins.iter().find(|pin| !pin.contains("==")) {
        bail!("`{loose}` pins no version; write it as name==version");
    }
    let folder = target_folder().join(kind).join(folder_name(pins));
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let complete = folder.join("complete");
    if complete.is_file() {
        return Ok(python);
    }
    let system = if cfg!(windows) { "python" } else { "python3" };
    output_of(in_root(system).args(["-m", "venv", "--clear"]).arg(&folder))
        .context("python3 with venv is needed")?;
    if !pins.is_empty() {
        output_of(in_root(&python).args(["-m", "pip", "install", "--quiet"]).args(pins))
            .with_context(|| format!("installing {}", pins.join(", ")))?;
    }
    std::fs::write(&complete, pins.join("\n")).context("marking the environment complete")?;
    Ok(python)
}

/// The versions that a script pins: every word `name==version` of its leading comments and
/// docstring, sorted.
pub(crate) fn pins_of(script: &str) -> Vec<String> {
    let mut pins = Vec::new();
    let mut in_docstring = false;
    for line in script.lines().map(str::trim) {
        let quotes = line.matches("\"\"\"").count();
        if !(in_docstring || quotes > 0 || line.starts_with('#') || line.is_empty()) {
            break;
        }
        in_docstring ^= quotes % 2 == 1;
        let words = line.split(|c: char| c.is_whitespace() || "\"'`,;()[]#".contains(c));
        pins.extend(words.filter_map(pin));
    }
    pins.sort();
    pins.dedup();
    pins
}

fn pin(word: &str) -> Option<String> {
    let (name, version) = word.split_once("==")?;
    let version = version.trim_end_matches(['.', ':']);
    let named = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let numbered = version.starts_with(|c: char| c.is_ascii_digit())
        && version.chars().all(|c| c.is_ascii_alphanumeric() || "+.".contains(c));
    (named && numbered).then(|| format!("{name}=={version}"))
}

/// The pins of the script at `path`.
pub(crate) fn pins_of_file(path: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Ok(pins_of(&text))
}

fn folder_name(pins: &[String]) -> String {
    if pins.is_empty() { "plain".to_string() } else { pins.join("_").replace("==", "-") }
}

#[cfg(test)]
mod tests {
    use super::{folder_name, interpreter, pins_of};

    #[test]
    fn pins_are_read_from_the_header() {
        let inline =
            "# /// script\n# dependencies = [\"numpy==2.3.5\", \"mpmath==1.4.1\"]\n# ///\n";
        assert_eq!(pins_of(inline), ["mpmath==1.4.1", "numpy==2.3.5"]);
        let prose = "\"\"\"Makes the table (mpmath==1.3.0).\n\nNeeds scipy==1.16.3.\"\"\"\n";
        assert_eq!(pins_of(prose), ["mpmath==1.3.0", "scipy==1.16.3"]);
    }

    #[test]
    fn code_holds_no_pins() {
        assert!(pins_of("import numpy\n# numpy==2.3.5\nassert x==1\n").is_empty());
        assert_eq!(pins_of("# a==1\n\"\"\"b==2\"\"\"\nc==3\n"), ["a==1", "b==2"]);
    }

    #[test]
    fn a_loose_version_is_refused_before_anything_runs() {
        let message = interpreter("none", &["numpy".to_string()]).unwrap_err().to_string();
        assert!(message.contains("`numpy`"), "{message}");
    }

    #[test]
    fn each_set_of_pins_has_its_folder() {
        assert_eq!(folder_name(&[]), "plain");
        assert_eq!(folder_name(&["a==1".into(), "b==2.0".into()]), "a-1_b-2.0");
    }
}
