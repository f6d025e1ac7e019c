//! Audits of one table with different faults.

use dpscope_core::format::rounded;
use dpscope_synth::audit::{Audit, AuditOutcome};
use dpscope_synth::table::Table;
use dpscope_synth::workload::PateGanPlan;
use dpscope_synth::{Fault, FaultSet, IMPLEMENTATIONS, Implementation, Settings};
use serde_json::{Value, json};

use crate::commands::audit::pategan::outcome;
use crate::failure::{Exit, Failure};
use crate::progress::RowProgress;

pub(super) const SIGNIFICANCE: f64 = 0.05;
const CHECKS_SIGNIFICANCE: f64 = 1e-3;

/// What audits share; with one seed, implementations differ in their faults alone.
pub(super) struct Case {
    pub(super) settings: Settings,
    /// A table with the identifier of its target; none for the worst case.
    pub(super) table: Option<(Table, u64)>,
    /// Runs of each world.
    pub(super) runs: u64,
    pub(super) seed: u64,
    pub(super) threads: usize,
}

impl Case {
    /// Two worlds whose runs have these faults.
    pub(super) fn audit(&self, faults: FaultSet) -> Result<Audit, Failure> {
        let audit = match &self.table {
            None => Audit::worst_case(&self.settings, faults, self.seed),
            Some((table, target)) => Audit::new(table, *target, &self.settings, faults, self.seed),
        };
        audit.map_err(internal)
    }

    fn outcome(&self, faults: FaultSet) -> Result<(Audit, AuditOutcome), Failure> {
        let plan = PateGanPlan {
            settings: self.settings.clone(),
            faults,
            table: None,
            runs: self.runs,
            significance: SIGNIFICANCE,
            checks_significance: CHECKS_SIGNIFICANCE,
            seed: self.seed,
        };
        outcome(plan, self.audit(faults)?, self.threads)
    }

    /// A row of each implementation, from its outcomes with the fault of the published audit and
    /// without; `note` follows its name in the progress.
    pub(super) fn audited(
        &self,
        (note, quiet): (&str, bool),
        row: impl Fn(&'static Implementation, [&AuditOutcome; 2]) -> Result<Value, Failure>,
    ) -> Result<Audited, Failure> {
        let progress = RowProgress::new(quiet, IMPLEMENTATIONS.len()).with_estimate();
        let mut faithful = None;
        let name = |one: &&Implementation| format!("{}{note}", one.name);
        let rows = progress.rows(&IMPLEMENTATIONS, name, |implementation| {
            let faults = implementation.switches();
            let (_, with) = self.outcome(faults.with(Fault::E1))?;
            let (audit, without) = self.outcome(faults)?;
            let accounted = audit.accounted().composed.upper;
            faithful.get_or_insert((accounted, without.attack.ceiling));
            row(implementation, [&with, &without])
        })?;
        let (accounted_epsilon, ceiling) = faithful.unwrap_or_default();
        Ok(Audited { rows, accounted_epsilon, ceiling })
    }
}

/// The audits of all implementations.
pub(super) struct Audited {
    pub(super) rows: Vec<Value>,
    /// ε of the faithful mechanism, as accounted.
    pub(super) accounted_epsilon: f64,
    /// The largest ε that so many runs can show.
    pub(super) ceiling: f64,
}

/// What the attack on the released rows of an implementation found: with a number of rows that follows the
/// data, as in the published audit, and with a public one.
pub(super) fn leak(
    name: &str,
    published: Option<f64>,
    [with, without]: [&AuditOutcome; 2],
) -> Value {
    let (with, without) = (&with.attack, &without.attack);
    json!({
        "name": name, "published": published,
        "published_text": published.map_or("–".to_owned(), |epsilon| rounded(epsilon, 2)),
        "with_harness_fault": with.bound.value(), "with_harness_fault_auc": with.auc,
        "without_harness_fault": without.bound.value(), "without_harness_fault_auc": without.auc,
    })
}

pub(super) fn internal(error: impl std::fmt::Display) -> Failure {
    Failure::with(Exit::Internal, error)
}
