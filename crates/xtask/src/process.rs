//! Running other programs: shown before they start, streamed while they run.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail, ensure};

/// The workspace's root folder.
pub(crate) fn root() -> PathBuf {
    // Set by `cargo run`; the compile-time value serves a binary that is started by hand.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest.ancestors().nth(2).map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// Where cargo puts what it builds.
pub(crate) fn target_folder() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// The cargo that runs this program, without the variables that describe this package to it.
pub(crate) fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    in_root(program)
}

/// Leaves symbols out of a release, which are most of its bytes, and folders of this machine.
pub(crate) fn for_release(command: &mut Command) -> &mut Command {
    command.env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    command.env("CARGO_ENCODED_RUSTFLAGS", without_home().unwrap_or_default())
}

/// The flag of rustc that leaves cargo's folder out of messages of panics.
pub(crate) fn without_home() -> Option<String> {
    Some(format!("--remap-path-prefix={}=cargo", cargo_home()?.display()))
}

/// The folder of the packages that cargo has downloaded.
pub(crate) fn cargo_home() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    home.or_else(|| Some(std::env::home_dir()?.join(".cargo")))
}

/// A program started in the workspace's root, with no input.
pub(crate) fn in_root(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        let described = name.to_string_lossy();
        if described.starts_with("CARGO_PKG_") || described.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// A program run on the nightly toolchain through rustup.
pub(crate) fn nightly(program: &str) -> Command {
    let mut command = in_root("rustup");
    // What `cargo run` sets would lead nested programs back to the stable toolchain.
    command.env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
    command.args(["run", "nightly", program]);
    command
}

/// The command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program()).to_string_lossy().into_owned();
    let mut words = Vec::new();
    for (key, value) in command.get_envs() {
        if let Some(value) = value {
            words.push(format!("{}='{}'", key.to_string_lossy(), value.to_string_lossy()));
        }
    }
    words.push(name);
    words.extend(command.get_args().map(|argument| argument.to_string_lossy().into_owned()));
    words.join(" ")
}

/// Runs to the end with its output passed on unchanged.
pub(crate) fn passed_on(command: &mut Command) -> Result<ExitStatus> {
    command.status().with_context(|| format!("cannot start `{}`", shown(command)))
}

/// Shows a command that must succeed and runs it, with its output passed on.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    println!("$ {}", shown(command));
    let status = passed_on(command)?;
    ensure!(status.success(), "`{}` failed ({status})", shown(command));
    Ok(())
}

/// The standard output of a command that succeeds quietly; what it wrote to stderr on failure
/// becomes part of the error.
pub(crate) fn output_of(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start `{}`", shown(command)))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.trim().lines().last().unwrap_or("no message").trim();
    bail!("`{}` failed ({}): {last}", shown(command), output.status)
}

#[cfg(test)]
mod tests {
    use super::{cargo, in_root, output_of, root, shown};

    #[test]
    fn root_contains_the_workspace() {
        assert!(root().join("crates/xtask/Cargo.toml").is_file(), "{}", root().display());
    }

    #[test]
    fn commands_are_shown_as_typed() {
        let mut command = in_root("/usr/bin/cargo");
        command.args(["doc", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(shown(&command), "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps");
    }

    #[test]
    fn a_failure_carries_its_message() {
        let message = output_of(cargo().arg("no-such-subcommand")).unwrap_err().to_string();
        assert!(message.contains("no-such-subcommand"), "{message}");
        let missing = output_of(&mut in_root("no-such-program-here")).unwrap_err().to_string();
        assert!(missing.contains("cannot start"), "{missing}");
    }
}
