//! Twin of `draws.wgsl`: epochs of the exact pair, drawn from a proposal and reduced to sums.
//!
//! Word 0 of an epoch's stream selects the component, word 1 is unused, and words 2 + t (with the
//! next or previous word) give the normal of slot t. All shifts but that of another slot are added
//! by the host, in f64: the kernel sums over the other slots, in units of σ, beside a centre c,
//!
//! Σ 2^(s(z − c)), Σ 2^(2s(z − c)), Σ 2^(bs(z − c)), Σ z,  s = log₂e/σ,
//!
//! and returns the target's normal unchanged. The centre is the largest normal of a block, and
//! moves only where a term would exceed 2⁶⁰: so there are few moves, however long the epoch.

use crate::bgm::{Sums, exp2_from_below};
use crate::error::{Cancelled, KernelError};
use crate::lanes::{InstructionSet, LANES, ROWS, Row, Tile, lane_fn};
use crate::random::chacha8;
use crate::random::normal::{self, Lanes, Origin};
use dpscope_core::accounting::pair::{Draw, EpochSums, Proposal, Shift};
use dpscope_core::adjacency::World;
use dpscope_core::random::{Purpose, key, stream_of};
use std::f64::consts::LOG2_E;
use std::ops::RangeInclusive;

/// Number of 4-byte values per epoch.
pub const VALUES: usize = 8;

/// Maximum number of steps per epoch: beyond, the error of f32 sums is no longer small, and loops
/// are too long for some drivers.
pub const MAX_STEPS: usize = 1 << 16;

/// Maximum number of components of a proposal.
pub(super) const COMPONENTS: usize = 16;

/// Rows of the first block before the first normal.
pub(super) const HEAD: usize = 2;

/// Number of bits by which the largest term may exceed that of the centre.
pub(super) const SPAN_BITS: f64 = 60.0;

/// Below every normal, and far from overflow under every slope.
pub(super) const NOWHERE: f32 = -1e20;

/// Radius words whose normals have a small proven error: not the first, whose radius is unbounded,
/// nor the last 2¹⁴, whose radius is comparable with the resolution of the word.
pub(super) const RADIUS_WORDS: RangeInclusive<u32> = 1..=u32::MAX - (1 << 14);

/// Set in the last value of an epoch if a radius word is outside [`RADIUS_WORDS`].
pub(super) const EXTREME: u32 = 1 << 31;

/// Blocks of 16 words per lane between cancellation checks: about 5 ms.
const BLOCKS_PER_CHECK: u64 = 4096;

/// Supported noise multipliers; exponents stay far from the limits of f32.
pub(super) const NOISE_MULTIPLIERS: RangeInclusive<f64> = 0.01..=1e4;

/// Draws epochs from a proposal.
#[derive(Debug, Clone)]
pub struct PairKernel {
    proposal: Proposal,
    seed: u64,
    isa: InstructionSet,
    pub(super) constants: ProposalConstants,
}

/// Constants of a proposal for the kernel.
#[derive(Debug, Clone)]
pub(super) struct ProposalConstants {
    /// log₂e/σ and log₂e·b/σ.
    pub(super) slopes: [f32; 2],
    /// Maximum distance of the largest normal above the centre.
    pub(super) span: f32,
    /// b/σ
    pub(super) other_shift: f32,
    /// First word of each component except the first.
    pub(super) thresholds: Vec<u32>,
    /// The components that shift another slot.
    pub(super) shifts_other: Vec<bool>,
}

impl ProposalConstants {
    fn new(proposal: &Proposal) -> Self {
        let (sigma, b) = (proposal.noise_multiplier(), proposal.other_shift());
        let mut below = 0.0;
        let mut thresholds = Vec::new();
        for component in proposal.components() {
            below += component.probability;
            thresholds.push((below * 4_294_967_296.0).round() as u32);
        }
        // the last component takes the remaining words
        thresholds.pop();
        let is_other = |shift| matches!(shift, Shift::Other(_));
        ProposalConstants {
            slopes: [(LOG2_E / sigma) as f32, (LOG2_E * b / sigma) as f32],
            span: (SPAN_BITS * sigma / (LOG2_E * b.max(2.0))) as f32,
            other_shift: (b / sigma) as f32,
            thresholds,
            shifts_other: proposal.components().iter().map(|c| is_other(c.shift)).collect(),
        }
    }
}

