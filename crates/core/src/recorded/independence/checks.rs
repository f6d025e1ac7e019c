//! All checks of one pair of worlds.

use super::{
    Dependence, IndependenceCheck, IndependenceError, RecordedRuns, duplicated_runs,
    lag_one_correlation, repeated_positions_over_epochs, repeated_positions_over_runs,
    shared_noise,
};
use crate::adjacency::World;
use crate::mechanism::BatchSampler;

/// A check of independence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum CheckKind {
    /// [`duplicated_runs`].
    DuplicatedRuns,
    /// [`repeated_positions_over_epochs`].
    RepeatedPositionsOverEpochs,
    /// [`repeated_positions_over_runs`].
    RepeatedPositionsOverRuns,
    /// [`lag_one_correlation`].
    LagOneCorrelation,
    /// [`shared_noise`].
    SharedNoise,
}

/// A check of the runs of one world or both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NamedCheck {
    /// Which check.
    pub kind: CheckKind,
    /// The world of the checked runs; none for both.
    pub world: Option<World>,
    /// Its result.
    pub check: IndependenceCheck,
}

/// What is checked of a world.
#[derive(Debug, Clone, Copy)]
pub struct CheckedWorld<'a> {
    /// Its outputs.
    pub runs: RecordedRuns<'a>,
    /// Its outputs without what both worlds add to each step: a drift is no repeated order.
    pub without_drift: RecordedRuns<'a>,
    /// One score per run in file order.
    pub scores: &'a [f64],
}

/// All checks of one pair of worlds, in the order of their execution.
#[derive(Debug, Clone, PartialEq)]
pub struct IndependenceChecks(pub Vec<NamedCheck>);

impl IndependenceChecks {
    /// Checks outputs and scores of both worlds.
    ///
    /// Repeated order is not checked for samplers that repeat it by design, nor for an unknown
    /// sampler.
    ///
    /// | argument | meaning |
    /// |---|---|
    /// | `sampler` | how batches were formed, if known |
    /// | `target`, `zero_out` | outputs and scores of D and of D′ |
    ///
    /// # Errors
    /// Worlds whose runs differ in length.
    pub fn of(
        sampler: Option<BatchSampler>,
        target: CheckedWorld<'_>,
        zero_out: CheckedWorld<'_>,
    ) -> Result<Self, IndependenceError> {
        let check = |kind, world, check| NamedCheck { kind, world, check };
        let duplicates = duplicated_runs(target.runs, zero_out.runs)?.check;
        let mut checks = vec![check(CheckKind::DuplicatedRuns, None, duplicates)];
        for (world, checked) in [(World::Target, target), (World::ZeroOut, zero_out)] {
            let world = Some(world);
            let CheckedWorld { without_drift: runs, scores, .. } = checked;
            if sampler.is_some_and(spreads_over_epochs) {
                let kind = CheckKind::RepeatedPositionsOverEpochs;
                checks.push(check(kind, world, repeated_positions_over_epochs(runs)));
            }
            if sampler.is_some_and(spreads_over_runs) {
                let kind = CheckKind::RepeatedPositionsOverRuns;
                checks.push(check(kind, world, repeated_positions_over_runs(runs)));
            }
            checks.push(check(CheckKind::LagOneCorrelation, world, lag_one_correlation(scores)));
        }
        let shared = shared_noise(target.runs, zero_out.runs)?;
        checks.push(check(CheckKind::SharedNoise, None, shared));
        Ok(IndependenceChecks(checks))
    }

    /// World, p-value and finding of each check with a finding.
    pub fn dependences(&self) -> impl Iterator<Item = (Option<World>, f64, Dependence)> {
        let found = |named: &NamedCheck| {
            let NamedCheck { world, check: IndependenceCheck { p_value, finding, .. }, .. } =
                *named;
            finding.map(|dependence| (world, p_value, dependence))
        };
        self.0.iter().filter_map(found)
    }
}

fn spreads_over_epochs(sampler: BatchSampler) -> bool {
    matches!(sampler, BatchSampler::Shuffle | BatchSampler::BallsInBins)
}

fn spreads_over_runs(sampler: BatchSampler) -> bool {
    spreads_over_epochs(sampler) || sampler == BatchSampler::PersistentShuffle
}
