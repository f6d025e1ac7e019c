//! A disk that is full costs neither what is on it nor what was counted.
//!
//! The disk is played by the limit on file sizes that a shell can set: writes beyond it fail.
#![cfg(unix)]

use std::process::Command;

use dpscope_tests::cli::{CommandResult, dpscope, number};

use crate::trainer::npy_f8;
use crate::{Folder, SMALL};

/// Bytes of a block of `ulimit -f`.
const BLOCK: usize = 512;

fn run_with_room(folder: &Folder, bytes: usize, words: &str) -> CommandResult {
    let program = dpscope(folder.path());
    let script = format!("ulimit -f {}; exec \"$@\"", bytes / BLOCK);
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, "sh"]).arg(program.get_program());
    shell.args(words.split_whitespace()).current_dir(folder.path());
    shell.output().unwrap().into()
}

/// A run whose artefact grows while it counts.
const GROWING: &str = "audit bgm --noise-multiplier 1 --steps 10 --observations 4e6 --seed 7";

#[test]
fn a_full_disk_does_not_damage_the_checkpoint() {
    let folder = Folder::new();
    let whole = folder.run(&format!("{GROWING} --checkpoint whole --json")).exits(0).json();
    let size = folder.read("whole").len();
    folder.run(&format!("{GROWING} --json")).exits(0);

    let full = run_with_room(&folder, size - 1, &format!("{GROWING} --checkpoint c --json"));
    full.refuses(2, &["c: cannot write the checkpoint", "still contains the last saved state"]);
    assert_eq!(folder.names(), ["c", "whole"]);
    let resumed = folder.run("resume c --json").exits(0).json();
    assert_eq!(resumed["histogram_digest"], whole["histogram_digest"]);
    assert_eq!(resumed["result"], whole["result"]);
    assert!(number(&resumed, "/resumed_from") < 4e6);
}

#[test]
fn a_full_disk_is_reported_before_the_run() {
    let folder = Folder::new();
    let huge = SMALL.replace("3e4", "1e15");
    let full = run_with_room(&folder, BLOCK, &format!("{huge} --checkpoint c"));
    let refused = full.refuses(2, &["c: cannot write the checkpoint", "no state is saved"]);
    assert!(!refused.stderr.contains("last saved state"), "{}", refused.stderr);
    assert!(folder.names().is_empty());
}

#[test]
fn reports_are_printed_even_if_histograms_cannot_be_written() {
    let folder = Folder::new();
    let ended = run_with_room(&folder, BLOCK, &format!("{SMALL} --out h --json")).exits(2);
    assert!(ended.stderr.contains("h: cannot be written"), "{}", ended.stderr);
    let whole = folder.run(&format!("{SMALL} --json")).json();
    assert_eq!(ended.json()["result"], whole["result"]);
    assert!(folder.names().is_empty());

    folder.run(&format!("{SMALL} --out h")).exits(0);
    let before = folder.read("h");
    let ended = run_with_room(&folder, BLOCK, "merge h --out sum --json").exits(2);
    assert_eq!(ended.json()["result"], whole["result"]);
    assert!(folder.read("h") == before && folder.names() == ["h"]);
}

#[test]
fn a_full_disk_leaves_no_half_of_a_plan() {
    let folder = Folder::new();
    let column = |name: &str, high: u32| {
        format!("[[columns]]\nname = \"{name}\"\nkind = \"integer\"\nlow = 0\nhigh = {high}\n")
    };
    folder.write("columns.toml", column("x", 1_000_000));
    let rows: String = (0..2_000).map(|i| format!("{i}\n")).collect();
    folder.write("data.csv", format!("x\n{rows}"));
    folder.write("few.csv", "x\n1\n2\n3\n");
    let wide: String = (0..100).map(|i| column(&format!("x{i}"), 9)).collect();
    folder.write("wide.toml", wide);
    let names: Vec<String> = (0..100).map(|i| format!("x{i}")).collect();
    let cells = ["1,", "2,", "3,"].map(|cell| cell.repeat(100).trim_end_matches(',').to_owned());
    folder.write("wide.csv", format!("{}\n{}\n", names.join(","), cells.join("\n")));
    let canaries: Vec<f64> = (0..20_000).map(f64::from).collect();
    folder.write("canaries.npy", npy_f8(&[20_000, 1], &canaries));
    let before = folder.names();
    for words in [
        "plan one-run --canaries canaries.npy --out new",
        "plan federated --dimension 1e4 --design poisson:2000 --weights 1,2 --out new",
        "plan generator --claim 1 --data wide.csv --columns wide.toml --target-row 0 --rows 9 --out new",
        "canaries rows --data data.csv --columns columns.toml --count 100 --rows 9 --out new",
        "canaries rows --data data.csv --columns columns.toml --poisson 9 --null-draws 1e3 --rows 9 \
         --out new",
    ] {
        let full = run_with_room(&folder, 8 * BLOCK, words);
        full.refuses(2, &["new", "cannot be written"]);
        assert_eq!(folder.names(), before, "{words}");
        folder.run(words).exits(0);
        assert!(!folder.at("new/unfinished.dpscope.tmp").exists(), "{words}");
        folder.run(words).refuses(2, &["new", "never overwritten"]);
        std::fs::remove_dir_all(folder.at("new")).unwrap();
    }
}

/// Output that cannot be written is reported with exit code 1, without a panic.
#[test]
fn unprintable_reports_are_errors() {
    let folder = Folder::new();
    let to_full = |words: &str| -> CommandResult {
        let program = dpscope(folder.path());
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec \"$@\" > /dev/full", "sh"]).arg(program.get_program());
        shell.args(words.split_whitespace()).output().unwrap().into()
    };
    if !std::path::Path::new("/dev/full").exists() {
        eprintln!("not tested: there is no /dev/full here");
        return;
    }
    for words in [
        SMALL,
        "plan --epsilon 9",
        "devices",
        "completions bash",
        "reproduce table-1 --observations 100",
    ] {
        to_full(words).refuses(1, &["stdout cannot be written"]);
        to_full(&format!("{words} --json")).refuses(1, &["stdout cannot be written"]);
    }
}

/// The reader of a pipe may close it.
#[test]
fn closed_pipes_are_no_errors() {
    let folder = Folder::new();
    for words in [SMALL, "plan --epsilon 9", "devices --json", "completions bash", "merge absent"] {
        let program = dpscope(folder.path());
        // Both ends: the reader of stdout is gone, and then that of stderr too.
        for close in [">&-", "2>&-", "| true", "2>&1 | true"] {
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("\"$@\" {close}"), "sh"]).arg(program.get_program());
            let ended: CommandResult =
                shell.args(words.split_whitespace()).output().unwrap().into();
            assert!(ended.code != Some(101), "{words} {close}: {ended:?}");
        }
    }
}
