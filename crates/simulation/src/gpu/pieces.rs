//! Division of a wave into dispatches within the limits of device, driver and watchdog.

use std::ops::Range;

use dpscope_engine::UnitRange;
use dpscope_shaders::bgm::{Program, STATE_VALUES, WORKGROUP};

/// Limits of a dispatch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PieceLimits {
    /// Workgroups in one dimension.
    pub workgroups: u32,
    /// Bytes per storage binding.
    pub binding_bytes: u64,
    /// Loop iterations per invocation: software Vulkan silently leaves loops after 65,536.
    pub turns: u32,
    /// Observations of each world that fill the device.
    pub wide: u32,
}

/// Bytes of state per observation of both worlds between dispatches.
const STATE_BYTES: u64 = 2 * 4 * STATE_VALUES as u64;

/// Maximum number of observations of each world in a dispatch: both worlds' counts fit 32 bits.
const MAX_OBSERVATIONS: u64 = 1 << 31;

impl PieceLimits {
    /// Workgroups in x and y that cover `observations`.
    pub(super) fn grid(&self, observations: u32) -> (u32, u32) {
        let groups = observations.div_ceil(WORKGROUP).max(1);
        let x = groups.min(self.workgroups);
        (x, groups.div_ceil(x))
    }

    /// Observations of each world in one dispatch.
    pub(super) fn observations(&self) -> u64 {
        let groups = u64::from(self.workgroups) * u64::from(self.workgroups);
        groups.saturating_mul(u64::from(WORKGROUP)).min(MAX_OBSERVATIONS)
    }

    /// Observations of each world that process their blocks together.
    pub(super) fn batch(&self) -> u64 {
        let kept = self.binding_bytes / STATE_BYTES;
        u64::from(self.wide).min(kept).min(self.observations()).max(1)
    }

    /// Bytes of state for waves of `observations`.
    pub(super) fn state_bytes(&self, program: &Program, observations: u64) -> u64 {
        let split = program.blocks() > 1;
        if split { STATE_BYTES * self.batch().min(observations) } else { 4 }
    }

    /// Blocks of an observation in one dispatch.
    pub(super) fn blocks(&self, program: &Program) -> u64 {
        u64::from(self.turns / program.iterations_per_block()).max(1)
    }
}

/// Some blocks of some observations: one dispatch.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DispatchRange {
    pub(super) first: u64,
    pub(super) observations: u32,
    pub(super) blocks: Range<u64>,
}

impl DispatchRange {
    /// Blocks of both worlds.
    pub(super) fn work(&self) -> u64 {
        2 * u64::from(self.observations) * (self.blocks.end - self.blocks.start)
    }
}

/// Divides a range: every block of every observation once, the blocks of an observation in order,
/// and those of its batch before the next batch.
///
/// # Guarantee
/// For all limits and budgets (`unit::every_block_of_every_observation_occurs_once`).
#[derive(Debug)]
pub(super) struct DispatchSplitter {
    left: UnitRange,
    blocks: u64,
    most_blocks: u64,
    most_observations: u64,
    most_batch: u64,
    /// The first remaining batch: its observations and its next block.
    open_batch: Option<(u64, u64)>,
}

impl DispatchSplitter {
    pub(super) fn new(limits: &PieceLimits, program: &Program, range: UnitRange) -> Self {
        DispatchSplitter {
            left: range,
            blocks: program.blocks(),
            most_blocks: limits.blocks(program),
            most_observations: limits.observations(),
            most_batch: limits.batch(),
            open_batch: None,
        }
    }

    /// The next dispatch, of about `budget` blocks of both worlds.
    pub(super) fn next(&mut self, budget: u64) -> Option<DispatchRange> {
        if self.left.is_empty() {
            return None;
        }
        let left = self.left.len();
        let batch = left.min(self.most_batch);
        let whole = budget / self.blocks.saturating_mul(2);
        if self.open_batch.is_none() && self.blocks <= self.most_blocks && whole >= batch {
            let observations = left.min(self.most_observations).min(whole);
            let cut = self.cut(observations, 0..self.blocks);
            self.left.first += observations;
            return Some(cut);
        }
        let (batch, block) = self.open_batch.unwrap_or((batch, 0));
        let take = (budget / (2 * batch)).clamp(1, self.most_blocks).min(self.blocks - block);
        let cut = self.cut(batch, block..block + take);
        self.open_batch = Some((batch, block + take));
        if block + take == self.blocks {
            self.left.first += batch;
            self.open_batch = None;
        }
        Some(cut)
    }

