//! Audits of recorded scores: files in, result out; nothing leaves the page.

use dpscope_core::adjacency::World;
use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::audit::curve::AuditCurve;
use dpscope_core::audit::planner::PlannedAudit;
use dpscope_core::audit::trade_off::Trials;
use dpscope_core::audit::{AuditOptions, Finding, Scores, ScoresError};
use dpscope_core::random::content_seed;
use dpscope_formats::{Array, ArrayInfo, Dataset, FormatError, Limits};
use dpscope_report::record::input::ScoresOptions;
use dpscope_report::record::page::{ArrayFacts, FileFacts, ScoresResult};
use dpscope_report::record::{ResultRecord, ValueAtCut};
use dpscope_report::words::finding_sentence;
use js_sys::Object;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::failure::{Failure, FailureKind};
use crate::input::read;
use crate::output::{JsResult, columns, to_js, with};
use crate::seed::seed_or_fresh;

/// Names of the two worlds, in files as in options.
const WORLDS: [&str; 2] = ["target", "zero_out"];

/// Limits of a page: 128 MiB per file, 8 million numbers.
fn limits() -> Limits {
    Limits { max_arrays: 1 << 10, ..Limits::for_memory(128 << 20) }
}

/// A file of a page.
#[derive(Debug, Clone, Copy)]
struct File<'a> {
    bytes: &'a [u8],
    name: &'a str,
}

fn unreadable(field: &'static str, name: &str, why: &impl std::fmt::Display) -> Failure {
    let message = format!("{name}: {why}");
    Failure { field: Some(field), ..Failure::of(FailureKind::File, &message) }
}

