//! The score kernel: random words, normals, sums and epoch scores of 64 observations at a time.
//!
//! The stages are separate loops over a tile in the first-level cache: fused with the transform,
//! ChaCha is not vectorised.

use super::draws::Draws;
use super::math::round_to_i32;
use super::moving::CentredSums;
use super::program::Program;
use super::setup::{Scoring, Setup};
use super::sums::Sums;
use crate::error::{Cancelled, KernelError};
use crate::float::FloatMode;
use crate::lanes::{InstructionSet, LANES, ROWS, Row, Tile, lane_fn};
use crate::random::normal::{self, Lanes, Origin};
use crate::random::{chacha8, stream_normals};
use dpscope_core::adjacency::World;
use dpscope_core::mechanism::{ScoreDistribution, ScoreDistributionKind};
use dpscope_core::random::{Purpose, key, stream_of, stream_words};

/// Blocks of 16 words per lane between cancellation checks: about 5 ms.
const BLOCKS_PER_CHECK: u32 = 4096;

/// Phase of an audit; the phases share no random words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Observations that determine histogram edges and thresholds.
    Pilot,
    /// Observations that are counted.
    Audit,
}

impl Phase {
    /// Random-stream purposes of noise and slots.
    const fn purposes(self) -> [Purpose; 2] {
        match self {
            Phase::Pilot => [Purpose::PilotNoise, Purpose::PilotSlots],
            Phase::Audit => [Purpose::AuditNoise, Purpose::AuditSlots],
        }
    }
}

/// Simulates and scores observations.
#[derive(Clone, Debug)]
pub struct ScoreKernel {
    pub(super) distribution: ScoreDistribution,
    pub(super) setup: Setup,
    seed: u64,
    phase: Phase,
    isa: InstructionSet,
}

/// Scratch memory for a group of 64 observations.
struct Scratch {
    words: Tile<u32>,
    normals: Tile<f32>,
    slots: Row<u32>,
    fixed: [Sums; 2],
    moving: [CentredSums; 2],
    totals: Row<i64>,
}

impl Scratch {
    fn new() -> Self {
        Scratch {
            words: Tile::new(),
            normals: Tile::new(),
            slots: [0; LANES],
            fixed: [Sums::new(), Sums::new()],
            moving: [CentredSums::new(), CentredSums::new()],
            totals: [0; LANES],
        }
    }

    fn clear_epoch(&mut self) {
        self.fixed.iter_mut().for_each(Sums::clear);
        self.moving.iter_mut().for_each(CentredSums::clear);
    }
}

/// Periodic cancellation check.
struct CancelCheck<'a> {
    keep_going: &'a (dyn Fn() -> bool + Sync),
    left: u32,
}

impl CancelCheck<'_> {
    fn pass(&mut self) -> Result<(), Cancelled> {
        if self.left == 0 {
            if !(self.keep_going)() {
                return Err(Cancelled);
            }
            self.left = BLOCKS_PER_CHECK;
        }
        self.left -= 1;
        Ok(())
    }
}

impl ScoreKernel {
    /// A kernel for a score distribution, using the widest instruction set of this machine.
    ///
    /// # Errors
    /// A distribution outside the domains of the kernels: [`KernelError`] names the argument and
    /// its value.
    pub fn new(
        distribution: &ScoreDistribution,
        seed: u64,
        phase: Phase,
    ) -> Result<Self, KernelError> {
        let setup = Setup::new(distribution)?;
        Ok(ScoreKernel {
            distribution: distribution.clone(),
            setup,
            seed,
            phase,
            isa: InstructionSet::detect(),
        })
    }

    /// This kernel on another instruction set; the scores have the same bits.
    #[must_use]
    pub fn with_instruction_set(mut self, isa: InstructionSet) -> Self {
        self.isa = isa;
        self
    }

    /// Nats per unit of [`ScoreKernel::scores`]: a power of two such that the largest score of an
    /// epoch takes at most 2³⁰ units.
    #[must_use]
    pub fn score_unit(&self) -> f64 {
        self.setup.unit
    }

