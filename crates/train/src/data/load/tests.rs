//! Valid and invalid files of every format.

use dpscope_formats::{Array, write_npy, write_npz};
use proptest::prelude::*;

use super::*;
use crate::data::examples::Packed;

fn source<'a>(name: &'a str, bytes: &'a [u8]) -> Source<'a> {
    Source { name, bytes }
}

fn read(name: &str, bytes: &[u8]) -> Result<Examples, DataError> {
    load(source(name, bytes), None, &LoadOptions::default())
}

fn message(name: &str, bytes: &[u8]) -> String {
    read(name, bytes).unwrap_err().to_string()
}

/// The rows of a part with their labels, sorted.
fn records(part: &Examples) -> Vec<(Vec<u32>, u32)> {
    let all: Vec<u32> = (0..part.len() as u32).collect();
    let (mut examples, mut labels) = (Vec::new(), Vec::new());
    part.fill(&all, &mut examples, &mut labels);
    let rows = examples.chunks_exact(part.shape().len());
    let bits = |row: &[f32]| row.iter().map(|value| value.to_bits()).collect();
    let mut records: Vec<(Vec<u32>, u32)> = rows.map(bits).zip(labels).collect();
    records.sort();
    records
}

fn idx(shape: &[u32], data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, shape.len() as u8];
    bytes.extend(shape.iter().flat_map(|length| length.to_be_bytes()));
    bytes.extend(data);
    bytes
}

fn array(shape: &[usize], values: &[f64]) -> Array {
    Array::new(shape.to_vec(), values.to_vec()).unwrap()
}

/// npy with dtype `|u1`, which the writer does not support.
fn npy_bytes(axes: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({axes}), }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

proptest! {
    #[test]
    fn each_selected_record_is_in_one_part(
        rows in prop::collection::vec((0_u32..4, prop::collection::vec(0_u8..3, 3)), 8..40),
        trained in 1_usize..8,
        selection in 0_usize..2,
    ) {
        let text: String = rows
            .iter()
            .map(|(label, row)| format!("{label},{},{},{}\n", row[0], row[1], row[2]))
            .collect();
        let requested = [&[2_u32, 0][..], &[0, 1, 2, 3]][selection];
        let all_occur = requested.iter().all(|class| rows.iter().any(|(label, _)| label == class));
        let selected: Vec<_> = rows.iter().filter(|(label, _)| requested.contains(label)).collect();
        let options =
            LoadOptions { records: Some(trained), classes: Some(requested), ..LoadOptions::default() };
        let read = load(source("rows.csv", text.as_bytes()), None, &options);
        if !all_occur || selected.len() < trained {
            prop_assert!(read.is_err());
            return Ok(());
        }
        let read = read.unwrap();
        prop_assert_eq!(read.len(), trained);
        let held_out = read.held_out().map(records).unwrap_or_default();
        let mut found = [records(&read), held_out].concat();
        found.sort();
        let class = |label: u32| requested.iter().position(|&class| class == label).unwrap() as u32;
        let mut expected: Vec<(Vec<u32>, u32)> = selected
            .iter()
            .map(|(label, row)| {
                (row.iter().map(|&v| f32::from(v).to_bits()).collect(), class(*label))
            })
            .collect();
        expected.sort();
        prop_assert_eq!(found, expected);
        let summary = read.load_summary().unwrap();
        prop_assert_eq!(summary.trained + summary.held_out + summary.other_classes, rows.len());
    }

    #[test]
    fn arbitrary_bytes_load_or_are_refused(
        start in 0_usize..6,
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        extension in 0_usize..5,
    ) {
        let starts: [&[u8]; 6] = [b"", b"\0\0\x08\x03", b"PK\x03\x04", b"\x93NUMPY\x01\0", b"\x1f\x8b\x08\0", b"1,0,1\n2,"];
        let name = ["a.bin", "a.csv", "a.npz", "t10k-images-idx3-ubyte", "a"][extension];
        let bytes = [starts[start], &bytes].concat();
        match read(name, &bytes) {
            Ok(set) => prop_assert!(!set.is_empty() && set.classes() >= 2),
            Err(error) => {
                let text = error.to_string();
                prop_assert!(!text.chars().any(char::is_control) && text.len() < 600, "{}", text);
            }
        }
    }
}

