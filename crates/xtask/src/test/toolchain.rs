//! Installs what a step needs and the toolchain lacks: compile targets, rustfmt, clippy. Larger
//! programs are left to the user.

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
        && !subcommand_is_installed(if component == "rustfmt" { "fmt" } else { component })
    {
        install("component", component)?;
    }
    Ok(())
}

/// Why the step is skipped: it asks for a cargo subcommand that is not there.
pub(super) fn missing(step: &Step) -> Option<String> {
    let subcommand = step.optional?;
    (!subcommand_is_installed(subcommand)).then(|| format!("install cargo-{subcommand}"))
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
    use super::{missing, target_is_installed};
    use crate::test::steps::STEPS;

    #[test]
    fn an_unknown_target_is_missing() {
        assert!(!target_is_installed("pdp11-unknown-unknown").unwrap());
    }

    #[test]
    fn only_an_optional_program_can_be_missing() {
        let [fmt, ..] = STEPS;
        assert_eq!(missing(&fmt), None);
        let with =
            |optional| missing(&crate::test::steps::Step { optional: Some(optional), ..fmt });
        assert_eq!(with("fmt"), None);
        assert_eq!(with("no-such-thing").as_deref(), Some("install cargo-no-such-thing"));
    }
}
