//! Installs what a step needs and the machine lacks: compile targets, rustfmt, clippy, packages of
//! npm and Debian. Larger programs are left to the user.

use anyhow::{Context, Result};

use super::browser;
use super::steps::{Need, Step};
use crate::process::{cargo, in_root, output_of};
use crate::python::pythons;

/// Makes sure that the step can run: through rustup, npm or apt-get where something is missing.
pub(super) fn ensure(step: &Step, in_ci: bool) -> Result<()> {
    if let Some(target) = step.target
        && !target_is_installed(target)?
    {
        install("target", target)?;
    }
    if let Some(target) = step.used_target
        && !target_is_installed(target)?
        && let Err(reason) = install("target", target)
    {
        println!("{reason:#}; tests that need it cannot run");
    }
    if let Some(component) = step.component
        && !subcommand_is_installed(if component == "rustfmt" { "fmt" } else { component })
    {
        install("component", component)?;
    }
    step.needs.iter().try_for_each(|need| match need {
        Need::Node => browser::ensure_node(),
        Need::Chromium => browser::ensure_chromium(in_ci),
        Need::Python => browser::ensure_python(in_ci),
        Need::RecentPython => {
            browser::ensure_python(in_ci)?;
            pythons().map(drop)
        }
    })
}

/// Looks where rustc does, so that toolchains without rustup are understood too.
fn target_is_installed(target: &str) -> Result<bool> {
    let sysroot = output_of(in_root("rustc").args(["--print", "sysroot"]))?;
    let libraries = std::path::Path::new(sysroot.trim()).join("lib/rustlib").join(target);
    Ok(libraries.join("lib").is_dir())
}

fn subcommand_is_installed(subcommand: &str) -> bool {
    output_of(cargo().args([subcommand, "--version"])).is_ok()
}

fn install(kind: &str, name: &str) -> Result<()> {
    println!("$ rustup {kind} add {name}");
    output_of(in_root("rustup").args([kind, "add", name]))
        .map(drop)
        .with_context(|| format!("the {kind} {name} is missing and cannot be installed"))
}

#[cfg(test)]
mod tests {
    use super::{subcommand_is_installed, target_is_installed};

    #[test]
    fn an_unknown_target_is_missing() {
        assert!(!target_is_installed("pdp11-unknown-unknown").unwrap());
    }

    #[test]
    fn an_unknown_subcommand_is_missing() {
        assert!(subcommand_is_installed("fmt"));
        assert!(!subcommand_is_installed("no-such-thing"));
    }
}