#[test]
fn idx_images_and_labels_are_loaded_as_a_pair() {
    let images = idx(&[4, 2, 3], &(0..24).collect::<Vec<u8>>());
    let labels = idx(&[4], &[7, 7, 0, 0]);
    let options = LoadOptions { classes: Some(&[7, 0]), ..LoadOptions::default() };
    let read = |labels: &[u8]| {
        load(source("i", &images), Some(source("train-labels-idx1-ubyte", labels)), &options)
    };
    let set = read(&labels).unwrap();
    assert_eq!(set.shape(), Shape { channels: 1, height: 2, width: 3 });
    let found = records(&set);
    let first = found.iter().find(|(row, _)| row[0] == (-1.0_f32).to_bits()).unwrap();
    assert_eq!((first.1, f32::from_bits(first.0[5])), (0, -245.0 / 255.0));
    assert_eq!(found.iter().filter(|(_, label)| *label == 1).count(), 2);
    let sentences = set.load_summary().unwrap().sentences();
    assert_eq!(
        sentences,
        [
            "IDX: 4 records, features bytes as 2·byte/255 − 1",
            "labels were mapped: 7 → 0, 0 → 1",
            "2 classes of 2 records each",
            "after a fixed shuffle, 4 records are used for training and 0 are held out",
        ]
    );
    let text = |labels: &[u8]| read(labels).unwrap_err().to_string();
    assert_eq!(
        text(&idx(&[3], &[7, 7, 0])),
        "i has 4 records, but there are 3 labels; pass matching files"
    );
    assert!(text(&images).contains("shape (4, 2, 3) is not supported for labels"));
    assert!(
        text(&labels[..7]).starts_with("train-labels-idx1-ubyte: the array: the header declares")
    );
    let alone = message("train-images-idx3-ubyte", &images);
    assert!(
        alone.contains("contains IDX without labels") && alone.contains("train-labels"),
        "{alone}"
    );
}

#[test]
fn cifar_records_include_labels() {
    let record = |label: u8, value: u8| [vec![label], vec![value; 3072]].concat();
    let bytes = [record(1, 0), record(0, 255), record(9, 3)].concat();
    let options =
        LoadOptions { classes: Some(&[0, 1]), records: Some(1), ..LoadOptions::default() };
    let set = load(source("data_batch_1.bin", &bytes), None, &options).unwrap();
    assert_eq!((set.len(), set.held_out().unwrap().len()), (1, 1));
    assert_eq!(set.shape(), Shape { channels: 3, height: 32, width: 32 });
    assert!(matches!(set.packed(), Packed::Bytes(_)));
    let sentences = set.load_summary().unwrap().sentences();
    assert_eq!(sentences[1], "1 records of other classes were dropped");
    let labels = idx(&[3], &[1, 2, 3]);
    let twice = load(source("a.bin", &bytes), Some(source("l-idx1", &labels)), &options);
    assert!(
        twice.unwrap_err().to_string().contains("already contains labels; omit the label file")
    );
    assert!(
        message("a.bin", &bytes[..9000]).starts_with("a.bin: 9000 bytes are not whole records")
    );
    let wrong = [record(1, 0), record(77, 0)].concat();
    assert!(message("a.bin", &wrong).contains("record 1 has label 77"));
}

