//! Replays the fuzz corpus on the stable toolchain.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

#[allow(unreachable_pub, reason = "public where the fuzz targets call them")]
#[path = "../../../tests/fuzz/src/engine.rs"]
mod engine;

use std::fs;
use std::path::{Path, PathBuf};

use dpscope_simulation::Artefact;

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus").join(target)
}

/// Files replayed.
fn replay(target: &str, function: fn(&[u8])) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(corpus(target)).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        function(&fs::read(&path).unwrap());
        files += 1;
    }
    files
}

#[test]
fn artefact() {
    assert!(replay("artefact", engine::artefact) >= 40);
}

#[test]
fn plan() {
    assert!(replay("plan", engine::plan) >= 25);
}

/// The seeds reach the checks behind the checksum: exactly these are accepted.
#[test]
fn only_whole_artefacts_are_accepted() {
    let mut accepted: Vec<String> = Vec::new();
    for entry in fs::read_dir(corpus("artefact")).unwrap() {
        let entry = entry.unwrap();
        if Artefact::from_bytes(&fs::read(entry.path()).unwrap()).is_ok() {
            accepted.push(entry.file_name().into_string().unwrap());
        }
    }
    accepted.sort();
    let whole = ["fast", "gaps", "nothing_counted", "other_version", "plain", "shard"];
    assert_eq!(accepted, whole);
}

/// Every byte of a whole artefact, changed in two ways.
#[test]
fn changed_bytes_never_panic_and_are_detected() {
    let whole = fs::read(corpus("artefact").join("plain")).unwrap();
    for at in 0..whole.len() {
        for change in [1, 0x80] {
            let mut changed = whole.clone();
            changed[at] ^= change;
            engine::artefact(&changed);
            assert!(Artefact::from_bytes(&changed).is_err(), "byte {at}");
        }
        engine::artefact(&whole[..at]);
    }
}

#[test]
#[should_panic(expected = "has its bytes")]
fn an_artefact_of_other_bytes_is_detected() {
    let whole = fs::read(corpus("artefact").join("plain")).unwrap();
    let artefact = Artefact::from_bytes(&whole).unwrap();
    engine::check(&artefact, &whole);
    engine::check(&artefact, &whole[1..]);
}

#[test]
#[should_panic(expected = "unescaped")]
fn an_unescaped_message_is_detected() {
    engine::check_message("it is not a dpscope artefact");
    engine::check_message("\u{1b}[2J");
}
