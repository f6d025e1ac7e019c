//! The kernel of canary directions for a GPU: assembled WGSL source and uniforms.

use std::fmt::Write;

use dpscope_core::random::Purpose;

use super::{BLOCK, SUMS};
use crate::bgm::{WORKGROUP, shared_constants};
use crate::float::FloatMode;
use crate::wgsl::{Fields, wgsl};

/// Coordinates of a tile of words.
const TILE: usize = 1024;

/// Blocks of 16 words per block of coordinates.
const WORD_BLOCKS: u64 = (BLOCK / 16) as u64;

/// The kernel that multiplies directions of a seed, in exact mode.
#[derive(Debug, Clone)]
pub struct DirectionProgram {
    params: Fields,
}

impl DirectionProgram {
    /// The entry point.
    pub const ENTRY: &str = "multiply";

    /// Values per canary and block: a product and a square for each running sum.
    pub const VALUES: usize = 2 * SUMS;

    /// Blocks of 16 words that one invocation draws.
    pub const WORD_BLOCKS_PER_SUM: u64 = WORD_BLOCKS / SUMS as u64;

    /// Directions of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let params = vec![
            ("seed_low", seed as u32),
            ("seed_high", (seed >> 32) as u32),
            ("noise_purpose", Purpose::CanaryDirection as u32),
            ("zero", 0),
        ];
        DirectionProgram { params }
    }

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

    /// Fields of the uniform `dispatch` for `canaries` canaries and `blocks` blocks of coordinates.
    #[must_use]
    pub fn dispatch(canary: u64, canaries: u32, block: u64, blocks: u32) -> Fields {
        let words = WORD_BLOCKS * block;
        vec![
            ("canary_low", canary as u32),
            ("canary_high", (canary >> 32) as u32),
            ("words_low", words as u32),
            ("words_high", (words >> 32) as u32),
            ("blocks", blocks),
            ("sums", SUMS as u32 * blocks * canaries),
        ]
    }
}

fn assembled(barriers: bool) -> String {
    let mut source = shared_constants(FloatMode::Exact, barriers);
    let tiles = (BLOCK / TILE) as u32;
    for (name, value) in [("WORKGROUP", WORKGROUP), ("SUMS", SUMS as u32), ("TILES", tiles)] {
        let _ = writeln!(source, "const {name}: u32 = {value}u;");
    }
    source.push_str(wgsl!("products.wgsl"));
    source.push_str(wgsl!("../float.wgsl"));
    source.push_str(wgsl!("../random/chacha8.wgsl"));
    source.push_str(wgsl!("../random/normal.wgsl"));
    source
}
