//! Replays the fuzz corpus on the stable toolchain.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

#[allow(unreachable_pub, reason = "public where the fuzz targets call them")]
#[path = "../../../tests/fuzz/src/formats.rs"]
mod formats;

use std::fs;
use std::path::Path;

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

#[test]
fn npy() {
    assert!(replay("npy", formats::npy) >= 28);
}

#[test]
fn npz() {
    assert!(replay("npz", formats::npz) >= 14);
}

#[test]
fn csv() {
    assert!(replay("csv", formats::csv) >= 18);
}

#[test]
fn safetensors() {
    assert!(replay("safetensors", formats::safetensors) >= 15);
}
