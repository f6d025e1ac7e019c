//! `cargo xtask golden`: golden files against the library, by a program of the tests' package.

use std::process::ExitCode;

use anyhow::Result;

use crate::process::{cargo, passed_on, root};

/// Runs in the caller's folder, to which paths of files are relative; exits as the program does.
pub(crate) fn run(arguments: Vec<String>) -> Result<ExitCode> {
    let mut command = cargo();
    command.current_dir(std::env::current_dir()?);
    command.args(["run", "--quiet", "--package", "dpscope-tests", "--bin", "golden"]);
    command.arg("--manifest-path").arg(root().join("Cargo.toml"));
    let status = passed_on(command.arg("--").args(arguments))?;
    Ok(status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from))
}
