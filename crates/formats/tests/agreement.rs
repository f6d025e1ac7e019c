//! Random arrays and bytes: what is written is read back, other crates agree, nothing panics.

use std::fmt::Write as _;
use std::io::Write as _;

use dpscope_formats::{
    Array, Limits, Npz, read_csv, read_idx, read_npy, read_npz, unpack_gzip, write_npy, write_npz,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::formats;

fn arrays() -> impl Strategy<Value = Array> {
    vec(1_usize..5, 0..5).prop_flat_map(|shape| {
        let elements = shape.iter().product::<usize>();
        vec(any::<u64>().prop_map(f64::from_bits), elements)
            .prop_map(move |data| Array::new(shape.clone(), data).unwrap())
    })
}

/// Equal in every bit, NaN payloads included.
fn same(a: &Array, b: &Array) -> bool {
    let bits = |array: &Array| array.data().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    a.shape() == b.shape() && bits(a) == bits(b)
}

/// A table as text, and the same by the crate csv.
fn tables() -> impl Strategy<Value = (String, Vec<f64>)> {
    let number = any::<f64>().prop_filter("csv compares values", |x| !x.is_nan());
    (1_usize..5, 1_usize..6, prop::sample::select(vec![',', ';', '\t']), any::<bool>())
        .prop_flat_map(move |(columns, rows, delimiter, quoted)| {
            vec(number.clone(), rows * columns).prop_map(move |values| {
                let mut text = String::new();
                for row in values.chunks(columns) {
                    for (column, value) in row.iter().enumerate() {
                        if column > 0 {
                            text.push(delimiter);
                        }
                        let quote = if quoted { "\"" } else { "" };
                        write!(text, "{quote}{value:?}{quote}").unwrap();
                    }
                    text.push('\n');
                }
                let mut reader = csv::ReaderBuilder::new()
                    .delimiter(delimiter as u8)
                    .has_headers(false)
                    .from_reader(text.as_bytes());
                let parsed = reader
                    .records()
                    .flat_map(|row| {
                        let row = row.unwrap();
                        row.iter().map(|cell| cell.parse().unwrap()).collect::<Vec<f64>>()
                    })
                    .collect();
                (text, parsed)
            })
        })
}

proptest! {
    #[test]
    fn npy_round_trip(array in arrays()) {
        let read = read_npy(&write_npy(&array), &Limits::default()).unwrap();
        prop_assert!(same(&read, &array));
    }

    #[test]
    fn npyz_reads_what_is_written(array in arrays()) {
        let bytes = write_npy(&array);
        let file = npyz::NpyFile::new(&bytes[..]).unwrap();
        let shape = file.shape().iter().map(|&length| length as usize).collect();
        let read = Array::new(shape, file.into_vec().unwrap()).unwrap();
        prop_assert!(same(&read, &array));
    }

    #[test]
    fn npz_round_trip(first in arrays(), second in arrays()) {
        let bytes = write_npz(&[("first", &first), ("a/b", &second)]).unwrap();
        let read = read_npz(&bytes, &Limits::default()).unwrap();
        prop_assert_eq!(&read[0].0, "first");
        prop_assert!(same(&read[0].1, &first) && same(&read[1].1, &second));
        let npz = Npz::open(&bytes, &Limits::default()).unwrap();
        prop_assert!(same(&npz.read("a/b").unwrap(), &second));
    }

    #[test]
    fn tables_agree_with_the_crate_csv((text, parsed) in tables()) {
        let table = read_csv(text.as_bytes(), &Limits::default()).unwrap();
        prop_assert_eq!(table.values.data(), &parsed[..], "{}", text);
    }

    #[test]
    fn blanks_separate_like_commas((text, parsed) in tables()) {
        let text = text.replace([',', ';', '\t'], "   ");
        let table = read_csv(text.as_bytes(), &Limits::default()).unwrap();
        prop_assert_eq!(table.values.data(), &parsed[..], "{}", text);
    }

    #[test]
    fn a_changed_bit_in_an_npz_file_is_detected_or_changes_no_number(
        array in arrays(),
        position in any::<prop::sample::Index>(),
        bit in 0_u8..8,
    ) {
        let mut bytes = write_npz(&[("x", &array)]).unwrap();
        let changed = position.index(bytes.len());
        bytes[changed] ^= 1_u8 << bit;
        match read_npz(&bytes, &Limits::default()) {
            Ok(read) => prop_assert!(same(&read[0].1, &array)),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn changed_bytes_never_panic(
        array in arrays(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let seeds = [
            (write_npy(&array), formats::npy as fn(&[u8])),
            (write_npz(&[("x", &array), ("y", &array)]).unwrap(), formats::npz),
            (b"score;member\n0.5;1\n\"2\";0\n# end\n".to_vec(), formats::csv),
            (b"age,dose,ill\n40,0.5,no\n-5,2.5,no\n".to_vec(), formats::table),
            (b"[[1.1, 0.01, 500], [2.0, 0.5, 9]]".to_vec(), formats::accountant),
            (br#"{"type": "GaussianDpEvent", "noise_multiplier": 1.1}"#.to_vec(), formats::accountant),
            (tensor_file(), formats::safetensors),
            (packed(b"1,2\n3,4\n"), formats::gzip),
            (idx_file(&[2, 3, 2]), formats::idx),
            (packed(&idx_file(&[12])), formats::idx),
            (packed(&[0; 2 * 3073]), formats::cifar10),
        ];
        for (mut bytes, target) in seeds {
            for (position, value) in &changes {
                let position = position.index(bytes.len());
                bytes[position] = *value;
            }
            target(&bytes);
            bytes.truncate(cut.index(bytes.len()));
            target(&bytes);
        }
    }

    #[test]
    fn any_bytes_never_panic(bytes in vec(any::<u8>(), 0..200)) {
        formats::npy(&bytes);
        formats::npy(&[&b"\x93NUMPY\x01\x00"[..], &bytes].concat());
        formats::npz(&bytes);
        formats::csv(&bytes);
        formats::table(&[&b"age,dose,ill\n"[..], &bytes].concat());
        formats::accountant(&bytes);
        formats::accountant(&[&b"{\"type\": \""[..], &bytes].concat());
        formats::safetensors(&bytes);
        formats::gzip(&[&b"\x1f\x8b\x08"[..], &bytes].concat());
        formats::idx(&bytes);
        formats::idx(&[&b"\0\0\x08"[..], &bytes].concat());
        formats::cifar10(&bytes);
    }

    #[test]
    fn gzip_output_is_decompressed(content in vec(any::<u8>(), 0..5000), cut in any::<prop::sample::Index>()) {
        let bytes = packed(&content);
        prop_assert_eq!(&*unpack_gzip(&bytes, &Limits::default()).unwrap(), &content[..]);
        let end = cut.index(bytes.len() - 2) + 2;
        prop_assert!(unpack_gzip(&bytes[..end], &Limits::default()).is_err());
    }

    #[test]
    fn idx_files_are_read_completely_or_refused(shape in vec(1_u32..6, 1..5), any_length in 0_usize..2000) {
        let bytes = idx_file(&shape);
        let read = read_idx(&packed(&bytes), &Limits::default()).unwrap();
        let lengths: Vec<usize> = shape.iter().map(|&length| length as usize).collect();
        prop_assert_eq!(read.shape(), &lengths[..]);
        let data = &bytes[4 + 4 * shape.len()..];
        prop_assert_eq!(read.data(), data);
        if any_length != bytes.len() {
            let mut other = bytes.clone();
            other.resize(any_length, 1);
            prop_assert!(read_idx(&other, &Limits::default()).is_err());
        }
    }
}

/// Packed by the crate that unpacks; the corpus holds what Python packed.
fn packed(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn idx_file(shape: &[u32]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, shape.len() as u8];
    bytes.extend(shape.iter().flat_map(|length| length.to_be_bytes()));
    bytes.extend((0..shape.iter().product()).map(|i: u32| (7 * i) as u8));
    bytes
}

fn tensor_file() -> Vec<u8> {
    let header = br#"{"a":{"dtype":"F16","shape":[2,1],"data_offsets":[0,4]}}"#;
    [&(header.len() as u64).to_le_bytes()[..], header, &[0, 60, 0, 124]].concat()
}

#[test]
fn the_comparison_detects_a_changed_bit() {
    let array = Array::new(vec![2], vec![f64::NAN, 1.0]).unwrap();
    let twin = Array::new(vec![2], vec![f64::NAN, 1.0_f64.next_up()]).unwrap();
    assert!(same(&array, &array) && !same(&array, &twin));
    assert!(!same(&array, &Array::new(vec![1, 2], array.data().to_vec()).unwrap()));
}
