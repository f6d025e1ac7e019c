//! Files that NumPy and safetensors wrote (`fixtures/make.py`), against the values that Python
//! printed.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use dpscope_formats::{Array, Dataset, FormatError, Limits, read_npz};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn bytes(file: &str) -> Vec<u8> {
    fs::read(folder().join(file)).unwrap()
}

fn read(file: &str, name: Option<&str>) -> Result<Array, FormatError> {
    let bytes = bytes(file);
    let dataset = Dataset::open(&bytes, file, &Limits::default())?;
    match name {
        Some(name) => dataset.array(name),
        None => dataset.into_only(),
    }
}

/// Whether a line of values.txt says what is in the file it names.
fn agrees(line: &str) -> bool {
    let mut words = line.split(' ');
    let place = words.next().unwrap();
    let shape: Vec<usize> = match words.next().unwrap() {
        "scalar" => Vec::new(),
        shape => shape.split('x').map(|length| length.parse().unwrap()).collect(),
    };
    let values: Vec<f64> = words.map(|value| value.parse().unwrap()).collect();
    let array = match place.split_once(':') {
        Some((file, name)) => read(file, Some(name)),
        None => read(place, None),
    };
    let array = array.unwrap_or_else(|error| panic!("{place}: {error}"));
    let same = |a: &f64, b: &f64| a == b || (a.is_nan() && b.is_nan());
    array.shape() == shape
        && array.data().len() == values.len()
        && array.data().iter().zip(&values).all(|(a, b)| same(a, b))
}

#[test]
fn values_equal_those_printed_by_python() {
    let expected = String::from_utf8(bytes("values.txt")).unwrap();
    let mut files = BTreeSet::new();
    for line in expected.lines() {
        assert!(agrees(line), "{line}");
        files.insert(line.split([' ', ':']).next().unwrap());
    }
    let present = fs::read_dir(folder()).unwrap().count();
    // Besides: 8 files that are refused, values.txt and make.py.
    assert_eq!(files.len() + 10, present);
}

#[test]
fn wrong_values_shapes_and_orders_are_detected() {
    assert!(agrees("fortran_big.npy 3x4 0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0 9.0 10.0 11.0"));
    assert!(!agrees("fortran_big.npy 3x4 0.0 4.0 8.0 1.0 5.0 9.0 2.0 6.0 10.0 3.0 7.0 11.0"));
    assert!(!agrees("fortran_big.npy 4x3 0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0 9.0 10.0 11.0"));
    assert!(!agrees("version_1.npy 2 1.0 2.0000000000000004"));
}

#[test]
fn non_numeric_dtypes_are_refused_by_name() {
    for (kind, expected) in [
        ("complex", "dtype complex128 is not a real number; save the real part"),
        ("text", "dtype <U2 contains text"),
        ("bytes", "dtype |S1 contains text"),
        ("time", "dtype datetime64[D] is a time"),
        ("fields", "dtype with named fields is not one number"),
        ("longdouble", "dtype longdouble (<f16) has more digits than float64"),
        ("object", "dtype object contains pickled Python values"),
        ("empty", "shape (2, 0) has no elements"),
    ] {
        let error = read(&format!("refused_{kind}.npy"), None).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn text_arrays_in_an_npz_file_are_skipped() {
    for file in ["stored.npz", "deflated.npz"] {
        let arrays = read_npz(&bytes(file), &Limits::default()).unwrap();
        let names: Vec<&str> = arrays.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["target", "zero_out", "sigma"], "{file}");
        let error = read(file, Some("note")).unwrap_err().to_string();
        assert!(error.starts_with("array `note`: dtype <U5 contains text"), "{error}");
    }
}
