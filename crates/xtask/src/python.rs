//! Python peers and oracle generators, each in a virtual environment with pinned versions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::process::{in_root, output_of, target_folder};

const SYSTEM: &str = if cfg!(windows) { "python" } else { "python3" };

/// The oldest minor version of Python 3 that the package supports.
const OLDEST: u32 = 10;

/// Prints minor version and path of a Python 3 that makes virtual environments. Without the global lock,
/// the stable interface of Python does not exist.
const DESCRIBE: &str = "import sys, sysconfig, venv, ensurepip; \
    assert sys.version_info[0] == 3 and not sysconfig.get_config_var('Py_GIL_DISABLED'); \
    print(sys.version_info[1], sys.executable)";

/// Header of a script without packages.
const NO_PACKAGES: &str = "standard library only";

/// The interpreter of a virtual environment that contains exactly `pins` (such as `numpy==2.3.5`) and
/// what they require; made on first use below the target folder.
pub(crate) fn interpreter(kind: &str, pins: &[String]) -> Result<PathBuf> {
    environment(Path::new(SYSTEM), kind, pins)
}

/// As [`interpreter`], of this Python.
pub(crate) fn environment(system: &Path, kind: &str, pins: &[String]) -> Result<PathBuf> {
    let folder = target_folder().join(kind).join(folder_name(system, pins));
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let complete = folder.join("complete");
    if complete.is_file() {
        return Ok(python);
    }
    output_of(in_root(system).args(["-m", "venv", "--clear"]).arg(&folder))
        .context("python3 with venv is needed")?;
    if !pins.is_empty() {
        output_of(in_root(&python).args(["-m", "pip", "install", "--quiet"]).args(pins))
            .with_context(|| format!("installing {}", pins.join(", ")))?;
    }
    std::fs::write(&complete, pins.join("\n")).context("marking the environment complete")?;
    Ok(python)
}

/// Each Python from 3.10 on that makes virtual environments, one of each minor version, the oldest
/// first: on the search path or installed by pyenv.
pub(crate) fn pythons() -> Result<Vec<PathBuf>> {
    let mut candidates = vec![PathBuf::from(SYSTEM)];
    candidates.extend((OLDEST..OLDEST + 10).map(|minor| PathBuf::from(format!("python3.{minor}"))));
    if let Ok(root) = output_of(in_root("pyenv").arg("root"))
        && let Ok(versions) = std::fs::read_dir(Path::new(root.trim()).join("versions"))
    {
        candidates.extend(versions.flatten().map(|version| version.path().join("bin/python3")));
    }
    let mut found = BTreeMap::new();
    for candidate in candidates {
        let Ok(described) = output_of(in_root(&candidate).args(["-c", DESCRIBE])) else { continue };
        if let Some((minor, path)) = described.trim().split_once(' ')
            && let Ok(minor) = minor.parse::<u32>()
            && minor >= OLDEST
        {
            found.entry(minor).or_insert_with(|| PathBuf::from(path));
        }
    }
    ensure!(!found.is_empty(), "no Python from 3.{OLDEST} on with venv; install one");
    Ok(found.into_values().collect())
}

/// The versions that the script at `path` pins: every word `name==version` of its header, sorted.
/// None only if the header declares that it needs none.
pub(crate) fn pins_of(path: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    pins_in(&header(&text)).with_context(|| path.display().to_string())
}

/// The leading comments and the docstring of a script.
fn header(script: &str) -> String {
    let mut header = Vec::new();
    let mut in_docstring = false;
    for line in script.lines().map(str::trim) {
        let quotes = line.matches("\"\"\"").count();
        if !(in_docstring || quotes > 0 || line.starts_with('#') || line.is_empty()) {
            break;
        }
        in_docstring ^= quotes % 2 == 1;
        header.push(line);
    }
    header.join("\n")
}

fn pins_in(header: &str) -> Result<Vec<String>> {
    let words = header.split(|c: char| c.is_whitespace() || "\"'`,;()[]#".contains(c));
    let mut pins: Vec<String> = words.filter_map(pin).collect();
    pins.sort();
    pins.dedup();
    ensure!(
        !pins.is_empty() || header.contains(NO_PACKAGES),
        "the header pins no package (name==version) and does not say `{NO_PACKAGES}`"
    );
    Ok(pins)
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

fn folder_name(system: &Path, pins: &[String]) -> String {
    let pins = if pins.is_empty() { "plain".into() } else { pins.join("_").replace("==", "-") };
    if system == Path::new(SYSTEM) {
        return pins;
    }
    let of_path = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    format!("{}_{pins}", system.display().to_string().chars().map(of_path).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{Path, Result, SYSTEM, folder_name, header, pins_in};

    fn pins(script: &str) -> Result<Vec<String>> {
        pins_in(&header(script))
    }

    #[test]
    fn pins_are_read_from_the_header() {
        let inline =
            "# /// script\n# dependencies = [\"numpy==2.3.5\", \"mpmath==1.4.1\"]\n# ///\n";
        assert_eq!(pins(inline).unwrap(), ["mpmath==1.4.1", "numpy==2.3.5"]);
        let prose = "\"\"\"Makes the table (mpmath==1.3.0).\n\nNeeds scipy==1.16.3.\"\"\"\n";
        assert_eq!(pins(prose).unwrap(), ["mpmath==1.3.0", "scipy==1.16.3"]);
    }

    #[test]
    fn code_contains_no_pins() {
        assert_eq!(header("import numpy\n# numpy==2.3.5\n"), "");
        assert_eq!(pins("# a==1\n\"\"\"b==2\"\"\"\nc==3\n").unwrap(), ["a==1", "b==2"]);
    }

    #[test]
    fn a_header_pins_versions_or_declares_none() {
        assert!(pins("\"\"\"Standard name; standard library only.\"\"\"\n").unwrap().is_empty());
        for loose in ["\"\"\"numpy 2.4, scipy >= 1.17.\"\"\"\n", "import numpy\n"] {
            let message = pins(loose).unwrap_err().to_string();
            assert!(message.contains("name==version"), "{message}");
        }
    }

    #[test]
    fn each_set_of_pins_has_its_folder() {
        let system = Path::new(SYSTEM);
        let pins = ["a==1".into(), "b==2.0".into()];
        assert_eq!(folder_name(system, &[]), "plain");
        assert_eq!(folder_name(system, &pins), "a-1_b-2.0");
        assert_eq!(folder_name(Path::new("/opt/python3.12"), &pins), "-opt-python3.12_a-1_b-2.0");
    }
}
