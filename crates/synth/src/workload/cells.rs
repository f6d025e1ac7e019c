//! Released rows in each cell of a small domain.

use super::{PateGanEvidence, PateGanRun};
use crate::audit::Audit;

/// Released rows of all runs of a world together that are in one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct CellCount {
    /// The row; empty for rows outside of the domain.
    pub row: Vec<f64>,
    /// Whether it is the target.
    pub is_target: bool,
    /// With the target and without.
    pub rows: [u64; 2],
}

impl Audit {
    /// Rows in each cell of the domain, and last those outside; empty if the domain is not small.
    ///
    /// # Guarantee
    /// Each released row is in one cell (`unit::each_row_is_in_one_cell`).
    #[must_use]
    pub fn cell_counts(&self, evidence: &PateGanEvidence) -> Vec<CellCount> {
        let Some(cells) = self.features().cells() else { return Vec::new() };
        let outside = std::iter::once(Vec::new());
        let count = |at: usize, world: usize| -> u64 {
            let of_run = |run: &PateGanRun| run.worlds[world].features.get(at).copied();
            evidence.runs.iter().filter_map(of_run).sum::<f64>() as u64
        };
        let cell = |(at, row): (usize, Vec<f64>)| CellCount {
            is_target: row == self.features().target(),
            row,
            rows: [count(at, 0), count(at, 1)],
        };
        cells.into_iter().chain(outside).enumerate().map(cell).collect()
    }
}

#[cfg(test)]
mod tests {
    use dpscope_engine::{Shard, Unattended, begin, run};

    use super::super::PateGanRuns;
    use super::super::plan::tests::plan;
    use super::*;

    #[test]
    fn each_row_is_in_one_cell() {
        let mut plan = plan();
        for faults in ["", "E1", "U5"] {
            plan.faults = faults.parse().unwrap();
            let audit = Audit::worst_case(&plan.settings, plan.faults, plan.seed).unwrap();
            let workload = PateGanRuns::new(plan.clone(), audit.clone(), 1).unwrap();
            let state = begin(&workload, Shard::WHOLE.range(plan.runs).unwrap(), &Unattended);
            let state = pollster::block_on(run(&workload, state.unwrap(), &Unattended)).unwrap();
            let counts = audit.cell_counts(&state.evidence);
            assert_eq!(counts.len(), 9);
            assert_eq!(counts.iter().position(|cell| cell.is_target), Some(7));
            let rows = |world: usize| counts.iter().map(|cell| cell.rows[world]).sum::<u64>();
            let expected = if faults == "E1" { [5, 4] } else { [4, 4] };
            assert_eq!([rows(0), rows(1)], expected.map(|rows| rows * plan.runs));
            let outside = counts[8].rows[0] > 0;
            assert_eq!(outside, faults == "U5", "scaled numbers are no cells");
        }
    }
}
