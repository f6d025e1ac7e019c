use dpscope_core::audit::{OutcomeKind, TargetSide};
use dpscope_formats::{Array, write_npy, write_npz};

use super::*;
use crate::failure::FailureKind;
use crate::file::limits;
use crate::input::Value;
use crate::input::tests::{of_fields, text};

fn options() -> ScoresOptions {
    options_with(&[]).unwrap()
}

fn options_with(changes: &[(&'static str, Value)]) -> Result<ScoresOptions, Failure> {
    let defaults = [
        ("delta", Value::Number(1e-5)),
        ("significance", Value::Number(0.05)),
        ("seed", text("3")),
    ];
    of_fields(&[changes, &defaults].concat())
}

fn scores(n: usize, shift: f64) -> Array {
    let uniform = |i: usize| (i as f64 * 0.618_033_988_749_894_9).fract();
    Array::new(vec![n], (0..n).map(|i| shift + 4.0 * uniform(i)).collect()).unwrap()
}

/// Columns of a csv file.
fn columns_of(target: &Array, zero_out: &Array) -> Vec<u8> {
    let rows = target.data().iter().zip(zero_out.data());
    let rows: String = rows.map(|(d, d_prime)| format!("{d},{d_prime}\n")).collect();
    format!("target,zero_out\n{rows}").into_bytes()
}

fn audit(
    target: &[u8],
    zero_out: Option<&[u8]>,
    options: &ScoresOptions,
) -> Result<ScoresResult, Failure> {
    let name = "<b>scores</b>.csv";
    let file = |bytes| File { bytes, name };
    audited([Some(file(target)), zero_out.map(file)], options).map(|(found, _)| found)
}

/// A result without its curve, and the content of a file.
pub(crate) fn example() -> (serde_json::Value, FileFacts) {
    let csv = columns_of(&scores(30, 1.0), &scores(30, 0.0));
    let found = audit(&csv, None, &options()).unwrap();
    let facts = described(File { bytes: &csv, name: "x.csv" }).unwrap();
    (serde_json::to_value(found).unwrap(), facts)
}

#[test]
fn one_file_with_both_worlds_equals_two_files() {
    let (target, zero_out) = (scores(3000, 1.0), scores(3000, 0.0));
    let two = audit(&write_npy(&target), Some(&write_npy(&zero_out)), &options()).unwrap();
    let both = columns_of(&target, &zero_out);
    assert_eq!(audit(&both, None, &options()).unwrap(), two);
    assert_eq!((two.observations, two.result.kind), (6000, OutcomeKind::Bound));
    assert!(two.result.epsilon > 0.5, "{two:?}");
    let swapped = columns_of(&zero_out, &target);
    assert!(audit(&swapped, None, &options()).unwrap().result.epsilon < 0.5);
}

#[test]
fn lower_scores_may_mean_the_target() {
    let (target, zero_out) = (scores(3000, 1.0), scores(2000, 0.0));
    let negated = |array: &Array| {
        let data = array.data().iter().map(|score| -score).collect();
        write_npy(&Array::new(vec![array.data().len()], data).unwrap())
    };
    let reversed = options_with(&[("higher_means", text("zero-out"))]).unwrap();
    let found = audit(&negated(&target), Some(&negated(&zero_out)), &reversed).unwrap();
    let plain = audit(&write_npy(&target), Some(&write_npy(&zero_out)), &options()).unwrap();
    assert_eq!(found.result.epsilon, plain.result.epsilon);
    assert_eq!(found.result.target_if_score, TargetSide::Below);
    let minus = |threshold: Option<f64>| threshold.map(|threshold| -threshold);
    assert_eq!(found.result.threshold, minus(plain.result.threshold));
    let uncorrected = |found: &ScoresResult| found.uncorrected_maximum.unwrap().threshold;
    assert_eq!(uncorrected(&found), minus(uncorrected(&plain)));
}

#[test]
fn one_file_without_names_of_worlds_is_rejected() {
    for bytes in [write_npy(&scores(100, 0.0)), b"1\n2\n3\n".to_vec()] {
        assert_eq!(audit(&bytes, None, &options()).unwrap_err().kind, FailureKind::File);
    }
}

#[test]
fn failed_runs_are_rejected_or_counted_and_reported() {
    let (target, zero_out) = (b"1\nnan\n3\n4\n", b"0\n1\ninf\n-1\n");
    let refused = audit(target, Some(zero_out), &options()).unwrap_err();
    assert!(refused.message.contains("1 values that are not finite"), "{refused:?}");
    let counted = options_with(&[("count_non_finite", Value::Flag(true))]).unwrap();
    let found = audit(target, Some(zero_out), &counted).unwrap();
    assert_eq!(found.non_finite, Trials { target: 1, zero_out: 1 });
    assert_eq!(found.findings.len(), 1);
}

#[test]
fn hostile_files_are_rejected_with_their_name_and_field() {
    let good = write_npy(&scores(100, 0.0));
    let huge = {
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,), }\n";
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes
    };
    let square = write_npy(&Array::new(vec![10, 10], vec![0.0; 100]).unwrap());
    let wide = b"a,b\n1,2\n3,4\n".to_vec();
    let markup = b"<script>alert(1)</script>\n".to_vec();
    for bytes in [&b""[..], b"\x80\x04x", &good[..90], &huge, &square, &wide, &markup] {
        for (files, field) in
            [((bytes, Some(&good[..])), "target"), ((&good[..], Some(bytes)), "zero_out")]
        {
            let failure = audit(files.0, files.1, &options()).unwrap_err();
            assert_eq!(failure.kind, FailureKind::File, "{failure:?}");
            assert_eq!(failure.field, Some(field));
            assert!(failure.message.starts_with("<b>scores</b>.csv: "), "{failure:?}");
        }
    }
}

