//! Whole texts that a user reads: reviews see every change of wording.
//!
//! `BLESS=1 cargo test -p dpscope-tests --test cli snapshots` rewrites them.

use std::fs;
use std::path::Path;

use crate::trainer::{Trainer, npy_f8};
use crate::{Folder, SMALL};

/// Devices and times differ from run to run.
pub(crate) fn masked(text: &str) -> String {
    text.lines().map(|line| masked_line(line) + "\n").collect()
}

fn masked_line(line: &str) -> String {
    let starts_with = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
    if starts_with(&["  run  ", "  device  "]) {
        let value = line.trim_start().split_once(' ').map_or("", |(_, value)| value.trim_start());
        return format!("{}…", line.strip_suffix(value).unwrap_or(line));
    }
    match line.split_once("seed ") {
        Some((start, seed)) if starts_with(&["  draws  ", "seed "]) => match seed.split_once(';') {
            Some((seed, _)) => format!("{start}seed {seed}; …"),
            None => line.to_owned(),
        },
        _ => line.to_owned(),
    }
}

fn compare(name: &str, text: &str) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cli/snapshots").join(name);
    let text = masked(text);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    if kept == text { Ok(()) } else { Err(format!("{name} was\n{kept}\nand is\n{text}")) }
}

#[track_caller]
pub(crate) fn assert_shown(name: &str, text: &str) {
    compare(name, text).unwrap();
}

#[test]
fn report_texts_match_their_snapshots() {
    let folder = Folder::new();
    let show = |words: &str| folder.run(words).stdout;
    // The split rule: its numbers do not depend on where cuts are placed.
    let split = format!("{SMALL} --threshold-rule split");
    assert_shown("bgm.txt", &show(&split));
    assert_shown("bgm_refuted.txt", &show(&format!("{split} --claim 0.5 --fail-above 5")));
    assert_shown("bgm_estimate.txt", &show(&format!("{SMALL} --threshold-rule max-uncorrected")));
    let counts = "audit counts --false-positives 12 --target-trials 1000 --false-negatives 480 \
                  --zero-out-trials 1000";
    assert_shown("counts.txt", &show(counts));
    assert_shown("counts_not_refuted.txt", &show(&format!("{counts} --claim 5")));
    assert_shown("plan.txt", &show("plan --epsilon 9"));
    folder.run(&format!("{split} --shard 2/3 --out 2")).exits(0);
    assert_shown("merge_gaps.txt", &show("merge 2 --allow-gaps --claim 0.5"));
}

#[test]
fn recorded_report_texts_match_their_snapshots() {
    let folder = Folder::new();
    let mut worlds = Trainer::SHUFFLE.worlds(1000, 1);
    worlds[0].copy_within(0..100, 100);
    worlds[1][7] = f64::NAN;
    for (name, world) in ["in.npy", "out.npy"].iter().zip(&worlds) {
        folder.write(name, npy_f8(&[1000, 10], world));
    }
    let words = format!(
        "audit outputs --target in.npy --zero-out out.npy {} --seed 5 --threshold-rule split \
         --count-non-finite --claim 0.5",
        Trainer::SHUFFLE.words()
    );
    assert_shown("outputs.txt", &folder.run(&words).exits(3).stdout);
}

#[test]
fn theory_texts_match_their_snapshots() {
    let folder = Folder::new();
    let show = |words: &str| folder.run(words).exits(0).stdout;
    let setting = "--noise-multiplier 1 --steps 100";
    assert_shown("bound_poisson.txt", &show(&format!("bound poisson {setting}")));
    assert_shown("bound_shuffle.txt", &show(&format!("bound shuffle {setting} --epochs 5")));
    assert_shown("bound_pair.txt", &show(&format!("bound pair {setting} --seed 1 --side lower")));
    let epochs = format!("bound pair {setting} --epochs 4 --epsilon 3 --seed 1 --side estimate");
    assert_shown("bound_pair_delta.txt", &show(&epochs));
    let delta = format!("bound persistent-shuffle {setting} --side upper --epsilon 3");
    assert_shown("bound_delta.txt", &show(&delta));
    assert_shown("calibrate.txt", &show("calibrate noise --epsilon 4 --steps 100"));
    let shuffle = "calibrate noise --epsilon 4 --steps 100 --sampler shuffle";
    assert_shown("calibrate_shuffle.txt", &show(shuffle));
    assert_shown("compare.txt", &show(&format!("compare {setting} --seed 1")));
    let much = "compare --noise-multiplier 0.02 --steps 100 --epochs 2 --seed 1";
    assert_shown("compare_missing.txt", &show(much));
    folder.write("settings.csv", "name,sigma,T,E\nMNLI,0.6,50,1\n\"a, b\",0.1,1e3,2\n");
    assert_shown("sweep.txt", &show("sweep settings.csv --csv out.csv"));
    assert_shown("sweep.csv", &String::from_utf8(folder.read("out.csv")).unwrap());
}

#[test]
fn check_texts_match_their_snapshots() {
    let show = |words: &str| {
        let training = "--dataset-size 60000 --batch-size 256 --epochs 20 --delta 1e-5";
        crate::dpscope(&format!("check {training} {words}")).stdout
    };
    let poisson = "--accountant poisson --noise-multiplier 0.8";
    assert_shown(
        "check_refuted.txt",
        &show(&format!(
            "{poisson} --loader sliding-buffer --buffer-examples 10000 --drop-last --claim 3 \
             --accounted-steps 4700 --accounted-sampling-rate 0.005"
        )),
    );
    assert_shown("check_not_refuted.txt", &show(&format!("{poisson} --loader shuffle --claim 8")));
    assert_shown("check_covered.txt", &show(&format!("{poisson} --loader poisson --claim 8")));
}

#[test]
fn help_texts_match_their_snapshots() {
    let folder = Folder::new();
    for (name, words) in [
        ("help.txt", "--help"),
        ("help_bgm.txt", "audit bgm --help"),
        ("help_bench.txt", "bench --help"),
    ] {
        assert_shown(name, &folder.run(words).exits(0).stdout);
    }
}

#[test]
fn changed_words_are_detected() {
    let folder = Folder::new();
    let shown = folder.run("plan --epsilon 9").exits(0).stdout;
    assert!(
        std::env::var_os("BLESS").is_some()
            || compare("plan.txt", &shown.replace("needs", "wants")).is_err()
    );
}
