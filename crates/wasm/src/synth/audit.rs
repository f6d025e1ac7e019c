//! The coordinator of an audit, and what trains its runs.

use dpscope_engine::{Artefact, Unattended, run};
use dpscope_report::figure::score_bins;
use dpscope_report::record::input::PateGanQuestion;
use dpscope_report::record::page::{DomainCell, PateGanPicture, PateGanSoFar};
use dpscope_report::record::{PateGanReport, SeedSource};
use dpscope_synth::attack::LEAST_RUNS;
use dpscope_synth::audit::{Audit, AuditOutcome, Replay};
use dpscope_synth::workload::{EvaluationError, PateGanEvidence, PateGanPlan, PateGanRuns};

use super::plan::{checked, of_audit, plan_of};
use crate::coordinator::{Coordinator, DividedPlan};
use crate::failure::{Failure, FailureKind};
use crate::ranges::range_within;
use crate::ready::ready;

impl DividedPlan for PateGanPlan {}

/// An audit of the worst case, on the coordinator's side.
#[derive(Debug)]
pub(super) struct WorstCase {
    audit: Audit,
    pub(super) coordinator: Coordinator<PateGanPlan>,
}

fn audit_of(plan: &PateGanPlan) -> Result<Audit, Failure> {
    Audit::worst_case(&plan.settings, plan.faults, plan.seed).map_err(|error| of_audit(&error))
}

impl WorstCase {
    pub(super) fn open(asked: &PateGanQuestion) -> Result<Self, Failure> {
        let plan = plan_of(asked)?;
        let audit = audit_of(&plan)?;
        let runs = PateGanRuns::new(plan, audit.clone(), 1)?;
        Ok(WorstCase { audit, coordinator: Coordinator::begin(&runs, ())? })
    }

    /// ε of the attack on the runs so far, and their rows.
    pub(super) fn so_far(&self) -> Result<PateGanSoFar, Failure> {
        let (runs, cells) = (self.coordinator.state().done(), self.cells());
        if runs < LEAST_RUNS as u64 {
            return Ok(PateGanSoFar { runs: 0, epsilon: 0.0, cells });
        }
        Ok(PateGanSoFar { runs, epsilon: self.outcome()?.attack.bound.value(), cells })
    }

    /// The report of exactly the planned runs, and what is drawn of it.
    pub(super) fn report(
        &self,
        elapsed_ms: f64,
    ) -> Result<(PateGanReport, PateGanPicture), Failure> {
        if !self.coordinator.state().is_complete() {
            let message = "runs are missing: there is no bound before the planned number";
            return Err(Failure::of(FailureKind::Input, message));
        }
        let outcome = self.outcome()?;
        let version = env!("CARGO_PKG_VERSION");
        let replay = Replay { version, seed_source: SeedSource::Given, elapsed_ms };
        let [with, without] = &outcome.attack.scores;
        let picture = PateGanPicture { cells: self.cells(), scores: score_bins([with, without]) };
        Ok((self.audit.report(&outcome, replay), picture))
    }

    fn plan(&self) -> &PateGanPlan {
        &self.coordinator.state().plan
    }

    fn evidence(&self) -> &PateGanEvidence {
        &self.coordinator.state().evidence
    }

    fn cells(&self) -> Vec<DomainCell> {
        let counts = self.audit.cell_counts(self.evidence()).into_iter();
        let cell = |count: dpscope_synth::workload::CellCount| DomainCell {
            row: count.row,
            is_target: count.is_target,
            rows: count.rows,
        };
        counts.map(cell).collect()
    }

    fn outcome(&self) -> Result<AuditOutcome, Failure> {
        let found = self.audit.evaluate_saved(self.plan(), self.evidence());
        found.map_err(|error| match error {
            EvaluationError::Audit(error) => of_audit(&error),
            error => Failure::of(FailureKind::File, &error.to_string()),
        })
    }
}

