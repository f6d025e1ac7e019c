//! Pages with calculators, built by documentation tools as in each recipe of the calculators.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::node::folder;
use crate::process::{cargo, in_root, succeed, target_folder};
use crate::python::interpreter;

/// A tool, with its page in `web/calculators/fixtures`.
pub(super) struct Tool {
    pub(super) name: &'static str,
    /// Where the recipe puts the calculators.
    pub(super) calculators: &'static str,
    /// Pinned, so that a new release changes nothing here by itself.
    pub(super) packages: &'static [&'static str],
    /// With `{source}` and `{built}` for folders; `python` is that of an environment with the
    /// packages, any other program is one that they bring to cargo.
    pub(super) command: &'static [&'static str],
}

pub(super) const TOOLS: [Tool; 4] = [
    Tool { name: "html", calculators: "dpscope", packages: &[], command: &[] },
    Tool {
        name: "mkdocs",
        calculators: "docs/dpscope",
        packages: &["mkdocs==1.6.1"],
        command: &[
            "python",
            "-m",
            "mkdocs",
            "build",
            "--quiet",
            "--strict",
            "--config-file={source}/mkdocs.yml",
            "--site-dir={built}",
        ],
    },
    Tool {
        name: "sphinx",
        calculators: "_static/dpscope",
        packages: &["sphinx==8.1.3"],
        command: &["python", "-m", "sphinx", "-W", "-q", "{source}", "{built}"],
    },
    Tool {
        name: "mdbook",
        calculators: "src/dpscope",
        packages: &["mdbook@0.5.4"],
        command: &["mdbook", "build", "{source}", "--dest-dir={built}"],
    },
];

impl Tool {
    pub(super) fn build(&self) -> Result<()> {
        let fixture = fixture(self.name);
        let built = built(self.name);
        let source = if self.command.is_empty() {
            built.clone()
        } else {
            target_folder().join("pages").join(self.name)
        };
        [&source, &built].into_iter().try_for_each(|folder| remove(folder))?;
        copy(&fixture, &source)?;
        copy(&calculators()?, &source.join(self.calculators))?;
        if self.command.is_empty() {
            return Ok(());
        }
        let words = filled(self.command, &source, &built);
        let (program, arguments) = words.split_first().context("a command has a program")?;
        succeed(in_root(self.program(program)?).args(arguments))?;
        let own = source.join("site"); // of zensical, which has no option for its folder
        if own.is_dir() {
            copy(&own, &built)?;
        }
        ensure!(built.join("index.html").is_file(), "{} built no index.html", self.name);
        Ok(())
    }

    /// The program, installed on first use below the target folder.
    pub(super) fn program(&self, name: &str) -> Result<PathBuf> {
        if name == "python" {
            let pins: Vec<String> = self.packages.iter().map(ToString::to_string).collect();
            return interpreter("documentation", &pins);
        }
        let program = installed_program(name);
        if !program.is_file() {
            let mut install = cargo();
            install.args(["install", "--locked", "--debug", "--no-default-features", "--root"]);
            succeed(install.arg(tools()).args(self.packages))?;
        }
        Ok(program)
    }
}

fn tools() -> PathBuf {
    target_folder().join("tools")
}

/// Where cargo installs a program.
pub(super) fn installed_program(name: &str) -> PathBuf {
    tools().join(format!("bin/{name}{}", std::env::consts::EXE_SUFFIX))
}

/// The project to copy of a tool.
pub(super) fn fixture(name: &str) -> PathBuf {
    folder().join("calculators/fixtures").join(name)
}

/// Where the tests of the browser look for its pages.
pub(super) fn built(name: &str) -> PathBuf {
    folder().join("pages").join(name)
}

/// The npm package of the calculators.
pub(super) fn calculators() -> Result<PathBuf> {
    let calculators = folder().join("dist/calculators");
    ensure!(calculators.is_dir(), "no calculators in web/dist: run `cargo xtask web` first");
    Ok(calculators)
}

/// Builds the pages of all tools into `web/pages`.
pub(super) fn build() -> Result<()> {
    calculators()?;
    let built = |tool: &Tool| tool.build().with_context(|| format!("the page of {}", tool.name));
    TOOLS.iter().try_for_each(built)
}

/// Builds the page that needs no tool into `web/pages`; the tests of the calculators open it.
pub(super) fn without_tools() -> Result<()> {
    TOOLS.iter().filter(|tool| tool.command.is_empty()).try_for_each(Tool::build)
}

/// Removes a folder that may not be there.
pub(super) fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    Ok(())
}

/// The words of a command, with the folders in them.
fn filled(command: &[&str], source: &Path, built: &Path) -> Vec<String> {
    let (source, built) = (source.display().to_string(), built.display().to_string());
    let word = |word: &&str| word.replace("{source}", &source).replace("{built}", &built);
    command.iter().map(word).collect()
}

pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    let entries = std::fs::read_dir(from).with_context(|| from.display().to_string())?;
    for entry in entries {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Path, TOOLS, copy, filled};
    use crate::process::target_folder;

    #[test]
    fn each_command_names_both_folders() {
        for tool in TOOLS.iter().filter(|tool| !tool.command.is_empty()) {
            let words = filled(tool.command, Path::new("a b"), Path::new("c"));
            for folder in ["a b", "c"] {
                let names = |word: &String| {
                    word == folder
                        || word.ends_with(&format!("={folder}"))
                        || word.contains(&format!("={folder}/"))
                };
                assert!(words.iter().any(names), "{}: {words:?}", tool.name);
            }
        }
    }

    #[test]
    fn folders_are_copied_completely() {
        let folder = target_folder().join("pages-test");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("from/in/side")).unwrap();
        std::fs::write(folder.join("from/in/side/a"), "x").unwrap();
        copy(&folder.join("from"), &folder.join("to/there")).unwrap();
        assert_eq!(std::fs::read(folder.join("to/there/in/side/a")).unwrap(), b"x");
        assert!(copy(&folder.join("missing"), &folder.join("to")).is_err());
    }
}
