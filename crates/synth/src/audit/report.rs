//! The document of an audit.

use dpscope_report::record::{
    CheckOutcome, GeneratorCheck, GeneratorFault, PateGanReport, PateGanSettings, SeedSource,
};
use dpscope_report::words::PateGanFinding;

use super::{Audit, AuditOutcome};
use crate::detect::{Check, Observation};
use crate::fault::Fault;

/// What a report says of its execution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Replay {
    /// Version of the program.
    pub version: &'static str,
    /// Where the seed came from.
    pub seed_source: SeedSource,
    /// Duration, milliseconds.
    pub elapsed_ms: f64,
}

impl Audit {
    /// What was found, in words.
    #[must_use]
    pub fn finding(&self, outcome: &AuditOutcome) -> PateGanFinding {
        PateGanFinding {
            epsilon: outcome.attack.bound.value(),
            ceiling: outcome.attack.ceiling,
            accounted: self.accounted.composed.upper,
            fired: outcome.checks.iter().filter(|check| check.has_fired()).count(),
            significance: outcome.options.significance,
        }
    }

    /// The document of `dpscope audit pategan`.
    #[must_use]
    pub fn report(&self, outcome: &AuditOutcome, replay: Replay) -> PateGanReport {
        let settings = self.mechanism.settings();
        let fault = |fault: Fault| GeneratorFault {
            name: fault.to_string(),
            detector: fault.description().detector.id().into(),
            says: fault.description().sentence.into(),
        };
        let finding = self.finding(outcome);
        PateGanReport {
            schema: PateGanReport::SCHEMA.into(),
            version: replay.version.into(),
            headline: finding.headline(),
            says: finding.meaning(),
            verdict: finding.verdict(),
            fail_above: None,
            faults: self.mechanism.faults().iter().map(fault).collect(),
            settings: PateGanSettings {
                teachers: settings.teachers,
                gamma: settings.inverse_scale,
                batch_size: settings.batch_size,
                iterations: self.iterations,
                rows: settings.rows,
            },
            data: None,
            utility: None,
            checks: outcome.checks.iter().map(check).collect(),
            checks_significance: outcome.options.checks_significance,
            auc: outcome.attack.auc,
            epsilon: finding.epsilon,
            ceiling: finding.ceiling,
            accounted_epsilon: finding.accounted,
            moments_epsilon: self.accounted.moments.epsilon,
            delta: settings.delta,
            significance: outcome.options.significance,
            runs: outcome.runs,
            evaluated: outcome.attack.trials.target,
            counts: outcome.attack.bound.evidence().into(),
            seed: self.seed.to_string(),
            seed_source: replay.seed_source,
            elapsed_ms: replay.elapsed_ms,
        }
    }
}

fn check(check: &Check) -> GeneratorCheck {
    let (outcome, says, faults) = match &check.observation {
        Observation::Clear => (CheckOutcome::Clear, None, Vec::new()),
        Observation::Confirmed { seen } => (CheckOutcome::Clear, Some(seen.clone()), Vec::new()),
        Observation::Untestable { reason } => {
            (CheckOutcome::Untestable, Some((*reason).to_owned()), Vec::new())
        }
        Observation::Fired { seen, faults } => {
            let names = faults.iter().map(ToString::to_string).collect();
            (CheckOutcome::Fired, Some(seen.clone()), names)
        }
    };
    GeneratorCheck {
        detector: check.detector.id().into(),
        name: check.name.into(),
        outcome,
        says,
        faults,
        p_value: check.p_value,
        remedy: check.has_fired().then(|| check.remedy.into()),
    }
}
