//! Whether the programs of a release, for several processors, print the same numbers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::process::{in_root, output_of, shown};

/// Commands that between them draw normals, count, bound, account and train.
const COMMANDS: [&str; 4] = [
    "audit bgm --noise-multiplier 0.9 --steps 50 --observations 2e5 --seed 1 --device cpu --json",
    "audit one-run --canaries 200 --guesses 60 --correct 57 --json",
    "bound fixed-size --noise-multiplier 1.1 --dataset-size 5000 --batch-size 50 --epochs 2 --json",
    "compare --noise-multiplier 1 --steps 100 --seed 1 --json",
];

/// Fields that say how and where a number was computed.
const OF_THE_MACHINE: [&str; 3] = ["device", "elapsed_ms", "normals_per_second"];

/// How this machine starts a program.
#[derive(Debug)]
pub(crate) enum Start {
    Directly,
    /// Through an emulator, with its options.
    Emulated {
        emulator: PathBuf,
        options: Vec<OsString>,
    },
    /// What is missing.
    No(String),
}

impl Start {
    /// Under qemu-user, for a processor by the first part of its triple.
    pub(crate) fn by_qemu(program: &Path, processor: &str, is_static: bool) -> Result<Self> {
        let names = [format!("qemu-{processor}-static"), format!("qemu-{processor}")];
        let Some(emulator) = names.iter().find_map(|name| on_path(name)) else {
            return Ok(Self::No(format!("there is no {}", names[1])));
        };
        let libraries = PathBuf::from(format!("/usr/{processor}-linux-gnu"));
        let options = match (is_static, libraries.is_dir()) {
            (true, _) => Vec::new(),
            (false, true) => vec!["-L".into(), libraries.into()],
            (false, false) => {
                return Ok(Self::No(format!("there is no C library in {}", libraries.display())));
            }
        };
        Self::if_it_starts(program, emulator, options)
    }

    /// Under Wine.
    pub(crate) fn by_wine(program: &Path) -> Result<Self> {
        match on_path("wine") {
            Some(emulator) => Self::if_it_starts(program, emulator, Vec::new()),
            None => Ok(Self::No("there is no wine".to_owned())),
        }
    }

    /// An old emulator may lack what the program needs.
    fn if_it_starts(program: &Path, emulator: PathBuf, options: Vec<OsString>) -> Result<Self> {
        let name = emulator.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let start = Self::Emulated { emulator, options };
        let mut command = start.command(program).context("a program that starts")?;
        let starts = command.arg("--version").output().is_ok_and(|output| output.status.success());
        Ok(if starts { start } else { Self::No(format!("{name} does not start it")) })
    }

    fn command(&self, program: &Path) -> Option<Command> {
        match self {
            Self::Directly => Some(in_root(program)),
            Self::Emulated { emulator, options } => {
                let mut command = in_root(emulator);
                command.args(options).arg(program).env("WINEDEBUG", "-all");
                Some(command)
            }
            Self::No(_) => None,
        }
    }
}

/// Runs the commands of [`COMMANDS`], and compares with `expected` what they print; adds it where that is
/// empty. Returns what was done, in words.
pub(crate) fn run(program: &Path, start: &Start, expected: &mut Vec<Value>) -> Result<String> {
    if let Start::No(reason) = start {
        return Ok(format!("not run: {reason}"));
    }
    let is_first = expected.is_empty();
    for (place, arguments) in COMMANDS.iter().enumerate() {
        let mut command = start.command(program).context("a program that starts")?;
        command.args(arguments.split(' '));
        let mut printed: Value = serde_json::from_str(&output_of(&mut command)?)?;
        leave_out(&mut printed);
        if is_first {
            expected.push(printed);
        } else {
            let is_equal = expected.get(place) == Some(&printed);
            ensure!(is_equal, "`{}` prints other numbers than the first program", shown(&command));
        }
    }
    let how = if matches!(start, Start::Directly) { "run" } else { "run under emulation" };
    Ok(if is_first { how.to_owned() } else { format!("{how}, with equal numbers") })
}

/// Removes the fields of [`OF_THE_MACHINE`].
fn leave_out(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !OF_THE_MACHINE.contains(&name.as_str()));
            fields.values_mut().for_each(leave_out);
        }
        Value::Array(values) => values.iter_mut().for_each(leave_out),
        _ => {}
    }
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::{Start, leave_out, run};
    use serde_json::json;

    #[test]
    fn only_the_fields_of_the_machine_are_left_out() {
        let mut printed =
            json!({"epsilon": 1.5, "device": "cpu", "runs": [{"elapsed_ms": 3, "a": 1}]});
        leave_out(&mut printed);
        assert_eq!(printed, json!({"epsilon": 1.5, "runs": [{"a": 1}]}));
    }

    #[test]
    fn a_program_without_an_emulator_is_named_as_not_run() {
        let start = Start::by_qemu("dpscope".as_ref(), "vax", true).unwrap();
        let ran = run("dpscope".as_ref(), &start, &mut Vec::new()).unwrap();
        assert_eq!(ran, "not run: there is no qemu-vax");
    }

    /// Scripts stand for programs.
    #[cfg(unix)]
    #[test]
    fn other_numbers_are_refused() {
        use std::os::unix::fs::PermissionsExt;

        let folder = std::env::temp_dir().join(format!("dpscope-trial-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let program = |name: &str, epsilon: &str| {
            let path = folder.join(name);
            let text =
                format!("#!/bin/sh\necho '{{\"epsilon\": {epsilon}, \"device\": \"{name}\"}}'\n");
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let mut numbers = Vec::new();
        let mut ran = |path: &std::path::Path| run(path, &Start::Directly, &mut numbers);
        assert_eq!(ran(&program("first", "1.25")).unwrap(), "run");
        assert_eq!(ran(&program("same", "1.25")).unwrap(), "run, with equal numbers");
        let error = ran(&program("other", "1.2500000000000002")).unwrap_err().to_string();
        assert!(error.contains("other numbers"), "{error}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
