//! What `audit outputs` and `audit scores` share: arrays in, report out.

use std::path::Path;

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::Outcome;
use dpscope_core::bound::{EpsilonEstimate, ThresholdRule};
use dpscope_core::trade_off::Trials;
use dpscope_engine::{Plan, RecordedAudit};
use dpscope_formats::{Array, Dataset, Limits};

use super::independence::Independence;
use crate::args::{ClaimArgs, StatementArgs};
use crate::failure::Failure;
use crate::files::read;
use crate::report::{ClaimFields, Observations, Report, ResultFields, Subject};
use crate::seed::SeedSource;

/// The only array of a file.
pub(crate) fn only_array(path: &Path) -> Result<Array, Failure> {
    let limits = Limits::default();
    let bytes = read(path, &limits)?;
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let array = Dataset::open(&bytes, &name, &limits).and_then(Dataset::into_only);
    array.map_err(|error| Failure::from(error).about(path))
}

/// Refuses NaN and infinity, unless failed runs are to be counted.
pub(crate) fn check_finite(array: &Array, path: &Path, count: bool) -> Result<(), Failure> {
    match array.non_finite() {
        Some(found) if !count => Err(Failure::input(format!(
            "holds {} values that are not finite, the first ({}) at index {:?}; repair or remove \
             those runs, or pass --count-non-finite to count them against the attack",
            found.count, found.value, found.index
        ))
        .about(path)),
        _ => Ok(()),
    }
}

/// Scores of both worlds with what was found on the way.
pub(crate) struct Recorded<'a> {
    pub(crate) subject: Subject,
    pub(crate) target: &'a [f64],
    pub(crate) zero_out: &'a [f64],
    pub(crate) outcome: Outcome,
    pub(crate) uncorrected: EpsilonEstimate,
    pub(crate) findings: Vec<String>,
    pub(crate) independence: Option<Independence>,
    pub(crate) input: serde_json::Value,
}

/// The rule and its numbers, from the command line.
pub(crate) fn audit_of(rule: ThresholdRule, statement: &StatementArgs, seed: u64) -> RecordedAudit {
    RecordedAudit {
        threshold_rule: rule,
        delta: statement.delta,
        significance: statement.significance,
        cuts: Plan::DEFAULT_CUTS,
        seed,
    }
}

impl Recorded<'_> {
    pub(crate) fn report(
        self,
        audit: &RecordedAudit,
        seed_source: SeedSource,
        started: std::time::Instant,
        claim: &ClaimArgs,
    ) -> Result<Report, Failure> {
        let trials =
            Trials { target: self.target.len() as u64, zero_out: self.zero_out.len() as u64 };
        let failed = |scores: &[f64]| scores.iter().filter(|s| !s.is_finite()).count() as u64;
        Ok(Report {
            schema: "dpscope.report/1",
            version: env!("CARGO_PKG_VERSION"),
            subject: self.subject,
            adjacency: Adjacency::ZeroOut,
            result: ResultFields::new(&self.outcome, audit.significance)?,
            uncorrected_maximum: Some(self.uncorrected.into()),
            observations: Observations {
                target: trials.target,
                zero_out: trials.zero_out,
                evaluated: self.outcome.evidence().trials,
                planned: trials.target + trials.zero_out,
            },
            non_finite: Trials { target: failed(self.target), zero_out: failed(self.zero_out) },
            saturated: None,
            seed: Some(audit.seed.to_string()),
            seed_source: Some(seed_source),
            device: "cpu".to_owned(),
            float_mode: "exact".to_owned(),
            fallback_shards: 0,
            elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
            normals_per_second: None,
            histogram_digest: None,
            resumed_from: None,
            score_slope: None,
            credible: None,
            plan: None,
            input: Some(self.input),
            findings: self.findings,
            independence: self.independence,
            claim: ClaimFields::new(claim, &self.outcome, self.subject)?,
            fail_above: claim.fail_above,
        })
    }
}
