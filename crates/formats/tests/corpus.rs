//! Replays the fuzz corpus on the stable toolchain.

use std::fs;
use std::path::Path;

use dpscope_core::foreign_text::ForeignText;
use dpscope_formats::Array;

use crate::formats;

/// Files replayed.
fn replay(target: &str, function: fn(&[u8])) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus").join(target);
    let mut files = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        function(&fs::read(&path).unwrap());
        files += 1;
    }
    files
}

/// A fuzz target, its parser, and the least number of files in its corpus.
type Target = (&'static str, fn(&[u8]), usize);

const TARGETS: [Target; 9] = [
    ("accountant", formats::accountant, 34),
    ("npy", formats::npy, 28),
    ("npz", formats::npz, 14),
    ("csv", formats::csv, 18),
    ("table", formats::table, 23),
    ("safetensors", formats::safetensors, 15),
    ("gzip", formats::gzip, 14),
    ("idx", formats::idx, 19),
    ("cifar10", formats::cifar10, 8),
];

#[test]
fn every_corpus_is_replayed() {
    for (target, function, least) in TARGETS {
        let files = replay(target, function);
        assert!(files >= least, "{target}: {files} files");
    }
}

#[test]
#[should_panic(expected = "elements as u64 <= limits().max_elements")]
fn an_array_beyond_the_limits_is_detected() {
    let elements = formats::limits().max_elements as usize;
    formats::check(&Array::new(vec![elements], vec![0.0; elements]).unwrap());
    formats::check(&Array::new(vec![elements + 1], vec![0.0; elements + 1]).unwrap());
}

#[test]
#[should_panic(expected = "the file is damaged")]
fn an_unescaped_message_is_detected() {
    let error = |name: &str| format!("the file is damaged: {name}");
    formats::accept(Err::<(), _>(error("x")), |()| {});
    formats::accept(Err::<(), _>(ForeignText::new("\u{1b}[2J")), |()| {});
    formats::accept(Err::<(), _>(error("\u{1b}[2J")), |()| {});
}