    /// Number of normals per observation: epochs × entries.
    #[must_use]
    pub fn entries_per_observation(&self) -> u64 {
        u64::from(self.distribution.epochs) * u64::from(self.distribution.entries)
    }

    /// Scores of the observations `first`, `first` + 1, … in one world, in units of
    /// [`ScoreKernel::score_unit`].
    ///
    /// The score of an epoch is the formula of [`ScoreDistributionKind`] in f32, rounded to the
    /// nearest unit (ties to even); the sum over epochs is exact.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `world` | D or D′ | – |
    /// | `first` | number of the observation of `out[0]` | below 2⁶³ |
    /// | `out` | one score per observation | any length |
    /// | `keep_going` | called every few milliseconds; false cancels | – |
    ///
    /// # Guarantee
    /// An observation's score depends on the distribution, seed, phase, world and its number alone:
    /// not on
    /// `first`, `out.len()` or the instruction set (`unit::grouping_does_not_matter`,
    /// `unit::instruction_sets_agree`). It is finite for every draw
    /// (`shaders/src/bgm/scores/extremes.rs::extremes_stay_finite`).
    ///
    /// # Errors
    /// [`Cancelled`] if `keep_going` returned false; the contents of `out` are then undefined.
    ///
    /// # Numerics
    /// Against the f64 formula on the same draws, with ℓ the score: within
    /// 2e-6·(1 + 1/σ²) + 2e-7·|ℓ| nats an epoch; Poisson, 5e-8·q a step more; gaps above 2, up to
    /// 2e-5 more. From σ = 0.2 on, k slots of an epoch, 4e-7·k·(1 + ½/σ²) more, and fixed size,
    /// (2e-7·q·T + 1e-6)·(1 + 1/σ²) (`equals_the_formula`).
    ///
    /// # Example
    /// ```
    /// use dpscope_core::adjacency::World;
    /// use dpscope_core::mechanism::{ScoreDistributionKind, ScoreDistribution, SlotWeights};
    /// use dpscope_shaders::{Phase, ScoreKernel};
    ///
    /// let kind = ScoreDistributionKind::OneSlot { gap: 2.0, weights: SlotWeights::Uniform };
    /// let distribution = ScoreDistribution { noise_multiplier: 1.0, epochs: 1, entries: 100, kind
    /// }; let kernel = ScoreKernel::new(&distribution, 7, Phase::Audit)?;
    /// let mut scores = [0; 3];
    /// kernel.scores(World::Target, 0, &mut scores, &|| true)?;
    /// let nats = scores.map(|s| s as f64 * kernel.score_unit());
    /// println!("{nats:.4?}");
    /// # assert_eq!(format!("{nats:.4?}"), "[-0.0439, -0.1077, -0.1742]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scores(
        &self,
        world: World,
        first: u64,
        out: &mut [i64],
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Cancelled> {
        let mut cancel_check = CancelCheck { keep_going, left: 0 };
        let mut scratch = Scratch::new();
        let lanes = LANES as u64;
        let (mut observation, mut rest) = (first, out);
        while !rest.is_empty() {
            let lane = (observation % lanes) as usize;
            let count = rest.len().min(LANES - lane);
            let group = observation - observation % lanes;
            self.group(world, group, &mut scratch, &mut cancel_check)?;
            let (head, tail) = rest.split_at_mut(count);
            head.copy_from_slice(&scratch.totals[lane..lane + count]);
            (observation, rest) = (observation.wrapping_add(count as u64), tail);
        }
        Ok(())
    }

    /// The kernel as a program for a GPU.
    #[must_use]
    pub fn program(&self, mode: FloatMode) -> Program {
        let [noise, slots] = self.phase.purposes();
        Program::new(&self.distribution, &self.setup, self.seed, [noise as u32, slots as u32], mode)
    }