    fn cut(&self, observations: u64, blocks: Range<u64>) -> DispatchRange {
        // At most 2³¹.
        DispatchRange { first: self.left.first, observations: observations as u32, blocks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cutter(blocks: u64, limits: [u64; 3], range: UnitRange) -> DispatchSplitter {
        let [most_blocks, most_observations, most_batch] = limits;
        let most_batch = most_batch.min(most_observations);
        DispatchSplitter {
            left: range,
            blocks,
            most_blocks,
            most_observations,
            most_batch,
            open_batch: None,
        }
    }

    /// Parts with a budget that changes each time.
    fn cuts(mut cutter: DispatchSplitter, budgets: &[u64]) -> Vec<DispatchRange> {
        budgets.iter().cycle().map_while(|&budget| cutter.next(budget)).collect()
    }

    /// The first error in the parts of a range.
    fn problem(cuts: &[DispatchRange], blocks: u64, range: UnitRange) -> Option<String> {
        let mut next = vec![0; range.len() as usize];
        // The batch whose state is on the device, until its last block.
        let mut held: Option<(u64, u32)> = None;
        for cut in cuts {
            let batch = (cut.first, cut.observations);
            if held.is_some_and(|held| held != batch) {
                return Some(format!("{cut:?} comes before the end of {held:?}"));
            }
            for observation in cut.first..cut.first + u64::from(cut.observations) {
                let at = &mut next[(observation - range.first) as usize];
                if *at != cut.blocks.start || cut.blocks.is_empty() {
                    return Some(format!("{cut:?}, and observation {observation} is at {at}"));
                }
                *at = cut.blocks.end;
            }
            held = (cut.blocks.end < blocks).then_some(batch);
        }
        let unfinished = next.iter().position(|&at| at != blocks);
        unfinished.map(|at| format!("observation {at} has {} of {blocks} blocks", next[at]))
    }

    const BUDGETS: [&[u64]; 5] = [&[1], &[1 << 40], &[0, 7, 1000], &[64, 3000, 2, 1 << 20], &[513]];

    #[test]
    fn every_block_of_every_observation_occurs_once() {
        for blocks in [1, 2, 7, 63, 1000] {
            for (first, len) in [(0, 1), (5, 64), (1 << 33, 257), (3, 0)] {
                let range = UnitRange { first, end: first + len };
                for most_blocks in [1, 2, 62, 5000] {
                    for most in [[1, 1], [64, 64], [200, 100], [1 << 31, 1000], [1 << 31, 1]] {
                        let limits = [most_blocks, most[0], most[1]];
                        for budgets in BUDGETS {
                            let cuts = cuts(cutter(blocks, limits, range), budgets);
                            assert_eq!(problem(&cuts, blocks, range), None, "{limits:?}");
                            let fits = |cut: &DispatchRange| {
                                cut.blocks.end - cut.blocks.start <= most_blocks
                                    && u64::from(cut.observations) <= most[0]
                            };
                            assert!(cuts.iter().all(fits), "{limits:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn broken_cuts_are_refused() {
        let range = UnitRange { first: 2, end: 102 };
        let good = || cuts(cutter(9, [4, 50, 30], range), &[100]);
        assert_eq!(problem(&good(), 9, range), None);
        let broken: [fn(&mut Vec<DispatchRange>); 6] = [
            |cuts| cuts.truncate(cuts.len() - 1),
            |cuts| cuts.swap(0, 1),
            |cuts| cuts.insert(0, cuts[0].clone()),
            |cuts| cuts[0].blocks.end -= 1,
            |cuts| cuts[0].observations -= 1,
            |cuts| cuts.sort_by_key(|cut| cut.blocks.start),
        ];
        for (i, change) in broken.into_iter().enumerate() {
            let mut cuts = good();
            change(&mut cuts);
            assert!(problem(&cuts, 9, range).is_some(), "{i}");
        }
    }

    #[test]
    fn dispatches_respect_their_budget_where_possible() {
        let range = UnitRange { first: 0, end: 100_000 };
        for (blocks, batch, budget) in [(7, 1000, 50_000), (100_000, 1000, 40_000), (3, 64, 384)] {
            let mut cutter = cutter(blocks, [50_000, 1 << 31, batch], range);
            for _ in 0..1000 {
                let Some(cut) = cutter.next(budget) else { break };
                let is_rest = cut.first + u64::from(cut.observations) == range.end;
                let is_small = cut.work() <= budget / 4;
                assert!(cut.work() <= budget && (is_rest || !is_small), "{cut:?}");
            }
        }
    }

    #[test]
    fn grids_cover_their_observations() {
        for workgroups in [1, 2, 7, 65_535] {
            let limits = PieceLimits { workgroups, binding_bytes: 0, turns: 1, wide: 1 };
            let most = limits.observations().min(1 << 31) as u32;
            for observations in [1, 63, 64, 65, 4096, 65_535 * 64, 65_535 * 64 + 1, most] {
                if observations > most {
                    continue;
                }
                let (x, y) = limits.grid(observations);
                assert!(x <= workgroups && y <= workgroups, "{observations}: {x}, {y}");
                let covered = u64::from(x) * u64::from(y) * u64::from(WORKGROUP);
                let spare = u64::from(x) * u64::from(WORKGROUP);
                assert!(
                    (u64::from(observations)..u64::from(observations) + spare).contains(&covered)
                );
            }
        }
    }
}
