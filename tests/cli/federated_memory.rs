//! How much memory an audit of large updates takes.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::process::Stdio;

use dpscope_tests::cli::dpscope;

use crate::Folder;

/// Trained parameters, f32: 20 MB an update.
const DIMENSION: usize = 5_000_000;
const ROUNDS: usize = 3;

/// One update, and 64 MB.
const LIMIT_KB: u64 = (4 * DIMENSION as u64 + (64 << 20)) / 1_024;

/// Writes an update of f32 in the given order.
fn write_update(folder: &Folder, name: &str, seed: u32, is_fortran: bool) {
    let order = if is_fortran { "True" } else { "False" };
    let shape = (DIMENSION / 1_000, 1_000);
    let header = format!("{{'descr': '<f4', 'fortran_order': {order}, 'shape': {shape:?}, }}");
    let path = folder.at(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = BufWriter::new(File::create(path).unwrap());
    file.write_all(b"\x93NUMPY\x01\x00").unwrap();
    let padded = (10 + header.len() + 1).next_multiple_of(64) - 11;
    file.write_all(&(padded as u16 + 1).to_le_bytes()).unwrap();
    file.write_all(format!("{header:padded$}\n").as_bytes()).unwrap();
    let mut word = seed;
    for _ in 0..DIMENSION {
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let value = f64::from(word) / f64::from(u32::MAX) - 0.5;
        file.write_all(&(value as f32).to_le_bytes()).unwrap();
    }
}

/// The largest resident memory of the program, in kB.
fn peak_kb(folder: &Folder, words: &str) -> u64 {
    let mut command = dpscope(folder.path());
    command.args(words.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    let ended = loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
        most = number.map_or(most, |found: u64| most.max(found));
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        std::thread::yield_now();
    };
    assert!(ended.success(), "{words}: {ended}");
    most
}

#[test]
fn memory_is_that_of_one_update_and_64_mb() {
    let folder = Folder::new();
    let plan = format!("plan federated --design fixed:3 --delta 1e-6 --dimension {DIMENSION}");
    folder.run(&format!("{plan} --out model")).exits(0);
    for name in ["sums", "fortran"] {
        folder.run(&format!("{plan} --attacker sum-of-updates --out {name}")).exits(0);
    }
    for round in 0..ROUNDS {
        write_update(&folder, &format!("updates/{round}.npy"), round as u32, false);
    }
    let updates = peak_kb(&folder, "audit federated --plan sums --updates updates");
    let models = "audit federated --plan model --initial updates/0.npy --final updates/1.npy";
    let model = peak_kb(&folder, models);
    assert!(updates > 4_096 && updates <= LIMIT_KB, "{updates} kB");
    assert!(model > 4_096 && model <= LIMIT_KB, "{model} kB");
    // broken twin: arrays in Fortran order are held whole, in f64
    for round in 0..ROUNDS {
        write_update(&folder, &format!("updates/{round}.npy"), round as u32, true);
    }
    let whole = peak_kb(&folder, "audit federated --plan fortran --updates updates");
    assert!(whole > LIMIT_KB, "{whole} kB");
}
