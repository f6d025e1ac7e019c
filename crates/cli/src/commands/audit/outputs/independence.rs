//! Checks that recorded runs are independent, as intervals need.

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::BatchSampler;
use dpscope_core::recorded::independence::{
    FALSE_ALARM, IndependenceCheck, RecordedRuns, duplicated_runs, lag_one_correlation,
    repeated_positions_over_epochs, repeated_positions_over_runs, shared_noise,
};
use dpscope_report::record::{IndependenceRecord, IndependenceTest};

use super::hypotheses::Hypothesis;
use super::load::Outputs;
use crate::failure::Failure;

const DUPLICATES: &str = "duplicated-runs";
const POSITIONS_OVER_RUNS: &str = "repeated-positions-over-runs";
const LAG_ONE: &str = "lag-one-correlation";

/// Checks of one pair of files.
#[derive(Debug)]
pub(super) struct Independence {
    pub(super) record: IndependenceRecord,
}

fn test(
    name: &'static str,
    world: Option<&'static str>,
    check: IndependenceCheck,
) -> IndependenceTest {
    let IndependenceCheck { statistic, p_value, finding } = check;
    IndependenceTest { name, world, statistic, p_value, finding }
}

impl Independence {
    /// All checks on the outputs and their scores.
    ///
    /// Repeated positions are not checked for samplers that repeat them by design, or that are unknown.
    pub(super) fn of(
        sampler: Option<BatchSampler>,
        target: &Outputs,
        zero_out: &Outputs,
        hypothesis: &Hypothesis,
    ) -> Result<Self, Failure> {
        let (d, d_prime) = (view(target)?, view(zero_out)?);
        let duplicates = duplicated_runs(d, d_prime).map_err(Failure::input)?;
        let mut checks = vec![test(DUPLICATES, None, duplicates.check)];
        for (world, runs, scores) in [
            (World::Target, d, &hypothesis.target),
            (World::ZeroOut, d_prime, &hypothesis.zero_out),
        ] {
            let world = Some(world.name());
            if sampler.is_some_and(spreads_over_epochs) {
                let check = repeated_positions_over_epochs(runs);
                checks.push(test("repeated-positions-over-epochs", world, check));
            }
            if sampler.is_some_and(spreads_over_runs) {
                let check = repeated_positions_over_runs(runs);
                checks.push(test(POSITIONS_OVER_RUNS, world, check));
            }
            let check = lag_one_correlation(scores);
            checks.push(test(LAG_ONE, world, check));
        }
        let shared = shared_noise(d, d_prime).map_err(Failure::input)?;
        checks.push(test("shared-noise", None, shared));
        let record = IndependenceRecord { false_alarm: FALSE_ALARM, checks };
        Ok(Independence { record })
    }

    /// Whether runs of one world depend on each other. Noise shared between the worlds is harmless: a
    /// union bound joins the limits of the two rates.
    pub(super) fn invalidates_coverage(&self) -> bool {
        let within = [DUPLICATES, POSITIONS_OVER_RUNS, LAG_ONE];
        self.record.checks.iter().any(|c| c.finding.is_some() && within.contains(&c.name))
    }

    /// Findings, in words.
    pub(super) fn findings(&self) -> Vec<String> {
        let finding = |check: &IndependenceTest| {
            let text = check.finding.as_ref()?;
            let world = check.world.map_or(String::new(), |world| format!(" ({world} world)"));
            Some(format!("independence{world}: {text} (p = {:.1e})", check.p_value))
        };
        self.record.checks.iter().filter_map(finding).collect()
    }
}

fn view(outputs: &Outputs) -> Result<RecordedRuns<'_>, Failure> {
    RecordedRuns::new(&outputs.values, outputs.epochs, outputs.steps).map_err(Failure::input)
}

fn spreads_over_epochs(sampler: BatchSampler) -> bool {
    matches!(sampler, BatchSampler::Shuffle | BatchSampler::BallsInBins)
}

fn spreads_over_runs(sampler: BatchSampler) -> bool {
    spreads_over_epochs(sampler) || sampler == BatchSampler::PersistentShuffle
}
