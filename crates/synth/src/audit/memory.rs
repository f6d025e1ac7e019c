//! What an audit holds in memory, before it runs.

use dpscope_core::adjacency::World;

use super::Audit;
use crate::fault::{Fault, FaultSet};
use crate::lanes::LANES;
use crate::settings::Settings;

const NUMBER: u64 = size_of::<f64>() as u64;
/// Weights, two moments and the gradient.
const COPIES: u64 = 4;

impl Audit {
    /// Bytes that runs take at most, in both worlds together, with what threads need to train them; room
    /// for the rest of the program is not included. It saturates.
    ///
    /// | argument | meaning |
    /// |---|---|
    /// | `runs` | runs of each world |
    /// | `threads` | threads that train runs at once |
    ///
    /// # Guarantee
    /// Finished runs take no more (`unit::runs_take_no_more_than_predicted`).
    #[must_use]
    pub fn memory_bytes(&self, runs: u64, threads: u64) -> u64 {
        let finished = self.run_bytes().saturating_mul(runs).saturating_mul(2);
        finished.saturating_add(self.group_bytes().saturating_mul(threads))
    }

    /// Bytes of a file of runs at most, in both worlds together. It saturates.
    ///
    /// | argument | meaning |
    /// |---|---|
    /// | `runs` | runs of each world |
    ///
    /// # Guarantee
    /// Files are no larger (`crates/synth/src/workload/mod.rs::files_are_no_larger_than_predicted`).
    #[cfg(feature = "workload")]
    #[must_use]
    pub fn saved_bytes(&self, runs: u64) -> u64 {
        // a number, and the comma behind it
        const CHARACTERS: u64 = 26;
        let votes = 3 * (u64::from(self.mechanism.settings().teachers) + 1);
        let divided =
            if self.mechanism.faults() == FaultSet::NONE { 0 } else { self.divided_rows() };
        let numbers = (self.features.count() as u64 + votes + 16).saturating_add(divided);
        numbers.saturating_mul(2 * CHARACTERS).saturating_mul(runs).saturating_add(1 << 16)
    }

    /// Bytes of a finished run: its features and trace.
    fn run_bytes(&self) -> u64 {
        let Settings { orders, teachers, .. } = *self.mechanism.settings();
        let trace = u64::from(orders) + 3 * (u64::from(teachers) + 1);
        let numbers = [self.features.count() as u64, trace, self.divided_rows(), 64];
        // a list that grew may be half empty
        numbers.into_iter().fold(0, u64::saturating_add).saturating_mul(2 * NUMBER)
    }

    /// Rows in the lists of all teachers: of a faithful mechanism, each row once.
    fn divided_rows(&self) -> u64 {
        let teachers = u64::from(self.mechanism.settings().teachers);
        let rows = self.mechanism.row_count(World::Target) as u64;
        let shared = [Fault::O2, Fault::U1, Fault::S1, Fault::T2];
        let is_shared = shared.into_iter().any(|fault| has_switch(self.mechanism.faults(), fault));
        rows.saturating_mul(if is_shared { teachers } else { 1 }).saturating_add(4 * teachers)
    }

    /// Bytes of a group of runs that are trained side by side.
    fn group_bytes(&self) -> u64 {
        let Settings { teachers, batch_size, .. } = *self.mechanism.settings();
        let (teachers, batch) = (u64::from(teachers), u64::from(batch_size));
        let d = self.mechanism.width() as u64;
        let networks = 3 * d.saturating_mul(d).saturating_add(4 * d);
        // teachers also as they were initialised
        let weights = networks.saturating_add(teachers.saturating_mul(2 * (d + 1)));
        let rows = 8 * batch.saturating_mul(2 * d + 2);
        let seen = teachers.saturating_mul(self.mechanism.row_count(World::Target) as u64);
        let numbers = weights.saturating_mul(COPIES).saturating_add(rows).saturating_add(seen);
        let released = u64::from(self.mechanism.release(World::Target).rows);
        let released = released.saturating_mul(2 * self.features.columns() as u64);
        let numbers = numbers.saturating_add(released).saturating_add(self.run_bytes());
        numbers.saturating_mul(LANES as u64 * NUMBER)
    }
}

fn has_switch(faults: FaultSet, fault: Fault) -> bool {
    faults.has(fault) || faults.has(fault.description().switch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Stop;

    #[test]
    fn runs_take_no_more_than_predicted() {
        for faults in ["", "O2", "U1", "S1", "T2", "E1", "E2", "U1,S1"] {
            let settings = Settings { stop: Stop::Iterations(4), ..Settings::default() };
            let audit = Audit::worst_case(&settings, faults.parse().unwrap(), 1).unwrap();
            let numbers = |world| -> usize {
                let runs = audit.runs(world, 0..8);
                let of_run = |run: &super::super::AuditedRun| {
                    let trace = &run.trace;
                    let lists = &trace.teacher_rows;
                    let divided: usize = lists.iter().map(|rows| rows.capacity() + 3).sum();
                    let votes = &trace.votes;
                    divided
                        + run.features.capacity()
                        + trace.moments.capacity()
                        + votes.votes.capacity()
                        + votes.ones.capacity()
                        + votes.accounted.capacity()
                };
                runs.iter().map(of_run).sum::<usize>()
                    + runs.len() * size_of::<super::super::AuditedRun>() / size_of::<f64>()
            };
            let held: usize = World::BOTH.into_iter().map(numbers).sum();
            let predicted = audit.memory_bytes(8, 0);
            let bytes = (held * size_of::<f64>()) as u64;
            assert!(bytes <= predicted && predicted < 4 * bytes, "{faults}: {bytes}, {predicted}");
        }
    }

    #[test]
    fn predictions_grow_with_runs_and_threads() {
        let audit = Audit::worst_case(&Settings::default(), FaultSet::NONE, 1).unwrap();
        assert!(audit.memory_bytes(40, 1) > audit.memory_bytes(20, 1));
        assert!(audit.memory_bytes(20, 4) > audit.memory_bytes(20, 1));
        assert_eq!(audit.memory_bytes(u64::MAX, 1), u64::MAX);
    }
}
