//! `cargo xtask fuzz`: runs the fuzz targets of `tests/fuzz` on the nightly toolchain.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::args::Arguments;
use crate::process::{nightly, output_of, passed_on, root, shown, target_folder};

const HELP: &str = "\
Runs the fuzz targets of tests/fuzz

Usage: cargo xtask fuzz [TARGET] [--seconds N]

Options:
  --seconds N  time for each target, 60 where not given

Without TARGET every target runs. Inputs that are found go below the target folder; the committed
corpus is only read. Copy an input that found a bug to tests/fuzz/corpus/TARGET: the ordinary tests
replay it from then on.
";

pub(crate) fn run(arguments: Vec<String>) -> Result<()> {
    let Some(mut arguments) = Arguments::parse_or_help(arguments, HELP) else {
        return Ok(());
    };
    let seconds = arguments.count("--seconds", 60)?;
    let wanted = arguments.positional();
    arguments.finish()?;

    let all = targets()?;
    let chosen = match wanted {
        None => all,
        Some(name) if all.contains(&name) => vec![name],
        Some(name) => bail!("no fuzz target `{name}`; targets are {}", all.join(", ")),
    };
    if chosen.is_empty() {
        bail!("no fuzz targets in {}", folder().display());
    }
    needs_tools()?;
    for target in chosen {
        fuzz(&target, seconds)?;
    }
    Ok(())
}

/// Where the fuzz package lives.
pub(crate) fn folder() -> PathBuf {
    root().join("tests/fuzz")
}

/// The names of all fuzz targets, sorted; none where the package is not in the tree.
pub(crate) fn targets() -> Result<Vec<String>> {
    let sources = folder().join("fuzz_targets");
    if !sources.is_dir() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&sources).with_context(|| sources.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs")
            && let Some(stem) = path.file_stem()
        {
            names.push(stem.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn needs_tools() -> Result<()> {
    output_of(nightly("rustc").arg("--version"))
        .context("no nightly toolchain; install it: rustup toolchain install nightly")?;
    output_of(nightly("cargo").args(["fuzz", "--version"]))
        .context("no cargo-fuzz; install it: cargo install cargo-fuzz")?;
    Ok(())
}

fn fuzz(target: &str, seconds: u32) -> Result<()> {
    let found = target_folder().join("fuzz-corpus").join(target);
    std::fs::create_dir_all(&found).with_context(|| found.display().to_string())?;
    let mut command = nightly("cargo");
    command.args(["fuzz", "run", "--fuzz-dir", "tests/fuzz", "--target-dir"]);
    command.arg(target_folder().join("fuzz")).arg(target).arg(&found);
    // libFuzzer writes to the first folder and only reads the others.
    let committed = folder().join("corpus").join(target);
    if committed.is_dir() {
        command.arg(committed);
    }
    command.arg("--").arg(format!("-max_total_time={seconds}"));
    println!("$ {}", shown(&command));
    let status = passed_on(&mut command)?;
    if !status.success() {
        bail!(
            "fuzz target `{target}` failed ({status}); the input is in tests/fuzz/artifacts/{target}"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::run;

    #[test]
    fn an_unknown_target_is_refused_before_anything_runs() {
        let message = run(vec!["no-such-target".to_string()]).unwrap_err().to_string();
        assert!(message.contains("no-such-target"), "{message}");
    }
}