/// The scores of a world, one per run.
fn scores_of(
    world: usize,
    files: [Option<File<'_>>; 2],
    count_non_finite: bool,
) -> Result<Vec<f64>, Failure> {
    let field = WORLDS[world];
    let file = files[world].or(files[0]).ok_or_else(|| Failure::missing(field))?;
    let refused = |why: &dyn std::fmt::Display| unreadable(field, file.name, &why);
    let dataset = Dataset::open(file.bytes, file.name, &limits()).map_err(|e| refused(&e))?;
    let array = match (dataset.array(field), files[1]) {
        // One file for both worlds must name them.
        (Err(FormatError::NotFound { .. }), Some(_)) => dataset.into_only(),
        (array, _) => array,
    };
    let array = array.map_err(|error| refused(&error))?;
    let found = array.non_finite().filter(|_| !count_non_finite);
    if let Some(found) = found {
        return Err(refused(&format!(
            "it contains {} values that are not finite, the first ({}) at index {:?}; repair or \
             remove those runs, or count them against the attack",
            found.count, found.value, found.index
        )));
    }
    column(array).map_err(|shape| {
        refused(&format!("it has shape {shape:?}; it must have one score per run"))
    })
}

/// The numbers of an array of which every axis but one has length 1; else its shape.
fn column(array: Array) -> Result<Vec<f64>, Vec<usize>> {
    let (shape, data) = array.into_parts();
    if shape.iter().filter(|&&length| length > 1).count() > 1 { Err(shape) } else { Ok(data) }
}

fn audited(
    files: [Option<File<'_>>; 2],
    options: &ScoresOptions,
) -> Result<(ScoresResult, AuditCurve), Failure> {
    let is_reversed = options.higher_means == Some(World::ZeroOut);
    let count_non_finite = options.count_non_finite.unwrap_or(false);
    let [mut target, mut zero_out] =
        [scores_of(0, files, count_non_finite)?, scores_of(1, files, count_non_finite)?];
    if is_reversed {
        target.iter_mut().chain(&mut zero_out).for_each(|score| *score = -*score);
    }
    let seed = match options.seed.as_deref() {
        None | Some("") => content_seed([&target, &zero_out]),
        Some(seed) => seed_or_fresh(seed)?,
    };
    let audit = AuditOptions {
        threshold_rule: options.threshold_rule.unwrap_or(ThresholdRule::Simultaneous),
        delta: options.delta,
        significance: options.significance,
        cuts: PlannedAudit::DEFAULT_CUTS,
        seed,
    };
    let scores = Scores::new(&target, &zero_out);
    let result = scores.audit(&audit)?;
    let result = if is_reversed { result.reversed() } else { result };
    let curve = scores.curve(&audit, true)?;
    let runs = Trials { target: target.len() as u64, zero_out: zero_out.len() as u64 };
    let failed = |finding: &Finding| match *finding {
        Finding::FailedRuns { target, zero_out } => Some(Trials { target, zero_out }),
        _ => None,
    };
    let non_finite = result.findings().iter().find_map(failed);
    let non_finite = non_finite.unwrap_or(Trials { target: 0, zero_out: 0 });
    let found = ScoresResult {
        result: ResultRecord::from(&result),
        observations: runs.target + runs.zero_out,
        runs,
        non_finite,
        uncorrected_maximum: ValueAtCut::of_uncorrected_maximum(&result),
        seed: audit.seed.to_string(),
        findings: result.findings().iter().map(finding_sentence).collect(),
        version: env!("CARGO_PKG_VERSION"),
    };
    Ok((found, curve))
}

impl From<ScoresError> for Failure {
    fn from(error: ScoresError) -> Self {
        let field = match &error {
            ScoresError::TooFew { world: World::Target, .. } => Some("target"),
            ScoresError::TooFew { .. } => Some("zero_out"),
            ScoresError::Rule => Some("threshold_rule"),
            _ => None,
        };
        Failure { field, ..Failure::rejected(&error) }
    }
}

/// Audits the scores of two worlds, one number per run: npy or csv files.
///
/// The array with the name of its world is used, or else the only one of its file. One file may contain
/// both worlds, if it names them.
///
/// # Errors
/// A file that cannot be read, or too few runs.
#[wasm_bindgen(unchecked_return_type = "ScoresResult")]
pub fn audit_scores(
    target: &[u8],
    target_name: &str,
    zero_out: Option<Box<[u8]>>,
    zero_out_name: Option<String>,
    #[wasm_bindgen(unchecked_param_type = "ScoresOptions")] options: &JsValue,
) -> Result<Object, Failure> {
    let name = zero_out_name.unwrap_or_default();
    let zero_out = zero_out.as_deref().map(|bytes| File { bytes, name: &name });
    let (found, curve) = audited(
        [Some(File { bytes: target, name: target_name }), zero_out],
        &read(options, "options")?,
    )?;
    with(to_js(&found)?.unchecked_into(), [("curve", columns(&curve)?.into())])
}

/// The arrays of a file, before it is audited.
///
/// # Errors
/// A file that cannot be read.
#[wasm_bindgen(unchecked_return_type = "FileFacts")]
pub fn describe_file(bytes: &[u8], name: &str) -> JsResult {
    to_js(&described(File { bytes, name })?)
}

fn described(file: File<'_>) -> Result<FileFacts, Failure> {
    let refused = |error| unreadable("file", file.name, &error);
    let dataset = Dataset::open(file.bytes, file.name, &limits()).map_err(refused)?;
    let facts = |info: ArrayInfo| {
        let ArrayInfo { name, dtype, shape, readable } = info;
        ArrayFacts { name, dtype, shape, readable }
    };
    let arrays = dataset.describe().map_err(refused)?.into_iter().map(facts).collect();
    Ok(FileFacts { format: dataset.format().to_string(), arrays })
}

#[cfg(test)]
pub(super) mod tests {
    use dpscope_core::audit::{OutcomeKind, TargetSide};
    use dpscope_formats::write_npy;

    use super::*;
    use crate::input::Value;
    use crate::input::tests::{of_fields, text};

    fn options() -> ScoresOptions {
        options_with(&[]).unwrap()
    }

    fn options_with(changes: &[(&'static str, Value)]) -> Result<ScoresOptions, Failure> {
        let mut fields = vec![
            ("delta", Value::Number(1e-5)),
            ("significance", Value::Number(0.05)),
            ("seed", text("3")),
        ];
        fields.extend_from_slice(changes);
        of_fields(&fields)
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
        for (bytes, format, shape) in [(&npy[..], "npy", "(9,)"), (b"1,2\n3,4\n", "csv", "(2, 2)")]
        {
            let facts = described(File { bytes, name: "x.csv" }).unwrap();
            assert_eq!((facts.format.as_str(), facts.arrays[0].shape.as_str()), (format, shape));
        }
        assert!(described(File { bytes: b"", name: "x" }).is_err());
    }
}
