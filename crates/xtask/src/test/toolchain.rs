//! Installs what a step needs and the toolchain lacks: compile targets, rustfmt, clippy.

use anyhow::{Context, Result};

use super::steps::Step;
use crate::process::{cargo, in_root, output_of};

/// Makes sure that the step can run, through rustup where something is missing.
pub(super) fn ensure(step: &Step) -> Result<()> {
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
        && !component_is_installed(component)
    {
        install("component", component)?;
    }
    Ok(())
}

/// Looks where rustc does, so that toolchains without rustup are understood too.
fn target_is_installed(target: &str) -> Result<bool> {
    let sysroot = output_of(in_root("rustc").args(["--print", "sysroot"]))?;
    let libraries = std::path::Path::new(sysroot.trim()).join("lib/rustlib").join(target);
    Ok(libraries.join("lib").is_dir())
}

fn component_is_installed(component: &str) -> bool {
    let subcommand = if component == "rustfmt" { "fmt" } else { component };
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
    use super::target_is_installed;

    #[test]
    fn an_unknown_target_is_missing() {
        assert!(!target_is_installed("pdp11-unknown-unknown").unwrap());
    }
}
