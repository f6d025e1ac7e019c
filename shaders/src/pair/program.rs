//! The draws of the exact pair for a GPU: one source, and what a proposal binds to it.

use super::draws::{EXTREME, HEAD, PairKernel, RADIUS_WORDS, VALUES};
use crate::bgm::{WORKGROUP, shared_constants};
use crate::float::FloatMode;
use crate::wgsl::{Fields, wgsl};
use dpscope_core::random::Purpose;
use std::fmt::Write;

/// The kernel of a proposal for a GPU, in exact mode.
#[derive(Debug, Clone)]
pub struct PairProgram {
    law: Fields,
    thresholds: Vec<u32>,
    blocks: u64,
}

impl PairProgram {
    /// The entry point.
    pub const ENTRY: &str = "draw";

    /// Words that a draw yields.
    pub const VALUES: usize = VALUES;

    /// The WGSL source.
    #[must_use]
    pub fn source() -> String {
        assembled(true)
    }

    /// The same for a compiler that is told of each operation that it must neither be fused nor
    /// reordered: without the barriers that make WGSL keep to it.
    #[must_use]
    pub fn source_without_barriers() -> String {
        assembled(false)
    }

    /// The uniform `law`, fields of 4 bytes by name and in order.
    #[must_use]
    pub fn law(&self) -> &[(&'static str, u32)] {
        &self.law
    }

    /// The buffer `thresholds`; empty where there is one component.
    #[must_use]
    pub fn thresholds(&self) -> &[u32] {
        &self.thresholds
    }

    /// Blocks of 16 words that an epoch takes, each of them a turn of the kernel's loop.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The uniform `dispatch` of draws `first`, `first` + 1, …
    #[must_use]
    pub fn dispatch(&self, first: u64, draws: u32) -> Vec<(&'static str, u32)> {
        vec![("first_low", first as u32), ("first_high", (first >> 32) as u32), ("draws", draws)]
    }
}

impl PairKernel {
    /// The same kernel for a GPU.
    #[must_use]
    pub fn program(&self) -> PairProgram {
        let law = &self.law;
        let bits = law.shifts_other.iter().enumerate().map(|(i, &shifts)| u32::from(shifts) << i);
        let fields = vec![
            ("seed_low", self.seed() as u32),
            ("seed_high", (self.seed() >> 32) as u32),
            ("noise_purpose", Purpose::PairNoise as u32),
            ("steps", self.proposal().steps_per_epoch() as u32),
            ("thresholds", law.thresholds.len() as u32),
            ("shifts_other", bits.sum()),
            ("other_shift", law.other_shift.to_bits()),
            ("slope", law.slopes[0].to_bits()),
            ("slope_others", law.slopes[1].to_bits()),
            ("span", law.span.to_bits()),
            ("zero", 0),
        ];
        PairProgram { law: fields, thresholds: law.thresholds.clone(), blocks: self.blocks() }
    }
}

fn assembled(barriers: bool) -> String {
    let mut source = shared_constants(FloatMode::Exact, barriers);
    for (name, value) in [
        ("WORKGROUP", WORKGROUP),
        ("HEAD", HEAD as u32),
        ("EXTREME", EXTREME),
        ("LEAST_RADIUS_WORD", *RADIUS_WORDS.start()),
        ("MOST_RADIUS_WORD", *RADIUS_WORDS.end()),
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
