//! Running the program as a user would.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use dpscope_core::foreign_text;
use serde_json::Value;

use crate::deadline::watch;

/// The program, built once in the profile of the running test.
///
/// Cargo passes the path of a binary only to tests of its package; others find it in their folder. It is
/// built together with the test that runs, so that both have the same features of the same crates:
/// alone it would have a graphics library of its own, which takes minutes.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let test = std::env::current_exe().expect("the test has a path");
        let test_name = test.file_stem().and_then(|name| name.to_str()?.rsplit_once('-'));
        let (test_name, _) = test_name.expect("TEST-HASH");
        let profile_folder = test.ancestors().nth(2).expect("TARGET/PROFILE/deps/TEST");
        let target_folder = profile_folder.parent().expect("TARGET/PROFILE");
        let profile = profile_folder.file_name().and_then(|name| name.to_str());
        let profile = profile.expect("a profile has a plain name");
        let profile = if profile == "debug" { "dev" } else { profile };
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--quiet", "--workspace", "--bin", "dpscope", "--test", test_name])
            .args(["--profile", profile])
            .arg("--target-dir")
            .arg(target_folder)
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
            .status();
        assert!(built.expect("cargo runs").success(), "the program builds");
        profile_folder.join(format!("dpscope{}", std::env::consts::EXE_SUFFIX))
    })
}

/// The program, to be started in `folder`, without a terminal, and on the CPU where its arguments
/// do not name a device: tests are the same on machines with and without a GPU. The test on this thread
/// has a deadline from now on.
pub fn dpscope(folder: &Path) -> Command {
    let mut command = Command::new(program());
    watch();
    command.current_dir(folder).stdin(Stdio::null()).env_remove("COLUMNS");
    command.env("DPSCOPE_DEVICE", "cpu");
    command
}

/// Exit code and output of a run of the program.
#[derive(Debug, Clone)]
pub struct CommandResult {
    /// The exit code; none where a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it printed on stderr.
    pub stderr: String,
}

impl From<Output> for CommandResult {
    /// Whatever the user does, there is text, and no panic.
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        assert!(!stderr.contains("panicked"), "{stderr}");
        assert!(is_printable(&stdout) && is_printable(&stderr), "{stdout:?}\n{stderr:?}");
        CommandResult { code: output.status.code(), stdout, stderr }
    }
}

/// Whether text has no control characters but line breaks and tabs, and no line that is a command of a CI
/// system.
pub fn is_printable(text: &str) -> bool {
    let is_plain = |c: char| matches!(c, '\n' | '\t') || foreign_text::is_plain(c);
    text.chars().all(is_plain) && !text.lines().any(|line| line.trim_start().starts_with("::"))
}

/// Runs `dpscope` in `folder` with words that are separated by blanks.
pub fn run(folder: &Path, words: &str) -> CommandResult {
    let output = dpscope(folder).args(words.split_whitespace()).output();
    output.expect("the program starts").into()
}

/// As [`run`], with bytes on standard input.
pub fn run_with_input(folder: &Path, words: &str, input: &[u8]) -> CommandResult {
    let file = folder.join("stdin.bytes");
    std::fs::write(&file, input).expect("the folder can be written");
    let input = std::fs::File::open(file).expect("the file exists");
    let output = dpscope(folder).args(words.split_whitespace()).stdin(input).output();
    output.expect("the program starts").into()
}

impl CommandResult {
    /// Asserts the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "\n{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that stderr has an error that contains all the `parts`, and that nothing is printed
    /// but, under `--json`, its document.
    #[track_caller]
    pub fn refuses(self, code: i32, parts: &[&str]) -> Self {
        let ended = self.exits(code);
        if !ended.stdout.is_empty() {
            // under --json
            assert_eq!(ended.json()["schema"], "dpscope.error/1", "{}", ended.stderr);
        }
        let first = ended.stderr.lines().next().unwrap_or_default();
        assert!(first.starts_with("error: "), "{}", ended.stderr);
        for part in parts {
            assert!(ended.stderr.contains(part), "`{part}` is missing in: {}", ended.stderr);
        }
        ended
    }

    /// The only JSON document on stdout.
    #[track_caller]
    pub fn json(&self) -> Value {
        let parsed = serde_json::from_str(&self.stdout);
        assert!(parsed.is_ok(), "{parsed:?} in {}", self.stdout);
        parsed.unwrap_or_default()
    }
}

/// A number in a JSON document, by a path such as `/result/epsilon`.
#[track_caller]
pub fn number(document: &Value, path: &str) -> f64 {
    let found = document.pointer(path).and_then(Value::as_f64);
    assert!(found.is_some(), "no number {path} in {document:#}");
    found.unwrap_or_default()
}

/// A text in a JSON document.
#[track_caller]
pub fn text<'d>(document: &'d Value, path: &str) -> &'d str {
    let found = document.pointer(path).and_then(Value::as_str);
    assert!(found.is_some(), "no text {path} in {document:#}");
    found.unwrap_or_default()
}

/// The section of a document of `dpscope reproduce` that has a table.
#[track_caller]
pub fn section<'d>(document: &'d Value, table: &str) -> &'d Value {
    let sections = document["sections"].as_array();
    let found = sections.into_iter().flatten().find(|section| section["name"] == table);
    assert!(found.is_some(), "no table {table} in {document:#}");
    found.unwrap_or(&Value::Null)
}

/// The rows of a table of such a document.
#[track_caller]
pub fn rows_of<'d>(document: &'d Value, table: &str) -> &'d [Value] {
    section(document, table)["rows"].as_array().map_or(&[], Vec::as_slice)
}
