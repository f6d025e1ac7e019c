//! Targets of dpscope-formats: any bytes give arrays within the limits, or a message that can be
//! shown.

use dpscope_formats::accountants::{AccountantRecord, read_accountant_record};
use dpscope_formats::table::{Column, ColumnKind, Schema, read_table, write_table};
use dpscope_formats::{
    Array, ByteArray, CanariesDigest, Dataset, Limits, is_idx, read_cifar10, read_csv, read_idx,
    read_npy, read_npz, read_safetensors, unpack_gzip, write_npy,
};

/// Small enough to detect a reader that ignores them.
pub fn limits() -> Limits {
    Limits {
        max_elements: 1 << 14,
        max_bytes: 1 << 17,
        max_arrays: 64,
        max_name_bytes: 256,
        max_header_bytes: 1 << 14,
        max_dimensions: 32,
        max_cell_bytes: 256,
    }
}

/// Any bytes as an npy file.
pub fn npy(bytes: &[u8]) {
    accept(read_npy(bytes, &limits()), check);
    accept(CanariesDigest::of_file(bytes, &limits()), |_| ());
}

/// Any bytes as an npz file.
pub fn npz(bytes: &[u8]) {
    accept(read_npz(bytes, &limits()), |arrays| check_all(arrays));
    accept(CanariesDigest::of_file(bytes, &limits()), |_| ());
    one_door(bytes, "x.npz");
}

/// Any bytes as a csv file.
pub fn csv(bytes: &[u8]) {
    accept(read_csv(bytes, &limits()), |table| {
        check(&table.values);
        let columns = table.columns.iter().flatten();
        assert!(columns.count() as u64 <= limits().max_arrays);
    });
}

/// Any bytes as a table with public bounds: what is read lies within them, and is written as it was read.
pub fn table(bytes: &[u8]) {
    let names = ["no", "yes, \"often\""].map(String::from).to_vec();
    let columns = [
        ("age", ColumnKind::Integer { low: -5, high: 120 }),
        ("dose", ColumnKind::Number { low: 0.0, high: 2.5 }),
        ("ill", ColumnKind::Category { names }),
    ];
    let columns = columns.map(|(name, kind)| Column { name: name.to_string(), kind });
    let schema = Schema::new(columns.to_vec()).expect("the columns are valid");
    accept(read_table(bytes, &schema, &limits()), |rows| {
        assert!(rows.values.len() as u64 <= limits().max_elements);
        for row in rows.iter() {
            let [age, dose, ill] = [row[0], row[1], row[2]];
            assert_eq!(row.len(), 3);
            assert!((-5.0..=120.0).contains(&age) && age.fract() == 0.0, "{age}");
            assert!((0.0..=2.5).contains(&dose), "{dose}");
            assert!([0.0, 1.0].contains(&ill), "{ill}");
        }
        let written = write_table(&schema, rows);
        let again = read_table(written.as_bytes(), &schema, &Limits::default());
        assert_eq!(again.expect("a table is writable").values, rows.values);
    });
}

/// Any bytes as a record of another accountant: what is read lies within its domain.
pub fn accountant(bytes: &[u8]) {
    accept(read_accountant_record(bytes), |record| match record {
        AccountantRecord::DpEvent(phases) | AccountantRecord::Opacus(phases) => {
            let steps: u64 = phases.iter().map(|phase| phase.steps).sum();
            assert!(steps <= 1_000_000_000, "{steps}");
            for phase in phases {
                assert!(phase.noise_multiplier > 0.0 && phase.noise_multiplier.is_finite());
                assert!(phase.sampling_rate > 0.0 && phase.sampling_rate <= 1.0);
                assert!(phase.steps > 0);
            }
        }
        AccountantRecord::Tree(tree) => {
            assert!(tree.noise_multiplier > 0.0 && tree.steps >= 1);
        }
        AccountantRecord::Flower(flower) => {
            assert!(flower.noise_multiplier > 0.0 && flower.noise_multiplier.is_finite());
            assert!(flower.sampled_clients > 0 && flower.rounds != Some(0));
            assert!(flower.clients.is_none_or(|clients| clients >= flower.sampled_clients));
        }
    });
}

/// Any bytes as a safetensors file.
pub fn safetensors(bytes: &[u8]) {
    accept(read_safetensors(bytes, &limits()), |arrays| check_all(arrays));
    one_door(bytes, "x.safetensors");
}

/// Any bytes as a gzip file.
pub fn gzip(bytes: &[u8]) {
    accept(unpack_gzip(bytes, &limits()), |content| {
        assert!(content.len() as u64 <= limits().max_bytes);
    });
}

/// Any bytes as an IDX file, packed by gzip or not.
pub fn idx(bytes: &[u8]) {
    let read = read_idx(bytes, &limits());
    if is_idx(bytes) && read.is_err() {
        let axes = bytes.get(3).map_or(0, |&axes| u64::from(axes));
        let size = bytes.len() as u64;
        assert!(axes > limits().max_dimensions || size > limits().max_elements, "{read:?}");
    }
    accept(read, check_bytes);
}

/// Any bytes as CIFAR-10's records, packed by gzip or not.
pub fn cifar10(bytes: &[u8]) {
    accept(read_cifar10(bytes, &limits()), |read| {
        check_bytes(&read.images);
        assert_eq!(read.images.shape(), [read.labels.len(), 3, 32, 32]);
        assert!(read.labels.iter().all(|&label| label < 10));
    });
}

fn check_bytes(array: &ByteArray) {
    let elements = array.data().len();
    assert_eq!(array.shape().iter().product::<usize>(), elements);
    assert!(elements >= 1 && elements as u64 <= limits().max_elements);
    assert!(array.shape().len() as u64 <= limits().max_dimensions);
}

/// Each array of a container by its name.
fn one_door(bytes: &[u8], file_name: &str) {
    accept(Dataset::open(bytes, file_name, &limits()), |dataset| {
        accept(dataset.describe(), |_| {});
        for name in dataset.names() {
            accept(dataset.array(name), check);
        }
    });
}

fn check_all(arrays: &[(String, Array)]) {
    let elements: usize = arrays.iter().map(|(_, array)| array.data().len()).sum();
    assert!(elements as u64 <= limits().max_elements);
    for (_, array) in arrays {
        check(array);
    }
}

/// An array that was read satisfies its invariants, and preserves its bits when it is written and read again.
pub fn check(array: &Array) {
    let elements = array.data().len();
    assert_eq!(array.shape().iter().product::<usize>(), elements);
    assert!(elements >= 1 && elements as u64 <= limits().max_elements);
    if let Some(found) = array.non_finite() {
        assert!(found.count <= elements && !found.value.is_finite());
    }
    let again = read_npy(&write_npy(array), &Limits::default()).expect("an array is writable");
    assert_eq!(again.shape(), array.shape());
    let bits = |array: &Array| array.data().iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&again), bits(array));
}

/// A message is one line without control characters, and not long.
pub fn accept<T, E: std::fmt::Display>(result: Result<T, E>, check: impl FnOnce(&T)) {
    match result {
        Ok(value) => check(&value),
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && message.len() < 4096, "{message}");
            assert!(!message.chars().any(char::is_control), "{message:?}");
        }
    }
}