/// Sums over the other slots of 64 epochs.
struct Scratch {
    words: Tile<u32>,
    normals: Tile<f32>,
    component: Row<u32>,
    is_extreme: Row<u32>,
    target: Row<f32>,
    centre: Row<f32>,
    maximum: Row<f32>,
    sums: [Sums; 4],
}

impl Scratch {
    fn new() -> Self {
        Scratch {
            words: Tile::new(),
            normals: Tile::new(),
            component: [0; LANES],
            is_extreme: [0; LANES],
            target: [0.0; LANES],
            centre: [NOWHERE; LANES],
            maximum: [NOWHERE; LANES],
            sums: [Sums::new(), Sums::new(), Sums::new(), Sums::new()],
        }
    }

    fn clear(&mut self) {
        self.is_extreme = [0; LANES];
        self.centre = [NOWHERE; LANES];
        self.maximum = [NOWHERE; LANES];
        self.sums.iter_mut().for_each(Sums::clear);
    }
}

impl PairKernel {
    /// A kernel for a proposal, using the widest instruction set of this machine.
    ///
    /// # Errors
    /// A proposal outside the domain of the kernel: [`KernelError`] names the argument and its
    /// value.
    pub fn new(proposal: &Proposal, seed: u64) -> Result<Self, KernelError> {
        let (value, steps) = (proposal.noise_multiplier(), proposal.steps_per_epoch());
        if !NOISE_MULTIPLIERS.contains(&value) {
            return Err(KernelError::PairNoiseMultiplier { value });
        }
        if !(2..=MAX_STEPS).contains(&steps) {
            return Err(KernelError::PairSteps { value: steps });
        }
        if proposal.components().len() > COMPONENTS {
            return Err(KernelError::Components { value: proposal.components().len() });
        }
        let constants = ProposalConstants::new(proposal);
        Ok(PairKernel {
            proposal: proposal.clone(),
            seed,
            isa: InstructionSet::detect(),
            constants,
        })
    }

    /// This kernel on another instruction set; the draws have the same bits.
    #[must_use]
    pub fn with_instruction_set(mut self, isa: InstructionSet) -> Self {
        self.isa = isa;
        self
    }

    /// The proposal.
    #[must_use]
    pub fn proposal(&self) -> &Proposal {
        &self.proposal
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// Blocks of 16 words per epoch.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        (HEAD + self.proposal.steps_per_epoch()).div_ceil(ROWS) as u64
    }

