//! The kernel of the exact pair for a GPU: assembled WGSL source, uniforms and buffers.

use super::draws::{EXTREME, HEAD, PairKernel, RADIUS_WORDS, VALUES};
use crate::bgm::{WORKGROUP, shared_constants};
use crate::float::FloatMode;
use crate::wgsl::{Fields, wgsl};
use dpscope_core::random::Purpose;
use std::fmt::Write;

/// The kernel of a proposal for a GPU, in exact mode.
#[derive(Debug, Clone)]
pub struct PairProgram {
    params: Fields,
    thresholds: Vec<u32>,
    blocks: u64,
}

impl PairProgram {
    /// The entry point.
    pub const ENTRY: &str = "draw";

    /// Number of words per draw.
    pub const VALUES: usize = VALUES;

    /// The WGSL source.
    #[must_use]
    pub fn source() -> String {
        assembled(true)
    }

    /// The source without optimisation barriers, for compilers that are instructed not to fuse or
    /// reorder operations.
    #[must_use]
    pub fn source_without_barriers() -> String {
        assembled(false)
    }

    /// The 4-byte fields of the uniform `params`, by name and in order.
    #[must_use]
    pub fn params(&self) -> &[(&'static str, u32)] {
        &self.params
    }

    /// Contents of the buffer `thresholds`; empty for a single component.
    #[must_use]
    pub fn thresholds(&self) -> &[u32] {
        &self.thresholds
    }

    /// Blocks of 16 words per epoch; each is an iteration of the kernel's loop.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Fields of the uniform `dispatch` for draws `first`, `first` + 1, …
    #[must_use]
    pub fn dispatch(&self, first: u64, draws: u32) -> Vec<(&'static str, u32)> {
        vec![("first_low", first as u32), ("first_high", (first >> 32) as u32), ("draws", draws)]
    }
}

impl PairKernel {
    /// The kernel as a program for a GPU.
    #[must_use]
    pub fn program(&self) -> PairProgram {
        let constants = &self.constants;
        let bits =
            constants.shifts_other.iter().enumerate().map(|(i, &shifts)| u32::from(shifts) << i);
        let fields = vec![
            ("seed_low", self.seed() as u32),
            ("seed_high", (self.seed() >> 32) as u32),
            ("noise_purpose", Purpose::PairNoise as u32),
            ("steps", self.proposal().steps_per_epoch() as u32),
            ("thresholds", constants.thresholds.len() as u32),
            ("shifts_other", bits.sum()),
            ("other_shift", constants.other_shift.to_bits()),
            ("slope", constants.slopes[0].to_bits()),
            ("slope_others", constants.slopes[1].to_bits()),
            ("span", constants.span.to_bits()),
            ("zero", 0),
        ];
        PairProgram {
            params: fields,
            thresholds: constants.thresholds.clone(),
            blocks: self.blocks(),
        }
    }
}

fn assembled(barriers: bool) -> String {
    let mut source = shared_constants(FloatMode::Exact, barriers);
    for (name, value) in [
        ("WORKGROUP", WORKGROUP),
        ("HEAD", HEAD as u32),
        ("EXTREME", EXTREME),
        ("MIN_RADIUS_WORD", *RADIUS_WORDS.start()),
        ("MAX_RADIUS_WORD", *RADIUS_WORDS.end()),
    ] {
        let _ = writeln!(source, "const {name}: u32 = {value}u;");
    }
    source.push_str(wgsl!("draws.wgsl"));
    source.push_str(wgsl!("../float.wgsl"));
    source.push_str(wgsl!("../random/chacha8.wgsl"));
    source.push_str(wgsl!("../random/normal.wgsl"));
    source.push_str(wgsl!("../bgm/math.wgsl"));
    source
}
