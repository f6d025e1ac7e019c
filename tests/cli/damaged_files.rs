//! Files that no audit can read: the message names the file and what to change.

use std::fs;

use dpscope_formats::{Array, write_npz};

use crate::Folder;
use crate::trainer::{bytes, npy, npy_f8, npy_header, safetensors};

/// Name, content, and what the message must contain in addition to the name.
fn damaged() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let npy_of =
        |descr: &str, axes: &str, data: usize| npy_header(descr, "False", axes, &vec![0; data]);
    let good = npy_f8(&[4], &[1.0, 2.0, 3.0, 4.0]);
    let array = Array::new(vec![2], vec![0.0; 2]).unwrap();
    let two = write_npz(&[("a", &array), ("b", &array)]).unwrap();
    let mut cut_zip = two.clone();
    cut_zip.truncate(two.len() - 30);
    let tensors = safetensors(&[2], &[vec![0.0; 2], vec![0.0; 2]]);
    vec![
        ("empty.npy", Vec::new(), "empty"),
        ("no_values.npy", npy_of("'<f8'", "0,", 0), "no elements"),
        ("no_columns.npy", npy_of("'<f8'", "4, 0", 0), "no elements"),
        ("complex.npy", npy_of("'<c16'", "1,", 16), "complex128"),
        ("object.npy", npy_of("'|O'", "1,", 8), "object"),
        ("fields.npy", npy_of("[('a', '<f8')]", "1,", 8), "dtype"),
        ("text.npy", npy_of("'<U4'", "1,", 16), "dtype"),
        ("dates.npy", npy_of("'<M8[s]'", "1,", 8), "dtype"),
        ("cut.npy", good[..good.len() - 3].to_vec(), "truncated"),
        ("cut_header.npy", good[..20].to_vec(), "header"),
        ("longer.npy", [&good[..], b"12345678"].concat(), "8 bytes follow"),
        ("absurd.npy", npy_of("'<f8'", "1000000000000000,", 64), "1000000000000000"),
        ("overflow.npy", npy_of("'<f8'", "4294967296, 4294967296, 4294967296", 64), "shape"),
        ("negative.npy", npy_of("'<f8'", "-4,", 32), "header"),
        ("not_npy.npy", b"PICKLE".to_vec(), "not"),
        ("words.csv", b"1,2\n3,four\n".to_vec(), "line 2, column 2: `four`"),
        ("ragged.csv", b"1,2\n3\n".to_vec(), "line 2 has 1 cells"),
        ("gap.csv", b"1,2\n3,\n".to_vec(), "line 2, column 2 is empty"),
        ("header_only.csv", b"a,b\n".to_vec(), "no rows of numbers"),
        ("nothing.csv", Vec::new(), "no rows"),
        ("latin.csv", b"1\n\xe9\n".to_vec(), "UTF-8"),
        ("two.npz", two, "`a`, `b`"),
        ("cut.npz", cut_zip, "npz"),
        ("not_zip.npz", b"hello".to_vec(), "not"),
        ("cut.safetensors", tensors[..tensors.len() - 1].to_vec(), "header"),
        ("huge.safetensors", [&u64::MAX.to_le_bytes()[..], b"{}"].concat(), "header"),
        ("picture.png", b"\x89PNG\r\n\x1a\n".to_vec(), "npy, npz, safetensors or csv"),
    ]
}

#[test]
fn damaged_files_are_rejected_with_their_name() {
    let folder = Folder::new();
    folder.write("good.npy", npy_f8(&[4, 1], &[1.0, 2.0, 3.0, 4.0]));
    for (name, content, part) in damaged() {
        folder.write(name, &content);
        for words in [
            format!("audit scores --target {name} --zero-out good.npy"),
            format!("audit scores --target good.npy --zero-out {name}"),
            format!("audit outputs --target {name} --zero-out good.npy --noise-multiplier 1"),
        ] {
            let message = folder.run(&format!("{words} --json")).refuses(2, &[name, part]).stderr;
            assert!(!message.trim_end().contains('\n') && message.len() < 1000, "{message}");
        }
        assert!(folder.read(name) == content, "{name}");
    }
}

#[test]
fn both_worlds_are_checked_for_damage() {
    let folder = Folder::new();
    for (name, content, _) in damaged() {
        folder.write(name, &content);
        folder.run(&format!("audit outputs {name} --noise-multiplier 1")).refuses(2, &[name]);
    }
    let pair = |target: &[usize], zero_out: &[usize]| {
        let array = |shape: &[usize]| {
            Array::new(shape.to_vec(), vec![0.5; shape.iter().product()]).unwrap()
        };
        write_npz(&[("target", &array(target)), ("zero_out", &array(zero_out))]).unwrap()
    };
    let words = "audit outputs runs.npz --noise-multiplier 1 --batch-size 4";
    folder.write("runs.npz", pair(&[6, 2, 5], &[6, 5, 2]));
    folder.run(words).refuses(2, &["2 epochs of 5 steps", "5 of 2"]);
    folder.write("runs.npz", pair(&[1, 5], &[6, 5]));
    folder.run(words).refuses(2, &["1 runs in the target world"]);
    folder.write("runs.npz", pair(&[6, 5], &[4, 5]));
    folder.run(words).exits(0);
    for (number, value) in [
        ("batch_size", 1.5),
        ("batch_size", f64::NAN),
        ("noise_multiplier", 0.0),
        ("clip_norm", f64::NAN),
    ] {
        let array = Array::new(vec![6, 5], vec![0.5; 30]).unwrap();
        let value = Array::new(vec![], vec![value]).unwrap();
        let arrays = [("target", &array), ("zero_out", &array), (number, &value)];
        folder.write("runs.npz", write_npz(&arrays).unwrap());
        let words =
            if number == "noise_multiplier" { "--batch-size 4" } else { "--noise-multiplier 1" };
        folder.run(&format!("audit outputs runs.npz {words}")).refuses(2, &[number]);
    }
}

#[test]
fn directories_and_absent_files_are_rejected() {
    let folder = Folder::new();
    folder.write("good.npy", npy("<f8", false, &[2], &bytes(&[0.0, 1.0])));
    fs::create_dir(folder.at("folder.npy")).unwrap();
    for (name, part) in [("folder.npy", "directory"), ("absent.npy", "cannot be read")] {
        folder
            .run(&format!("audit scores --target {name} --zero-out good.npy"))
            .refuses(2, &[name, part]);
        folder.run(&format!("audit outputs {name} --noise-multiplier 1")).refuses(2, &[name, part]);
    }
    let turned = "audit scores --target a\u{202e}b.npy --zero-out good.npy";
    let message = folder.run(turned).refuses(2, &["a\\u{202e}b.npy: "]).stderr;
    assert!(!message.contains('\u{202e}'), "{message}");
}