#[test]
fn options_outside_their_domain_are_named() {
    let good = write_npy(&scores(100, 0.0));
    let bad = [
        ("higher_means", text("up")),
        ("threshold_rule", text("fixed")),
        ("count_non_finite", Value::Number(1.0)),
    ];
    for change in bad {
        let options = options_with(std::slice::from_ref(&change));
        let result = options.and_then(|options| audit(&good, Some(&good), &options));
        let failure = result.unwrap_err();
        assert_eq!(failure.field, Some(change.0));
    }
    let few = audit(b"1\n", Some(&good), &options()).unwrap_err();
    assert_eq!((few.kind, few.field), (FailureKind::Input, Some("target")));
}

#[test]
fn files_are_described() {
    let npy = write_npy(&scores(9, 0.0));
    for (bytes, format, shape) in [(&npy[..], "npy", "(9,)"), (b"1,2\n3,4\n", "csv", "(2, 2)")] {
        let facts = described(File { bytes, name: "x.csv" }).unwrap();
        assert_eq!((facts.format.as_str(), facts.arrays[0].shape.as_str()), (format, shape));
    }
    assert!(described(File { bytes: b"", name: "x" }).is_err());
}

/// A file that NumPy or safetensors wrote: `web/tests/files/make.py`.
macro_rules! written {
    ($name:literal) => {
        File { bytes: include_bytes!(concat!("../../../../web/tests/files/", $name)), name: $name }
    };
}

fn audited_files(target: File<'_>, zero_out: Option<File<'_>>) -> Result<ScoresResult, Failure> {
    audited([Some(target), zero_out], &options()).map(|(found, _)| found)
}

#[test]
fn containers_written_by_numpy_and_safetensors_equal_npy() {
    let steps = |n: u32, first: f64| {
        let data = (0..n).map(|i| first + f64::from(i) / 128.0).collect();
        write_npy(&Array::new(vec![n as usize], data).unwrap())
    };
    let expected =
        audit(&steps(600, 1.5 + 1.0 / 256.0), Some(&steps(500, 0.0)), &options()).unwrap();
    assert!(expected.result.epsilon > 1.0, "{expected:?}");
    let both = [
        written!("float64.npz"),
        written!("float32.npz"),
        written!("float64.safetensors"),
        written!("float32.safetensors"),
    ];
    for file in both {
        assert_eq!(audited_files(file, None).unwrap(), expected, "{}", file.name);
        assert_eq!(audited_files(file, Some(file)).unwrap(), expected, "{}", file.name);
    }
    let (target, zero_out) = (written!("one_target.npz"), written!("one_zero_out.npz"));
    assert_eq!(audited_files(target, Some(zero_out)).unwrap(), expected);
}

#[test]
fn a_missing_array_is_named_with_those_that_are_there() {
    let failure = audited_files(written!("named_otherwise.npz"), None).unwrap_err();
    assert_eq!((failure.kind, failure.field), (FailureKind::File, Some("target")));
    for part in ["named_otherwise.npz", "`target`", "members", "others"] {
        assert!(failure.message.contains(part), "{failure:?}");
    }
}