/// What trains runs of a plan.
#[derive(Debug)]
pub(super) struct Counter {
    plan: PateGanPlan,
    workload: PateGanRuns,
}

impl Counter {
    pub(super) fn open(layout: &[u8]) -> Result<Self, Failure> {
        let plan = checked(Artefact::from_bytes(layout)?.plan)?;
        let workload = PateGanRuns::new(plan.clone(), audit_of(&plan)?, 1)?;
        Ok(Counter { plan, workload })
    }

    /// Evidence of these runs of each world.
    pub(super) fn count(&self, first: f64, end: f64) -> Result<Vec<u8>, Failure> {
        let range = range_within(first, end, self.plan.runs);
        let start = Artefact::empty(self.plan.clone(), (), range);
        Ok(ready(run(&self.workload, start, &Unattended))??.to_bytes())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::plan::tests::asked;
    use super::*;
    use crate::synth::facts::facts;
    use dpscope_report::record::page::{AuditProgress, PateGanFacts};

    fn finished(runs: u64) -> WorstCase {
        let mut audit = WorstCase::open(&asked()).unwrap();
        let counter = Counter::open(&audit.coordinator.layout()).unwrap();
        while let Some(range) = audit.coordinator.next(runs) {
            audit
                .coordinator
                .add(&counter.count(range.first as f64, range.end as f64).unwrap())
                .unwrap();
        }
        audit
    }

    pub(crate) fn examples() -> (PateGanReport, PateGanPicture, PateGanSoFar, PateGanFacts) {
        let audit = finished(40);
        let (report, picture) = audit.report(1.0).unwrap();
        (report, picture, audit.so_far().unwrap(), facts())
    }

    #[test]
    fn reports_do_not_depend_on_the_division() {
        let [one, many] = [40, 7].map(|runs| finished(runs).report(0.0).unwrap());
        assert_eq!(one.1, many.1);
        let json = |report: &PateGanReport| serde_json::to_value(report).unwrap();
        assert_eq!(json(&one.0), json(&many.0));
        let rows: u64 = one.1.cells.iter().map(|cell| cell.rows[0]).sum();
        assert_eq!(rows, 40 * 4);
        let scores: u64 = one.1.scores.iter().map(|bin| bin.runs[1]).sum();
        assert_eq!(scores, one.0.evaluated);
    }

    #[test]
    fn no_bound_before_the_last_run() {
        let mut audit = WorstCase::open(&asked()).unwrap();
        let counter = Counter::open(&audit.coordinator.layout()).unwrap();
        assert_eq!(audit.so_far().unwrap().runs, 0);
        let range = audit.coordinator.next(32).unwrap();
        assert_eq!(audit.report(0.0).unwrap_err().kind, FailureKind::Input);
        audit
            .coordinator
            .add(&counter.count(range.first as f64, range.end as f64).unwrap())
            .unwrap();
        assert_eq!(audit.so_far().unwrap().runs, 32);
        assert_eq!(audit.coordinator.progress(), AuditProgress { done: 64, total: 80 });
        assert!(audit.report(0.0).is_err());
    }

    #[test]
    fn bytes_without_a_layout_and_runs_that_are_not_assigned_are_rejected() {
        for bytes in [&b""[..], b"{}", b"<script>"] {
            assert_eq!(Counter::open(bytes).unwrap_err().kind, FailureKind::File);
        }
        let mut audit = WorstCase::open(&asked()).unwrap();
        let counter = Counter::open(&audit.coordinator.layout()).unwrap();
        for (first, end) in [(0.0, 8.0), (39.0, f64::INFINITY), (f64::NAN, -1.0), (5.0, 3.0)] {
            let found = counter.count(first, end).and_then(|bytes| audit.coordinator.add(&bytes));
            assert!(found.is_err(), "{first} {end}");
        }
        assert_eq!(audit.coordinator.progress().done, 0);
    }
}
