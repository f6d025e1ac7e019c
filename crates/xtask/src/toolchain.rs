//! Targets and components of the toolchain, installed through rustup where they are missing.

use anyhow::{Context, Result};

use crate::process::{cargo, in_root, output_of};

/// Installs a compile target that is missing.
pub(crate) fn ensure_target(target: &str) -> Result<()> {
    if target_is_installed(target)? { Ok(()) } else { install("target", target) }
}

/// Looks where rustc does, so that toolchains without rustup are understood too.
fn target_is_installed(target: &str) -> Result<bool> {
    let sysroot = output_of(in_root("rustc").args(["--print", "sysroot"]))?;
    let libraries = std::path::Path::new(sysroot.trim()).join("lib/rustlib").join(target);
    Ok(libraries.join("lib").is_dir())
}

/// Installs rustfmt or clippy where cargo lacks it.
pub(crate) fn ensure_component(component: &str) -> Result<()> {
    let subcommand = if component == "rustfmt" { "fmt" } else { component };
    if subcommand_is_installed(subcommand) { Ok(()) } else { install("component", component) }
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