    /// The draws behind one observation's score, from the scalar generator; 5 bytes per entry.
    #[must_use]
    pub fn draws(&self, world: World, observation: u64) -> Draws {
        let count = self.entries_per_observation() as usize;
        let [noise, slots] = self.phase.purposes();
        let stream = stream_of(world, observation);
        let normals = stream_normals(self.seed, noise, stream, count);
        let entries = self.distribution.entries as usize;
        let target = match (&self.distribution.kind, &self.setup.slots) {
            (
                ScoreDistributionKind::Poisson { sampling_rate }
                | ScoreDistributionKind::FixedSize { sampling_rate },
                _,
            ) => {
                let including = super::steps::including_words(*sampling_rate);
                let mut words = vec![0; count];
                stream_words(self.seed, slots, stream, 0, &mut words);
                words.iter().map(|&w| u64::from(w) < including).collect()
            }
            (ScoreDistributionKind::SeveralSlots { uses_per_epoch }, _) => {
                (0..count).map(|i| i % entries < *uses_per_epoch as usize).collect()
            }
            (ScoreDistributionKind::OneSlot { .. }, None) => {
                (0..count).map(|i| i % entries == 0).collect()
            }
            (ScoreDistributionKind::OneSlot { .. }, Some(table)) => {
                let mut words = vec![0; self.distribution.epochs as usize];
                stream_words(self.seed, slots, stream, 0, &mut words);
                let slot = |i: usize| table.slot(words[i / entries]) as usize;
                (0..count).map(|i| i % entries == slot(i)).collect()
            }
        };
        Draws { normals, target }
    }

    /// Scores the 64 observations from `first`, a multiple of 64.
    fn group(
        &self,
        world: World,
        first: u64,
        scratch: &mut Scratch,
        cancel_check: &mut CancelCheck<'_>,
    ) -> Result<(), Cancelled> {
        let [noise, slots] = self.phase.purposes().map(|purpose| key(self.seed, purpose));
        let stream = stream_of(world, first);
        let total = self.entries_per_observation();
        let draws_inclusions = match self.setup.scoring {
            Scoring::FixedSize(_) => true,
            _ => self.setup.draws_inclusions() && world == World::Target,
        };
        scratch.totals = [0; LANES];
        scratch.clear_epoch();
        let (mut epoch, mut t) = (0, 0);
        for block in 0..total.div_ceil(ROWS as u64) {
            cancel_check.pass()?;
            let rows = (total - block * ROWS as u64).min(ROWS as u64) as usize;
            chacha8::blocks(self.isa, &noise, block, stream, &mut scratch.words);
            let origin = Origin { key: &noise, block, stream, lanes: Lanes::Streams };
            let pairs = rows.div_ceil(2);
            normal::normals(self.isa, &scratch.words, pairs, origin, &mut scratch.normals);
            if draws_inclusions {
                chacha8::blocks(self.isa, &slots, block, stream, &mut scratch.words);
            }
            let mut row = 0;
            while row < rows {
                if t == 0 {
                    self.draw_slots(&slots, stream, epoch, scratch);
                }
                let count = (rows - row).min((self.distribution.entries - t) as usize);
                self.add(world, t, row..row + count, scratch);
                (row, t) = (row + count, t + count as u32);
                if t == self.distribution.entries {
                    self.finish_epoch(scratch);
                    (epoch, t) = (epoch + 1, 0);
                }
            }
        }
        Ok(())
    }

    /// Draws the slot of each lane for an epoch, if slots are drawn; otherwise the slot is 0.
    fn draw_slots(&self, key: &[u32; 8], stream: u64, epoch: u64, scratch: &mut Scratch) {
        let Some(table) = &self.setup.slots else { return };
        for (slot, lane) in scratch.slots.iter_mut().zip(0_u64..) {
            let words = dpscope_core::random::chacha8::block(
                key,
                epoch / 16,
                stream.wrapping_add(2 * lane),
            );
            *slot = table.slot(words[(epoch % 16) as usize]);
        }
    }

