//! Audits of recorded scores: files in, result out; nothing leaves the page.

use dpscope_core::adjacency::{Adjacency, World};
use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::audit::claim::PrivacyClaim;
use dpscope_core::audit::curve::AuditCurve;
use dpscope_core::audit::planner::PlannedAudit;
use dpscope_core::audit::trade_off::Trials;
use dpscope_core::audit::{AuditOptions, Finding, Scores, ScoresError};
use dpscope_core::random::content_seed;
use dpscope_formats::{ArrayInfo, FormatError, MissingValues};
use dpscope_report::record::input::ScoresOptions;
use dpscope_report::record::page::{ArrayFacts, FileFacts, ScoresResult};
use dpscope_report::record::{ClaimRecord, ResultRecord, ValueAtCut};
use dpscope_report::words::{Subject, finding_sentence};
use js_sys::Object;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::failure::Failure;
use crate::file::{File, column, opened, unreadable, with_remedy};
use crate::input::read;
use crate::output::{JsResult, columns, to_js, with};
use crate::seed::seed_or_fresh;

/// Names of the two worlds, in files as in options.
const WORLDS: [&str; 2] = ["target", "zero_out"];

/// The scores of a world, one per run.
fn scores_of(
    world: usize,
    files: [Option<File<'_>>; 2],
    count_non_finite: bool,
) -> Result<Vec<f64>, Failure> {
    let field = WORLDS[world];
    let file = files[world].or(files[0]).ok_or_else(|| Failure::missing(field))?;
    let refused = |why: &dyn std::fmt::Display| unreadable(field, file.name, why);
    let missing = if count_non_finite { MissingValues::Nan } else { MissingValues::Refused };
    let dataset = opened(file, missing).map_err(|why| refused(&why))?;
    let array = match (dataset.array(field), files[1]) {
        // One file for both worlds must name them.
        (Err(FormatError::NotFound { .. }), Some(_)) => dataset.into_only(),
        (array, _) => array,
    };
    let array = array.map_err(|error| refused(&with_remedy(&error)))?;
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
        threshold_rule: options.threshold_rule.unwrap_or(ThresholdRule::Split),
        delta: options.delta,
        significance: options.significance,
        cuts: PlannedAudit::DEFAULT_CUTS,
        seed,
    };
    let scores = Scores::new(&target, &zero_out);
    let result = scores.audit(&audit)?;
    let result = if is_reversed { result.reversed() } else { result };
    let claim = options.claim.map(|epsilon| {
        let claim = PrivacyClaim { epsilon, delta: options.delta, adjacency: Adjacency::AddRemove };
        ClaimRecord::new(claim, &result, Subject::Scores)
    });
    let claim = claim
        .transpose()
        .map_err(|error| Failure { field: Some("claim"), ..Failure::rejected(&error) })?;
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
        evaluated: result.evidence().trials,
        claim,
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
            ScoresError::TooFew { world, .. } | ScoresError::Labels { world } => {
                Some(WORLDS[world.index()])
            }
            ScoresError::Rule => Some("threshold_rule"),
            _ => None,
        };
        Failure { field, ..Failure::rejected(&error) }
    }
}

/// Audits the scores of two worlds, one number per run: npy, npz, csv or safetensors files.
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
    let dataset =
        opened(file, MissingValues::Refused).map_err(|why| unreadable("file", file.name, &why))?;
    let facts = |info: ArrayInfo| {
        let ArrayInfo { name, dtype, shape, readable } = info;
        ArrayFacts { name, dtype, shape, readable }
    };
    let arrays = dataset
        .describe()
        .map_err(|why| unreadable("file", file.name, &why))?
        .into_iter()
        .map(facts)
        .collect();
    Ok(FileFacts { format: dataset.format().to_string(), arrays })
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::example;
