//! Replays the fuzz corpus on the stable toolchain.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

#[allow(unreachable_pub, reason = "public where the fuzz targets call them")]
#[path = "../../../tests/fuzz/src/formats.rs"]
mod formats;

use std::fs;
use std::path::Path;

use dpscope_core::foreign_text::ForeignText;
use dpscope_formats::Array;

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
fn accountant() {
    assert!(replay("accountant", formats::accountant) >= 34);
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
fn table() {
    assert!(replay("table", formats::table) >= 23);
}

#[test]
fn safetensors() {
    assert!(replay("safetensors", formats::safetensors) >= 15);
}

#[test]
fn gzip() {
    assert!(replay("gzip", formats::gzip) >= 14);
}

#[test]
fn idx() {
    assert!(replay("idx", formats::idx) >= 19);
}

#[test]
fn cifar10() {
    assert!(replay("cifar10", formats::cifar10) >= 8);
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