#[test]
fn npz_arrays_are_found_by_name() {
    let x = array(&[4, 3], &[0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
    let y = array(&[4], &[5.0, 9.0, 5.0, 9.0]);
    let one_hot = array(&[4, 2], &[1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    let plain = read("a.npz", &write_npz(&[("features", &x), ("labels", &y)]).unwrap()).unwrap();
    let hot = read("a.npz", &write_npz(&[("X", &x), ("Y", &one_hot)]).unwrap()).unwrap();
    assert_eq!(plain.digest(), hot.digest());
    assert!(matches!(plain.packed(), Packed::Bits { row_bytes: 1, .. }));
    let labels = write_npy(&y);
    let pair = load(
        source("x.npy", &write_npy(&x)),
        Some(source("y.npy", &labels)),
        &LoadOptions::default(),
    );
    assert_eq!(pair.unwrap().digest(), plain.digest());
    let not_one_hot = array(&[4, 2], &[1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    let text = message("a.npz", &write_npz(&[("x", &x), ("y", &not_one_hot)]).unwrap());
    assert!(text.contains("record 1 of the labels is not one-hot"), "{text}");
    let text = message("a.npz", &write_npz(&[("weights", &x), ("y", &y)]).unwrap());
    assert!(text.contains("the file contains weights, y"), "{text}");
    let text = message("a.npz", &write_npz(&[("x", &x)]).unwrap());
    assert!(text.contains("contains npz without labels"), "{text}");
}

#[test]
fn channels_may_come_last() {
    let pixels: Vec<u8> = (0..2 * 5 * 5 * 3).collect();
    let images = npy_bytes("2, 5, 5, 3", &pixels);
    let labels = idx(&[2], &[0, 1]);
    let set =
        load(source("x.npy", &images), Some(source("y-idx1", &labels)), &LoadOptions::default())
            .unwrap();
    assert_eq!(set.shape(), Shape { channels: 3, height: 5, width: 5 });
    let Packed::Bytes(bytes) = set.packed() else { panic!("no pixels") };
    let record = if bytes[0] == 0 { &bytes[..75] } else { &bytes[75..] };
    assert_eq!([record[0], record[1], record[25], record[74]], [0, 3, 1, 74]);
    let text = message("x.npy", &npy_bytes("2, 5, 3, 5, 1", &pixels));
    assert!(text.contains("shape (2, 5, 3, 5, 1) is not supported for examples"), "{text}");
}

#[test]
fn errors_name_the_problem() {
    for (name, bytes, expected) in [
        ("a", &b""[..], "a: the file is empty"),
        ("a.tar", &[&[b'x'; 257][..], b"ustar  "].concat(), "it is a tar archive; unpack it"),
        ("data_batch_1", b"\x80\x02}q", "Python pickles are not supported"),
        ("a", b"\0\0\x08\x03\0\0", "it is a truncated IDX file"),
        ("a", b"remember the milk", "the format is not IDX, CIFAR-10 binary, npz, npy or csv"),
        ("a.csv", b"1,0\n1,1\n", "a.csv: 1 class is selected; a classifier needs two or more"),
        ("a.csv", b"1.5,0\n1,1\n", "record 0 has label 1.5; labels must be integers from 0"),
        ("a.csv", b"1,0\n-1,1\n", "record 1 has label -1"),
        ("a.csv", b"1,0\n70000,1\n", "record 1 has label 70000"),
        ("a.csv", b"1,0\n2,nan\n", "record 1, feature 0 is NaN"),
        ("a.csv", b"1,0\n2,1e39\n", "record 1, feature 0 is 1e39; correct, rescale or remove"),
        ("a.csv", b"1\n2\n", "0 features per record"),
        ("a.csv", b"1,0\n2\n", "line 2 has 1 cells"),
        ("a.csv.gz", b"\x1f\x8b\x08\0", "a.csv.gz: the gzip file ends after 0 unpacked bytes"),
    ] {
        let text = message(name, bytes);
        assert!(text.contains(expected), "{text}");
    }
    let rows = b"4,0\n6,1\n6,1\n";
    let with = |records, classes| {
        let options = LoadOptions { records, classes, ..LoadOptions::default() };
        load(source("a.csv", rows), None, &options).unwrap_err().to_string()
    };
    assert_eq!(
        with(Some(4), None),
        "a.csv: 4 records are requested, but 3 are available; request 1 to 3"
    );
    assert!(with(Some(0), None).contains("0 records are requested"));
    assert_eq!(with(None, Some(&[4, 5])), "a.csv: no record has label 5; the labels are 4, 6");
    assert_eq!(with(None, Some(&[4, 6, 4])), "class 4 is listed twice; list each class once");
}

#[test]
fn files_sorted_by_class_are_shuffled() {
    let text: String = (0..400).map(|i| format!("{},{i}\n", i / 200)).collect();
    let options = LoadOptions { records: Some(300), ..LoadOptions::default() };
    let set = load(source("a.csv", text.as_bytes()), None, &options).unwrap();
    for part in [&set, set.held_out().unwrap()] {
        let ones = part.labels().iter().filter(|&&label| label == 1).count();
        assert!((ones as f64 / part.len() as f64 - 0.5).abs() < 0.15, "{ones} of {}", part.len());
    }
    let again = load(source("b.csv", text.as_bytes()), None, &options).unwrap();
    assert_eq!(again.digest(), set.digest());
}
