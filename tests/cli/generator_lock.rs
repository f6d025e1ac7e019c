//! Processes of `generator run`: one at a time executes the runs of a folder, its commands end with it,
//! and interrupted runs are repeated.
#![cfg(unix)]

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command, Stdio};

use dpscope_tests::cli::{CommandResult, dpscope};
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;

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
    nix::unistd::mkfifo(&folder.at("gate"), Mode::S_IRWXU).unwrap();
    folder
}

fn generator_run(folder: &Folder, command: &str) -> Command {
    let mut program = dpscope(folder.path());
    program.args(["generator", "run", "one", "--command", command]);
    program.stdout(Stdio::piped()).stderr(Stdio::piped());
    program
}

/// The writing end of the gate, if a process reads it.
fn gate(folder: &Folder) -> Option<File> {
    let mut options = OpenOptions::new();
    // without waiting for a reader, which may have ended
    options.write(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(folder.at("gate")).ok()
}

/// A run that waits before it executes `command`, until the gate is closed.
fn waiting(folder: &Folder, command: &str) -> (Child, File) {
    let command = format!("cat '{}'; {command}", folder.at("gate").display());
    let mut child = generator_run(folder, &command).spawn().unwrap();
    loop {
        if let Some(gate) = gate(folder) {
            return (child, gate);
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended before its command read the gate");
        std::thread::yield_now();
    }
}

fn finished(mut program: Command) -> CommandResult {
    program.output().unwrap().into()
}

#[test]
fn a_second_process_is_refused_and_the_first_ends_its_runs() {
    let folder = planned();
    let (first, gate) = waiting(&folder, BLIND);
    finished(generator_run(&folder, BLIND)).refuses(2, &["run.lock", "is locked by another"]);
    drop(gate);
    CommandResult::from(first.wait_with_output().unwrap()).exits(0);
    let again = finished(generator_run(&folder, BLIND)).exits(0);
    assert!(again.stdout.starts_with("0 runs executed"), "{}", again.stdout);
    folder.run("audit generator one").exits(0);
}

#[test]
fn a_killed_process_leaves_no_lock_no_process_and_no_part_file() {
    let folder = planned();
    let (mut killed, open) = waiting(&folder, "echo of-an-orphan > {out}; : {data} {seed}");
    killed.kill().unwrap();
    killed.wait().unwrap();
    folder.write("one/with/0000.0123456789abcdef.part.csv", "of an orphan");
    let resumed = finished(generator_run(&folder, BLIND)).exits(0);
    assert!(resumed.stdout.starts_with("1 run executed"), "{}", resumed.stdout);
    drop(open);
    if cfg!(target_os = "linux") {
        assert!(gate(&folder).is_none(), "its command still reads the gate");
        let mut names: Vec<_> = fs::read_dir(folder.at("one/with")).unwrap().collect();
        names.retain(|entry| !entry.as_ref().unwrap().path().ends_with("0000.stderr"));
        assert_eq!(names.len(), 1, "{names:?}");
    }
    folder.run("audit generator one").exits(0);
}

/// Commands are in process groups of their own, but a scheduler sends the signal to all processes.
#[test]
fn a_signal_to_the_whole_job_fails_no_run() {
    for signal in ["TERM", "INT", "HUP"] {
        let folder = planned();
        let command = format!("env kill -{signal} $$ $PPID; {BLIND}");
        let stopped = finished(generator_run(&folder, &command)).exits(130);
        assert!(stopped.stderr.contains("run the same command again"), "{}", stopped.stderr);
        assert!(!folder.at("one/with/0000.failed").exists());
        let resumed = finished(generator_run(&folder, BLIND)).exits(0);
        assert!(resumed.stdout.starts_with("1 run executed"), "{}", resumed.stdout);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn processes_that_leave_the_group_end_with_their_run() {
    // a second session, started by a process that has ended, and one without the run's variables
    for start in ["setsid", "env -i setsid"] {
        let folder = planned();
        let gate_path = folder.at("gate");
        let command = format!("({start} cat '{}' &); {BLIND}", gate_path.display());
        finished(generator_run(&folder, &command)).exits(0);
        assert!(gate(&folder).is_none(), "{start}: it still reads the gate");
    }
}

/// An output may be a link to the user's own file.
#[test]
fn files_that_an_output_links_to_stay_as_they_are() {
    let own = "x\n".to_owned() + &"123456\n".repeat(100);
    for link in ["ln -s", "ln"] {
        let folder = planned();
        folder.write("own.csv", &own);
        let command = format!("{link} \"$PWD/own.csv\" {{out}}; : {{data}} {{seed}}");
        let mut limited = generator_run(&folder, &command);
        limited.args(["--max-bytes", "100"]);
        finished(limited).refuses(2, &["no run succeeded", "wrote more than --max-bytes 100"]);
        assert!(folder.read("own.csv") == own.as_bytes(), "{link}");
        // the rows that are audited do not change with the file
        finished(generator_run(&folder, &command)).exits(0);
        folder.write("own.csv", "changed");
        assert!(folder.read("one/with/0000.csv") == own.as_bytes(), "{link}");
    }
}

#[test]
fn names_of_folders_are_never_executed() {
    let folder = planned();
    for name in ["$(touch executed)", "`touch executed`", "it's; touch executed; '"] {
        fs::rename(folder.at("one"), folder.at(name)).unwrap();
        let run = |command: &str| {
            let mut program = dpscope(folder.path());
            finished({
                program.args(["generator", "run", name, "--command", command]);
                program
            })
        };
        for command in ["cp \"{data}\" {out} {seed}", "sh -c 'cp {data} {out} {seed}'"] {
            run(command).refuses(2, &["in quotation marks", "DPSCOPE_DATA", "rename the folder"]);
        }
        run(BLIND).exits(0);
        assert!(!folder.at("executed").exists(), "{name}");
        fs::rename(folder.at(name), folder.at("one")).unwrap();
        fs::remove_file(folder.at("one/with/0000.csv")).unwrap();
    }
}

/// The first runs of both worlds succeed, and all others fail.
#[test]
fn equal_failures_in_a_row_cost_no_run() {
    let folder = Folder::new();
    folder.write(
        "columns.toml",
        "[[columns]]\nname = \"x\"\nkind = \"integer\"\nlow = 0\nhigh = 1000000\n",
    );
    folder.write("data.csv", "x\n1\n2\n3\n");
    let plan = "plan generator --claim 1 --data data.csv --columns columns.toml --target-row 0 --rows 2 \
                --runs 20 --out one";
    folder.run(plan).exits(0);
    let names = |ending: &str| {
        let files =
            ["with", "without"].map(|world| fs::read_dir(folder.at(&format!("one/{world}"))));
        let files = files.into_iter().flatten().flatten().flatten();
        let names = files.map(|file| file.file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(ending)).count()
    };
    let wrong = format!("case {{out}} in *0000*) {BLIND};; *) echo no room >&2; exit 3;; esac");
    let stopped = finished(generator_run(&folder, &wrong));
    let parts = ["20 runs in a row", "exit status: 3", "no room", "--allow-failures", "evidence"];
    stopped.refuses(2, &parts);
    assert_eq!((names(".csv") - names(".invalid.csv"), names(".failed")), (2, 0));
    // a crash rate that depends on the data is evidence: no 20 in a row, or allowed
    let mut allowed = generator_run(&folder, &wrong);
    allowed.arg("--allow-failures");
    finished(allowed).exits(0);
    assert_eq!(names(".failed"), 38);
}

#[test]
fn a_wrong_command_costs_no_run() {
    let folder = planned();
    let wrong = "echo {out} >> outputs; missing-program {data} {seed}";
    let parts = ["no run succeeded", "the first run failed", "exit status: 127", "missing-program"];
    finished(generator_run(&folder, wrong)).refuses(2, &parts);
    assert!(!folder.at("one/with/0000.failed").exists());
    let mut recorded = generator_run(&folder, wrong);
    recorded.arg("--allow-failures");
    finished(recorded).refuses(2, &["no run succeeded", "plan anew"]);
    assert!(folder.at("one/with/0000.failed").exists());
    // an orphan of the first program does not know the file of the second
    let outputs = String::from_utf8(folder.read("outputs")).unwrap();
    let names: Vec<&str> = outputs.lines().collect();
    assert!(matches!(names[..], [first, second] if first != second), "{outputs}");
}
