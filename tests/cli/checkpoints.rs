//! `--checkpoint` and `dpscope resume`: only matching runs are resumed, and nothing is lost.

use std::fs;

use dpscope_tests::cli::{number, text};

use crate::{Folder, SMALL};

#[test]
fn finished_checkpoints_print_their_report_again() {
    let folder = Folder::new();
    let first = folder.run(&format!("{SMALL} --checkpoint c --json")).exits(0).json();
    assert!(first["resumed_from"].is_null());
    let saved = folder.read("c");
    for words in [format!("{SMALL} --checkpoint c"), "resume c".to_owned()] {
        let again = folder.run(&format!("{words} --json")).exits(0).json();
        assert_eq!(again["result"], first["result"], "{words}");
        assert_eq!(again["histogram_digest"], first["histogram_digest"], "{words}");
        assert_eq!(number(&again, "/resumed_from"), 30_000.0, "{words}");
    }
    // The seed of the checkpoint is the seed of the run.
    let without_seed = SMALL.trim_end_matches(" --seed 7");
    let again = folder.run(&format!("{without_seed} --checkpoint c --json")).exits(0).json();
    assert_eq!((text(&again, "/seed"), text(&again, "/seed_source")), ("7", "checkpoint"));
    assert!(folder.read("c") == saved);
    folder.run("resume c --claim 0.1 --out copy").exits(3);
    assert_eq!(folder.names(), ["c", "copy"]);
    folder.run("merge copy").exits(0);
}

#[test]
fn checkpoints_of_other_runs_are_not_overwritten() {
    let folder = Folder::new();
    folder.run(&format!("{SMALL} --checkpoint c")).exits(0);
    let saved = folder.read("c");
    let changed = |from: &str, to: &str| SMALL.replace(from, to);
    for (words, part) in [
        (changed("--seed 7", "--seed 8"), "seed: \"8\" here, \"7\" there"),
        (changed("--steps 10", "--steps 11"), "steps_per_epoch: 11 here, 10 there"),
        (changed("multiplier 1", "multiplier 1.5"), "noise_multiplier: 1.5 here, 1.0 there"),
        (changed("3e4", "4e4"), "observations: 40000 here, 30000 there"),
        (format!("{SMALL} --delta 1e-6"), "delta: 1e-6 here, 0.00001 there"),
        (format!("{SMALL} --significance 0.1"), "significance: 0.1 here, 0.05 there"),
        (format!("{SMALL} --threshold-rule split"), "threshold_rule"),
        (format!("{SMALL} --sampler poisson"), "sampler"),
        (format!("{SMALL} --shard 1/3"), "0..15000 of each world, but this run counts 0..5000"),
    ] {
        let refused = folder.run(&format!("{words} --checkpoint c"));
        refused.refuses(5, &["c: ", part, "name another file"]);
        assert!(folder.read("c") == saved, "{words}");
    }
    assert_eq!(folder.names(), ["c"]);
}

#[test]
fn other_files_are_never_overwritten() {
    let folder = Folder::new();
    let contents: [(&str, &[u8]); 5] = [
        ("notes.txt", b"remember the milk\n"),
        ("empty", b""),
        ("list.json", b"[1, 2, 3]"),
        ("deep.json", &[b'['; 100_000]),
        ("bytes", &[0xff, 0, 0x1b, b'[', b'2', b'J']),
    ];
    for (name, bytes) in contents {
        folder.write(name, bytes);
        let parts = [name, "not a dpscope artefact", "name a file"];
        folder.run(&format!("{SMALL} --checkpoint {name}")).refuses(5, &parts);
        let message = folder.run(&format!("resume {name}")).refuses(5, &parts).stderr;
        assert!(!message.contains('\u{1b}'), "{message:?}");
        assert!(folder.read(name) == bytes, "{name}");
    }
}

#[test]
fn unwritable_checkpoints_are_rejected_before_the_run() {
    let folder = Folder::new();
    fs::create_dir(folder.at("folder")).unwrap();
    let huge = SMALL.replace("3e4", "1e15");
    folder
        .run(&format!("{huge} --checkpoint absent/c"))
        .refuses(2, &["absent/c: ", "cannot be written"]);
    folder.run(&format!("{huge} --checkpoint folder")).refuses(2, &["folder: ", "choose another"]);
    folder.run(&format!("{huge} --out absent/c")).refuses(2, &["absent/c: ", "cannot be written"]);
    folder.run("resume absent").refuses(2, &["absent: ", "cannot be read"]);
    folder.run("resume folder").refuses(2, &["folder: ", "directory"]);
    if cfg!(unix) {
        for device in ["/dev/null", "/dev/full"] {
            let parts = [device, "regular file"];
            folder.run(&format!("{huge} --checkpoint {device}")).refuses(2, &parts);
            folder.run(&format!("{huge} --out {device}")).refuses(2, &parts);
        }
    }
    assert_eq!(folder.names(), ["folder"]);
}

#[test]
fn claims_and_devices_are_checked_before_the_run() {
    let folder = Folder::new();
    let huge = SMALL.replace("3e4", "1e15");
    folder.run(&format!("{huge} --checkpoint c --claim nan")).refuses(2, &["nan"]);
    folder.run(&format!("{huge} --checkpoint c --fail-above -1")).refuses(2, &["--fail-above"]);
    folder
        .run(&format!("{huge} --checkpoint c --device no-such-gpu"))
        .refuses(4, &["`no-such-gpu`"]);
    assert!(folder.names().is_empty());
}