    /// Draws `first`, `first` + 1, …, computed from [`PairKernel::values`].
    ///
    /// # Guarantee
    /// A draw depends on the proposal, the seed and its number alone
    /// (`unit::grouping_and_instruction_sets_do_not_matter`), and is within [`PairKernel::error`]
    /// of the f64 route on the same words
    /// (`tests/agreement/pair.rs::draws_are_within_the_derived_error`).
    ///
    /// # Errors
    /// [`Cancelled`] if `keep_going` returned false.
    pub fn draws(
        &self,
        first: u64,
        count: usize,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Draw>, Cancelled> {
        let mut draws = Vec::with_capacity(count);
        let each = |values: &[u32; VALUES]| draws.push(self.draw_of(values));
        self.each(first, count, keep_going, each)?;
        Ok(draws)
    }

    /// The output of `draws.wgsl` for draws `first`, `first` + 1, …
    ///
    /// # Errors
    /// [`Cancelled`] if `keep_going` returned false.
    pub fn values(
        &self,
        first: u64,
        count: usize,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<[u32; VALUES]>, Cancelled> {
        let mut all = Vec::with_capacity(count);
        self.each(first, count, keep_going, |values| all.push(*values))?;
        Ok(all)
    }

    /// The draw represented by the values of an epoch.
    #[must_use]
    pub fn draw_of(&self, values: &[u32; VALUES]) -> Draw {
        self.proposal.draw_of(&self.epoch_sums(values))
    }

    /// The sums represented by the values of an epoch, including the shifts that the kernel omits.
    #[must_use]
    pub fn epoch_sums(&self, values: &[u32; VALUES]) -> EpochSums {
        let value = |index: usize| f64::from(f32::from_bits(values[index]));
        let sigma = self.proposal.noise_multiplier();
        let picked = (values[7] & !EXTREME) as usize;
        let shift = self.proposal.components().get(picked).map_or(Shift::None, |c| c.shift);
        let (target, all) = match shift {
            Shift::Target(shift) => (2.0 + shift, 0.0),
            Shift::All(shift) => (2.0 + shift, shift),
            Shift::None | Shift::Other(_) => (2.0, 0.0),
        };
        let others = (self.proposal.steps_per_epoch() - 1) as f64;
        EpochSums {
            target: sigma * value(0) + target,
            centre: sigma * value(1) + all,
            maximum: sigma * value(2) + all,
            total: sigma * value(3) + others * all,
            first: value(4),
            second: value(5),
            others: value(6),
            is_certain: values[7] & EXTREME == 0,
        }
    }

    fn each(
        &self,
        first: u64,
        count: usize,
        keep_going: &(dyn Fn() -> bool + Sync),
        mut each: impl FnMut(&[u32; VALUES]),
    ) -> Result<(), Cancelled> {
        let groups_per_check = (BLOCKS_PER_CHECK / self.blocks()).max(1);
        let mut scratch = Scratch::new();
        let end = first.saturating_add(count as u64);
        let (mut draw, mut groups) = (first, 0);
        while draw < end {
            if groups % groups_per_check == 0 && !keep_going() {
                return Err(Cancelled);
            }
            groups += 1;
            let group = draw - draw % LANES as u64;
            self.group(group, &mut scratch);
            let until = end.min(group + LANES as u64);
            for lane in (draw - group) as usize..(until - group) as usize {
                each(&values_of(&scratch, lane));
            }
            draw = until;
        }
        Ok(())
    }

    /// Processes the 64 epochs from `first`, a multiple of 64.
    fn group(&self, first: u64, scratch: &mut Scratch) {
        let key = key(self.seed, Purpose::PairNoise);
        let stream = stream_of(World::Target, first);
        let end = HEAD + self.proposal.steps_per_epoch();
        scratch.clear();
        for block in 0..self.blocks() {
            let start = block as usize * ROWS;
            let rows = (end - start).min(ROWS);
            let pairs = rows.div_ceil(2);
            chacha8::blocks(self.isa, &key, block, stream, &mut scratch.words);
            let origin = Origin { key: &key, block, stream, lanes: Lanes::Streams };
            normal::normals(self.isa, &scratch.words, pairs, origin, &mut scratch.normals);
            let head = if block == 0 { HEAD } else { 0 };
            let radii = &scratch.words.0[head..rows];
            mark_extremes(self.isa, radii, &mut scratch.is_extreme);
            let others = if block == 0 { HEAD + 1 } else { 0 };
            if block == 0 {
                self.begin(scratch);
            }
            self.add(others..rows, scratch);
        }
    }

    /// Selects the components and saves the target's normal.
    fn begin(&self, scratch: &mut Scratch) {
        let Scratch { words, normals, component, target, .. } = scratch;
        for (lane, word) in words.0[0].iter().enumerate() {
            let below = |threshold: &&u32| *threshold <= word;
            let picked = self.constants.thresholds.iter().take_while(below).count();
            component[lane] = picked as u32;
            if self.constants.shifts_other[picked] {
                normals.0[HEAD + 1][lane] += self.constants.other_shift;
            }
        }
        *target = normals.0[HEAD];
    }

    fn add(&self, rows: std::ops::Range<usize>, scratch: &mut Scratch) {
        let Scratch { normals, centre, maximum, sums, .. } = scratch;
        let rows = &normals.0[rows];
        let mut scales = [[1.0; LANES]; 4];
        let mut added = [[0.0; LANES]; 4];
        move_centre(self.isa, &self.constants, rows, centre, maximum, &mut scales);
        add_terms(self.isa, &self.constants.slopes, rows, centre, &mut added);
        for ((sums, scale), added) in sums.iter_mut().zip(&scales).zip(&added) {
            let used = sums.used();
            rescale(self.isa, scale, added, &mut sums.levels[..used]);
            sums.carry();
        }
    }
}

fn values_of(scratch: &Scratch, lane: usize) -> [u32; VALUES] {
    let [total, first, second, others] = &scratch.sums;
    let total_of = |sums: &Sums| sums.total_of(lane).to_bits();
    [
        scratch.target[lane].to_bits(),
        scratch.centre[lane].to_bits(),
        scratch.maximum[lane].to_bits(),
        total_of(total),
        total_of(first),
        total_of(second),
        total_of(others),
        scratch.component[lane] | scratch.is_extreme[lane],
    ]
}

#[inline(always)]
fn mark_extremes_body(words: &[Row<u32>], is_extreme: &mut Row<u32>) {
    let (least, most) = (*RADIUS_WORDS.start(), *RADIUS_WORDS.end());
    for radius in words.iter().step_by(2) {
        for lane in 0..LANES {
            let extreme = radius[lane] < least || radius[lane] > most;
            is_extreme[lane] |= if extreme { EXTREME } else { 0 };
        }
    }
}

#[inline(always)]
fn move_centre_body(
    constants: &ProposalConstants,
    rows: &[Row<f32>],
    centre: &mut Row<f32>,
    maximum: &mut Row<f32>,
    scales: &mut [Row<f32>; 4],
) {
    let mut largest = [NOWHERE; LANES];
    for row in rows {
        for lane in 0..LANES {
            largest[lane] = if row[lane] > largest[lane] { row[lane] } else { largest[lane] };
        }
    }
    let [_, first, second, others] = scales;
    for lane in 0..LANES {
        let far = largest[lane] - centre[lane] > constants.span;
        let moved = if far { largest[lane] } else { centre[lane] };
        let down = centre[lane] - moved;
        first[lane] = exp2_from_below(down * constants.slopes[0]);
        second[lane] = first[lane] * first[lane];
        others[lane] = exp2_from_below(down * constants.slopes[1]);
        centre[lane] = moved;
        maximum[lane] = if largest[lane] > maximum[lane] { largest[lane] } else { maximum[lane] };
    }
}

/// Number of lanes whose four sums fit in registers.
const STRIP: usize = 16;

#[inline(always)]
fn add_terms_body(
    slopes: &[f32; 2],
    rows: &[Row<f32>],
    centre: &Row<f32>,
    added: &mut [Row<f32>; 4],
) {
    let [total, first, second, others] = added;
    for from in (0..LANES).step_by(STRIP) {
        let (mut t, mut a, mut b, mut c) = ([0.0; STRIP], [0.0; STRIP], [0.0; STRIP], [0.0; STRIP]);
        for row in rows {
            for lane in 0..STRIP {
                let z = row[from + lane];
                let beside = z - centre[from + lane];
                let y = exp2_from_below(beside * slopes[0]);
                t[lane] += z;
                a[lane] += y;
                b[lane] += y * y;
                c[lane] += exp2_from_below(beside * slopes[1]);
            }
        }
        total[from..from + STRIP].copy_from_slice(&t);
        first[from..from + STRIP].copy_from_slice(&a);
        second[from..from + STRIP].copy_from_slice(&b);
        others[from..from + STRIP].copy_from_slice(&c);
    }
}

#[inline(always)]
fn rescale_body(scale: &Row<f32>, added: &Row<f32>, levels: &mut [Row<f32>]) {
    for level in levels.iter_mut() {
        for lane in 0..LANES {
            level[lane] *= scale[lane];
        }
    }
    if let [lowest, ..] = levels {
        for lane in 0..LANES {
            lowest[lane] += added[lane];
        }
    }
}

lane_fn! {
    /// Marks lanes with a radius word outside [`RADIUS_WORDS`]; every second row contains radius
    /// words.
    fn mark_extremes(words: &[Row<u32>], is_extreme: &mut Row<u32>) = mark_extremes_body
}
lane_fn! {
    /// Moves the centre if the largest of `rows` is too far above it; computes the resulting scale
    /// factors of the four sums.
    fn move_centre(
        constants: &ProposalConstants,
        rows: &[Row<f32>],
        centre: &mut Row<f32>,
        maximum: &mut Row<f32>,
        scales: &mut [Row<f32>; 4],
    ) = move_centre_body
}
lane_fn! {
    /// The four sums over `rows`.
    fn add_terms(
        slopes: &[f32; 2],
        rows: &[Row<f32>],
        centre: &Row<f32>,
        added: &mut [Row<f32>; 4],
    ) = add_terms_body
}
lane_fn! {
    /// Rescales a sum and adds to it.
    fn rescale(scale: &Row<f32>, added: &Row<f32>, levels: &mut [Row<f32>]) = rescale_body
}

#[cfg(test)]
mod tests;