    /// Adds rows of the tile; the first is entry `t` of the epoch.
    fn add(&self, world: World, t: u32, rows: std::ops::Range<usize>, scratch: &mut Scratch) {
        let Scratch { words, normals, slots, fixed, moving, .. } = scratch;
        let words = &mut words.0[rows.clone()];
        let normals = &mut normals.0[rows];
        match &self.setup.scoring {
            Scoring::Linear(linear) => linear.add(self.isa, world, normals, &mut fixed[0]),
            Scoring::Fixed(scoring) => scoring.add(self.isa, world, t, slots, normals, fixed),
            Scoring::Moving(scoring) => scoring.add(self.isa, world, t, slots, normals, moving),
            Scoring::Poisson(poisson) => {
                poisson.add(self.isa, world, words, normals, &mut fixed[0]);
            }
            Scoring::Allocated(poisson) => {
                for (row, entry) in words.iter_mut().zip(t..) {
                    *row = [entry; LANES];
                }
                poisson.add(self.isa, world, words, normals, &mut fixed[0]);
            }
            Scoring::FixedSize(fixed_size) => {
                fixed_size.add(self.isa, world, words, normals, &mut fixed[0]);
            }
        }
    }

    /// Rounds the scores of an epoch to units and adds them to the totals.
    fn finish_epoch(&self, scratch: &mut Scratch) {
        let mut score = [0.0; LANES];
        match &self.setup.scoring {
            Scoring::Linear(_)
            | Scoring::Poisson(_)
            | Scoring::Allocated(_)
            | Scoring::FixedSize(_) => score = scratch.fixed[0].total(),
            Scoring::Fixed(scoring) => scoring.score(self.isa, &scratch.fixed, &mut score),
            Scoring::Moving(scoring) => scoring.score(self.isa, &scratch.moving, &mut score),
        }
        let units_per_nat = (1.0 / self.setup.unit) as f32;
        add_units(self.isa, &score, units_per_nat, &mut scratch.totals);
        scratch.clear_epoch();
    }
}

#[inline(always)]
fn add_units_body(score: &Row<f32>, units_per_nat: f32, totals: &mut Row<i64>) {
    for lane in 0..LANES {
        totals[lane] += i64::from(round_to_i32(score[lane] * units_per_nat));
    }
}

lane_fn! {
    /// Adds the scores, rounded to units.
    fn add_units(score: &Row<f32>, units_per_nat: f32, totals: &mut Row<i64>) = add_units_body
}

