//! Ctrl-C and kill: counts are saved, and a resumed run has the same counts.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use dpscope_simulation::Artefact;
use dpscope_tests::cli::{CommandResult, dpscope, number, rows_of, text};
use serde_json::Value;

use crate::Folder;

fn words(observations: u64) -> String {
    format!(
        "audit bgm --noise-multiplier 1 --steps 100 --observations {observations} --seed 7 \
         --threads 1"
    )
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Starts a run and waits until its checkpoint contains counts; none if it ended before.
fn started(folder: &Folder, words: &str) -> Option<Child> {
    let mut command = dpscope(folder.path());
    command.args(words.split_whitespace()).args(["--checkpoint", "c"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    loop {
        let saved = std::fs::read(folder.at("c")).unwrap_or_default();
        let saved: Value = serde_json::from_slice(&saved).unwrap_or_default();
        let counted = saved["counted"].as_array();
        if counted
            .is_some_and(|counted| !counted.is_empty() && *counted != [saved["range"].clone()])
        {
            return Some(child);
        }
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        std::thread::yield_now();
    }
}

/// Interrupts runs of growing size until one was still at work, and returns its size.
fn interrupted(folder: &Folder, stop: impl Fn(Child) -> bool) -> u64 {
    interrupted_of(folder, 4_000_000, words, stop)
}

fn interrupted_of(
    folder: &Folder,
    smallest: u64,
    words: impl Fn(u64) -> String,
    stop: impl Fn(Child) -> bool,
) -> u64 {
    let sizes = (0..12).map(|doubling| smallest << doubling);
    let found = sizes.into_iter().find(|&size| {
        let _ = std::fs::remove_file(folder.at("c"));
        started(folder, &words(size)).is_some_and(&stop)
    });
    found.expect("a run that takes some seconds")
}

fn uninterrupted(folder: &Folder, size: u64) -> Value {
    folder.run(&format!("{} --json", words(size))).exits(0).json()
}

fn assert_same_counts(resumed: &Value, whole: &Value) {
    for field in ["histogram_digest", "result", "observations", "plan"] {
        assert_eq!(resumed[field], whole[field], "{field}");
    }
    let from = number(resumed, "/resumed_from");
    assert!(from > 0.0 && from < number(whole, "/observations/planned"), "{from}");
}

#[test]
fn resuming_after_ctrl_c_yields_the_same_counts() {
    for name in ["INT", "TERM"] {
        let folder = Folder::new();
        let size = interrupted(&folder, |child| {
            signal(&child, name);
            let ended: CommandResult = child.wait_with_output().unwrap().into();
            if ended.code == Some(0) {
                return false; // it was done before the signal came
            }
            let ended = ended.exits(130);
            assert!(ended.stderr.contains("resume with\n  dpscope resume c\n"), "{}", ended.stderr);
            assert!(ended.stdout.contains("an estimate, without coverage"), "{}", ended.stdout);
            true
        });
        assert_eq!(folder.names(), ["c"]);
        let resumed = folder.run("resume c --json").exits(0).json();
        assert_same_counts(&resumed, &uninterrupted(&folder, size));
        assert_eq!(text(&resumed, "/seed_source"), "checkpoint");
    }
}

#[test]
fn the_printed_command_resumes_interrupted_training() {
    let folder = Folder::new();
    let rows = |i: u32| format!("{},{},{}\n", i % 2, i % 3, i % 5);
    folder.write("rows.csv", (0..200).map(rows).collect::<String>());
    let shape = "input = { channels = 2 }\nlayers = [{ kind = \"linear\", outputs = 2 }]\n";
    folder.write("m.toml", shape);
    let words = |runs: u64| {
        format!(
            "audit dpsgd --model m.toml --data rows.csv --classes 1,0 --records 200 --batch-size 20 \
             --learning-rate 1 --noise-multiplier 1 --runs {runs} --seed 7 --threads 1"
        )
    };
    let resume = "resume c --data rows.csv --classes 1,0 --outputs-to o.npz";
    let kept = |runs: u64| format!("{} --outputs-to o.npz", words(runs));
    let runs = interrupted_of(&folder, 4_000, kept, |child| {
        signal(&child, "INT");
        let ended: CommandResult = child.wait_with_output().unwrap().into();
        if ended.code == Some(0) {
            std::fs::remove_file(folder.at("o.npz")).unwrap();
            return false;
        }
        let message = ended.exits(130).stderr;
        assert!(message.contains(&format!("resume with\n  dpscope {resume}\n")), "{message}");
        true
    });
    let resumed = folder.run(&format!("{resume} --json")).exits(0).json();
    let outputs = folder.read("o.npz");
    std::fs::remove_file(folder.at("o.npz")).unwrap();
    let whole = format!("{} --json --outputs-to o.npz", words(runs));
    assert_same_counts(&resumed, &folder.run(&whole).exits(0).json());
    assert!(folder.read("o.npz") == outputs);
}

#[test]
fn resumed_audits_of_pategan_see_the_same_runs() {
    let folder = Folder::new();
    let words =
        |runs: u64| format!("audit pategan --runs {runs} --seed 7 --threads 1 --fault S1,E1");
    let runs = interrupted_of(&folder, 4_000, words, |child| {
        signal(&child, "INT");
        let ended: CommandResult = child.wait_with_output().unwrap().into();
        if ended.code == Some(3) {
            return false;
        }
        let message = ended.exits(130).stderr;
        assert!(message.contains("resume with\n  dpscope resume c\n"), "{message}");
        true
    });
    let report = |words: &str| {
        let mut report = folder.run(words).exits(3).json();
        report["elapsed_ms"] = Value::Null;
        report["seed_source"] = Value::Null;
        report
    };
    let resumed = report("resume c --json --threads 2");
    assert_eq!(resumed, report(&format!("{} --json", words(runs))));
}

#[test]
fn reports_of_interrupted_runs_match_the_checkpoint() {
    let folder = Folder::new();
    interrupted(&folder, |child| {
        signal(&child, "INT");
        let ended: CommandResult = child.wait_with_output().unwrap().into();
        if ended.code == Some(0) {
            return false;
        }
        let saved = Artefact::from_bytes(&folder.read("c")).unwrap().done();
        let shown = ended.exits(130).stdout;
        let planned = format!("{} of ", 2 * saved);
        assert!(shown.contains(&planned), "{planned}: {shown}");
        true
    });
}

#[test]
fn repeating_the_command_resumes_a_killed_run() {
    let folder = Folder::new();
    let size = interrupted(&folder, |mut child| {
        child.kill().unwrap();
        child.wait().unwrap().code().is_none()
    });
    let again = format!("{} --checkpoint c --json", words(size));
    let resumed = folder.run(&again).exits(0).json();
    assert_same_counts(&resumed, &uninterrupted(&folder, size));
}

#[test]
fn a_second_ctrl_c_stops_at_once_and_preserves_the_checkpoint() {
    let folder = Folder::new();
    interrupted(&folder, |mut child| {
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        signal(&child, "INT");
        let mut message = String::new();
        while !message.contains("Ctrl-C again") {
            if stderr.read_line(&mut message).unwrap() == 0 {
                return false;
            }
        }
        signal(&child, "INT");
        let code = child.wait().unwrap().code();
        stderr.read_to_string(&mut message).unwrap();
        assert!(!message.contains("panicked"), "{message}");
        assert_eq!(code, Some(130));
        true
    });
    assert!(Artefact::from_bytes(&folder.read("c")).unwrap().done() > 0);
}

/// Starts a run of which only the CPU time can be watched, and interrupts it after `ticks` of that.
#[cfg(target_os = "linux")]
fn interrupted_after(folder: &Folder, ticks: u64, words: &str) -> CommandResult {
    let mut command = dpscope(folder.path());
    command.args(words.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let of_process = |file: &str| {
        std::fs::read_to_string(format!("/proc/{}/{file}", child.id())).unwrap_or_default()
    };
    let catches = || {
        let status = of_process("status");
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
        u64::from_str_radix(mask.trim(), 16).unwrap() & 0b10 != 0 // bit 1 is SIGINT
    };
    let used = || {
        let stat = of_process("stat");
        let after_name = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        after_name.skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum::<u64>()
    };
    while !catches() || used() < ticks {
        std::thread::yield_now();
    }
    signal(&child, "INT");
    CommandResult::from(child.wait_with_output().unwrap()).exits(130)
}

#[test]
#[cfg(target_os = "linux")]
fn the_out_file_resumes_a_run_without_checkpoint() {
    let folder = Folder::new();
    let endless = format!("{} --out h --yes", words(1 << 50));
    let ended = interrupted_after(&folder, 60, &endless);
    assert!(ended.stderr.contains("\n  dpscope resume h --out h --yes\n"), "{}", ended.stderr);
    let done = || Artefact::from_bytes(&folder.read("h")).unwrap().done();
    let first = done();
    assert!(first > 0);
    // A run that is interrupted sooner never takes the place of more counts.
    interrupted_after(&folder, 0, &endless);
    assert!(done() >= first);
}

#[test]
#[cfg(target_os = "linux")]
fn interrupted_runs_report_that_nothing_was_saved() {
    let folder = Folder::new();
    let ended = interrupted_after(&folder, 60, &format!("{} --yes", words(1 << 50)));
    assert!(ended.stderr.contains("nothing was saved (pass --checkpoint FILE"), "{ended:?}");
    let ended = interrupted_after(&folder, 0, "reproduce table-1 --observations 1e15 --yes");
    assert!(ended.stderr.contains("interrupted") && ended.stdout.is_empty(), "{ended:?}");
    assert!(folder.names().is_empty());
}

#[test]
#[cfg(target_os = "linux")]
fn interrupted_experiments_print_finished_settings() {
    let folder = Folder::new();
    let words = "reproduce partial-shuffle --runs 20 --seed 1 --threads 1 --json";
    let ended = (0..12).map(|doubling| interrupted_after(&folder, 50 << doubling, words));
    let ended = ended.into_iter().find(|ended| ended.stdout.contains("\"rows\"")).unwrap();
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let done = rows_of(&report, "settings").len();
    assert!((1..9).contains(&done) && number(&report, "/facts/settings") == 9.0, "{done}");
    assert!(ended.stderr.contains(&format!("interrupted: {done} of 9 settings")), "{ended:?}");
}
