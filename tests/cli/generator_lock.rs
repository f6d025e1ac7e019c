//! Two `generator run` on one folder would write the same files: the second is refused.
#![cfg(unix)]

use std::process::{Child, Command, Stdio};

use dpscope_tests::cli::{CommandResult, dpscope};

use crate::Folder;

const ROWS: &str =
    "canaries rows --data data.csv --columns columns.toml --rows 100 --count 20 --out one";
const BLIND: &str = "awk -v s={seed} 'BEGIN { srand(s); print \"x\"; \
                     for (i = 0; i < {rows}; i++) print int(rand() * 1000000) }' {data} > {out}";

/// A folder of one run, with a pipe that its command waits for.
fn planned() -> Folder {
    let folder = Folder::new();
    folder.write(
        "columns.toml",
        "[[columns]]\nname = \"x\"\nkind = \"integer\"\nlow = 0\nhigh = 1000000\n",
    );
    folder.write("data.csv", "x\n1\n2\n3\n");
    folder.run(ROWS).exits(0);
    let made = Command::new("mkfifo").arg(folder.at("gate")).status();
    assert!(made.unwrap().success());
    folder
}

fn generator_run(folder: &Folder, command: &str) -> Command {
    let mut program = dpscope(folder.path());
    program.args(["generator", "run", "one", "--command", command]);
    program.stdout(Stdio::piped()).stderr(Stdio::piped());
    program
}

/// A run that waits at the gate before it executes `command`.
fn waiting(folder: &Folder, command: &str) -> Child {
    let gate = folder.at("gate");
    let command = format!("cat '{}'; {command}", gate.display());
    let child = generator_run(folder, &command).spawn().unwrap();
    while !folder.at("one/with/0000.stderr").exists() {
        std::thread::yield_now();
    }
    child
}

fn finished(mut program: Command) -> CommandResult {
    program.output().unwrap().into()
}

#[test]
fn a_second_process_is_refused_and_the_first_ends_its_runs() {
    let folder = planned();
    let first = waiting(&folder, BLIND);
    finished(generator_run(&folder, BLIND)).refuses(2, &["run.lock", "is locked by another"]);
    folder.write("gate", "");
    CommandResult::from(first.wait_with_output().unwrap()).exits(0);
    let again = finished(generator_run(&folder, BLIND)).exits(0);
    assert!(again.stdout.starts_with("0 runs executed"), "{}", again.stdout);
    folder.run("audit generator one").exits(0);
}

#[test]
fn a_killed_process_leaves_no_lock() {
    let folder = planned();
    let mut killed = waiting(&folder, ": {data} {seed} {out} {rows}");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let resumed = finished(generator_run(&folder, BLIND)).exits(0);
    assert!(resumed.stdout.starts_with("1 run executed"), "{}", resumed.stdout);
    folder.write("gate", ""); // its command ends
    folder.run("audit generator one").exits(0);
}