#[test]
fn containers_are_described_without_their_scores() {
    let facts = described(written!("float32.safetensors")).unwrap();
    let arrays = facts.arrays.iter().map(|array| (array.name.as_str(), array.shape.as_str()));
    assert!(arrays.eq([("target", "(600,)"), ("zero_out", "(500,)")]), "{facts:?}");
    assert_eq!(facts.format, "safetensors");
}

#[test]
fn an_array_beyond_the_limit_is_rejected_with_a_remedy() {
    let most = limits().max_elements as usize;
    let large = Array::new(vec![most + 1], vec![0.0; most + 1]).unwrap();
    let bytes = write_npz(&[("target", &large)]).unwrap();
    let file = File { bytes: &bytes, name: "large.npz" };
    let failure = audited_files(file, None).unwrap_err();
    for part in ["8388609", "dpscope audit"] {
        assert!(failure.message.contains(part), "{failure:?}");
    }
}

#[test]
fn damaged_containers_are_rejected() {
    for whole in [written!("float32.npz"), written!("float32.safetensors")] {
        for end in [4, 9, 200, whole.bytes.len() - 1] {
            let bytes = &whole.bytes[..end];
            let failure = audited_files(File { bytes, ..whole }, None).unwrap_err();
            assert_eq!(failure.kind, FailureKind::File, "{} at {end}", whole.name);
        }
    }
}

#[test]
fn identical_files_are_rejected_and_reversed_scores_reported() {
    let file = written!("one_target.npz");
    let failure = audited_files(file, Some(file)).unwrap_err();
    assert!(failure.message.contains("identical in all 600 runs"), "{failure:?}");
    let swapped = audited_files(written!("one_zero_out.npz"), Some(file)).unwrap();
    assert!(swapped.findings[0].contains("swap the two worlds"), "{swapped:?}");
    assert_eq!(audited_files(file, Some(written!("one_zero_out.npz"))).unwrap().findings, [""; 0]);
}

#[test]
fn a_claim_is_tested_against_the_bound() {
    use dpscope_core::audit::claim::Verdict::{self, Inconclusive, NotRefuted, Refuted};
    let (target, zero_out) = (write_npy(&scores(3000, 1.0)), write_npy(&scores(3000, 0.0)));
    let outcome = |claim, changes: &[(&'static str, Value)]| -> Verdict {
        let mut fields = vec![("claim", Value::Number(claim))];
        fields.extend_from_slice(changes);
        let found = audit(&target, Some(&zero_out), &options_with(&fields).unwrap()).unwrap();
        found.claim.unwrap().verdict.outcome
    };
    let estimate = [("threshold_rule", text("max-uncorrected"))];
    assert_eq!(outcome(0.1, &[]), Refuted);
    assert_eq!(outcome(5.7, &[]), NotRefuted);
    assert_eq!(outcome(9.0, &[]), Inconclusive);
    assert_eq!(outcome(0.1, &estimate), Inconclusive);
    let negative = options_with(&[("claim", Value::Number(-1.0))]).unwrap();
    let failure = audit(&target, Some(&zero_out), &negative).unwrap_err();
    assert_eq!(failure.field, Some("claim"));
}

#[test]
fn evaluated_runs_are_those_that_chose_no_threshold() {
    let (target, zero_out) = (write_npy(&scores(3000, 1.0)), write_npy(&scores(2000, 0.0)));
    let split = options_with(&[("threshold_rule", text("split"))]).unwrap();
    let found = audit(&target, Some(&zero_out), &split).unwrap();
    assert_eq!(found.runs, Trials { target: 3000, zero_out: 2000 });
    assert_eq!(found.evaluated, Trials { target: 2700, zero_out: 1800 });
}

#[test]
fn a_seed_that_is_not_given_is_derived_from_the_scores() {
    let (target, zero_out) = (write_npy(&scores(300, 1.0)), write_npy(&scores(300, 0.0)));
    let seed = |changes: &[(&'static str, Value)], target: &[u8]| {
        audit(target, Some(&zero_out), &options_with(changes).unwrap()).unwrap().seed
    };
    let derived = seed(&[("seed", text(""))], &target);
    assert_eq!(seed(&[("seed", text(""))], &target), derived);
    assert_ne!(seed(&[("seed", text(""))], &write_npy(&scores(300, 0.9))), derived);
    assert_eq!(seed(&[], &target), "3");
}