#[cfg(test)]
mod extremes;

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_core::mechanism::SlotWeights;

    pub(super) fn one_slot(gap: f64) -> ScoreDistributionKind {
        ScoreDistributionKind::OneSlot { gap, weights: SlotWeights::Uniform }
    }

    pub(super) fn weighted(gap: f64, weights: impl Iterator<Item = f64>) -> ScoreDistributionKind {
        ScoreDistributionKind::OneSlot { gap, weights: SlotWeights::Weighted(weights.collect()) }
    }

    pub(super) fn kernel(
        noise_multiplier: f64,
        epochs: u32,
        entries: u32,
        kind: ScoreDistributionKind,
    ) -> ScoreKernel {
        let distribution = ScoreDistribution { noise_multiplier, epochs, entries, kind };
        ScoreKernel::new(&distribution, 20_261_121, Phase::Audit).unwrap()
    }

    /// One kernel per scoring method.
    fn kernels() -> Vec<ScoreKernel> {
        let halves = || (1..=37).map(|t| 0.9 * dpscope_core::math::exp2(f64::from(-t)));
        vec![
            kernel(1.0, 3, 37, one_slot(2.0)),
            kernel(1.0, 3, 37, one_slot(1.0)),
            kernel(1.0, 3, 37, weighted(2.0, halves())),
            kernel(1.0, 3, 37, weighted(1.0, halves())),
            kernel(0.1, 3, 37, one_slot(2.0)),
            kernel(0.1, 3, 37, weighted(1.0, halves())),
            kernel(3.0, 3, 37, one_slot(20.0)),
            kernel(1.0, 40, 1, one_slot(2.0)),
            kernel(0.7, 3, 37, ScoreDistributionKind::Poisson { sampling_rate: 0.05 }),
            kernel(0.05, 3, 37, ScoreDistributionKind::Poisson { sampling_rate: 0.05 }),
            kernel(0.7, 3, 37, ScoreDistributionKind::FixedSize { sampling_rate: 0.05 }),
            kernel(0.05, 3, 37, ScoreDistributionKind::FixedSize { sampling_rate: 0.05 }),
            kernel(0.7, 3, 37, ScoreDistributionKind::SeveralSlots { uses_per_epoch: 17 }),
        ]
    }

    fn scores(kernel: &ScoreKernel, world: World, first: u64, count: usize) -> Vec<i64> {
        let mut out = vec![0; count];
        kernel.scores(world, first, &mut out, &|| true).unwrap();
        out
    }

    #[test]
    fn instruction_sets_agree() {
        for kernel in kernels() {
            for world in World::BOTH {
                let expected = scores(&kernel, world, 0, 640);
                for isa in InstructionSet::available() {
                    let other = kernel.clone().with_instruction_set(isa);
                    assert_eq!(
                        scores(&other, world, 0, 640),
                        expected,
                        "{isa:?} {:?}",
                        kernel.distribution
                    );
                }
            }
            let other = ScoreKernel { seed: 1, ..kernel.clone() }; // the broken twin
            let [one, two] = [&kernel, &other].map(|k| scores(k, World::Target, 0, 640));
            assert_ne!(one, two);
        }
    }

    #[test]
    fn grouping_does_not_matter() {
        for kernel in kernels() {
            let whole = scores(&kernel, World::Target, 0, 300);
            for (first, count) in [(0, 0), (0, 1), (1, 63), (63, 2), (64, 64), (65, 200), (299, 1)]
            {
                let part = scores(&kernel, World::Target, first as u64, count);
                assert_eq!(part, whole[first..first + count], "{first} {count}");
            }
            assert_ne!(scores(&kernel, World::Target, 1, 64), whole[..64]);
            let far = u64::MAX / 2 - 70;
            assert_eq!(scores(&kernel, World::ZeroOut, far, 20).len(), 20);
        }
    }

    #[test]
    fn phases_and_worlds_share_no_draws() {
        for kernel in kernels() {
            let pilot = ScoreKernel { phase: Phase::Pilot, ..kernel.clone() };
            let audit = scores(&kernel, World::Target, 0, 64);
            assert_ne!(scores(&pilot, World::Target, 0, 64), audit);
            let mut draws = kernel.draws(World::Target, 3);
            assert_ne!(draws.normals, kernel.draws(World::ZeroOut, 3).normals);
            draws.target.truncate(37);
            let slots = draws.target.iter().filter(|&&hit| hit).count();
            let is_drawn = kernel.setup.draws_inclusions();
            let uses = match kernel.distribution.kind {
                ScoreDistributionKind::SeveralSlots { uses_per_epoch } => uses_per_epoch as usize,
                _ => 1,
            };
            assert!(is_drawn || slots <= uses * 37 / kernel.distribution.entries as usize);
        }
    }

    #[test]
    fn values_are_stable() {
        let first: Vec<i64> =
            kernels().iter().map(|kernel| scores(kernel, World::ZeroOut, 5, 1)[0]).collect();
        let expected = [
            -12_227_928,
            -3_658_144,
            -94_783_008,
            -33_095_996,
            -575_112_032,
            -460_241_168,
            35_266_183,
            -1_632_005_354,
            -4_356_033,
            -746_265,
            -13_595_038,
            -188_880_976,
            -166_867_422,
        ];
        assert_eq!(first, expected);
    }

    #[test]
    fn cancellation_is_checked_every_4096_blocks() {
        use std::sync::atomic::{AtomicU32, Ordering};
        let kernel = kernel(1.0, 1000, 1000, one_slot(2.0));
        assert_eq!(kernel.scores(World::Target, 0, &mut [0; 64], &|| false), Err(Cancelled));
        let asked = AtomicU32::new(0);
        let go = || asked.fetch_add(1, Ordering::Relaxed) < 1;
        assert_eq!(kernel.scores(World::Target, 0, &mut [0; 64], &go), Err(Cancelled));
        assert_eq!(asked.into_inner(), 2);
        assert_eq!(kernel.entries_per_observation(), 1_000_000);
    }
}
