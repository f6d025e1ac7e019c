//! The score kernel for a GPU: assembled WGSL source, uniforms and buffers.

use super::math::{EXP2, LN, ROUNDER, WHOLE};
use super::setup::{Scoring, Setup};
use super::slots::SlotTable;
use super::steps::LARGE;
use crate::float::FloatMode;
use crate::lanes::ROWS;
use crate::random::normal::{COS, DEEP, RADIUS, SIN, SQRT_HALF_BITS};
use crate::wgsl::{Fields, wgsl};
use dpscope_core::audit::histogram::ScoreBins;
use dpscope_core::mechanism::ScoreDistribution;
use std::fmt::Write;
use std::ops::Range;

/// Invocations per workgroup.
pub const WORKGROUP: u32 = 64;

/// 4-byte values of state per observation between dispatches.
pub const STATE_VALUES: u32 = 15;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ScoringMethod {
    Fixed,
    Moving,
    Linear,
    Poisson,
    FixedSize,
    SeveralSlots,
}

/// Methods whose score is a sum over steps.
const BY_STEP: [ScoringMethod; 4] = [
    ScoringMethod::Linear,
    ScoringMethod::Poisson,
    ScoringMethod::FixedSize,
    ScoringMethod::SeveralSlots,
];

/// A variant of the source code; programs of one variant differ only in their bindings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant {
    method: ScoringMethod,
    two_sums: bool,
    weighted: bool,
    mode: FloatMode,
}

impl Variant {
    /// All variants that plans can need.
    #[must_use]
    pub fn all() -> Vec<Variant> {
        let mut all = Vec::new();
        for mode in [FloatMode::Exact, FloatMode::Fast] {
            for method in [ScoringMethod::Fixed, ScoringMethod::Moving] {
                for (two_sums, weighted) in
                    [(false, false), (false, true), (true, false), (true, true)]
                {
                    all.push(Variant { method, two_sums, weighted, mode });
                }
            }
            for method in BY_STEP {
                let (two_sums, weighted) = (false, false);
                all.push(Variant { method, two_sums, weighted, mode });
            }
        }
        all
    }

    /// Float mode.
    #[must_use]
    pub fn mode(self) -> FloatMode {
        self.mode
    }

    /// A short name, such as `fixed-two-sums-exact`.
    #[must_use]
    pub fn name(self) -> String {
        let method = match self.method {
            ScoringMethod::Fixed => "fixed",
            ScoringMethod::Moving => "moving",
            ScoringMethod::Linear => "linear",
            ScoringMethod::Poisson => "poisson",
            ScoringMethod::FixedSize => "fixed-size",
            ScoringMethod::SeveralSlots => "several-slots",
        };
        let sums = if self.two_sums { "-two-sums" } else { "" };
        let weighted = if self.weighted { "-weighted" } else { "" };
        format!("{method}{sums}{weighted}-{}", self.mode)
    }

    /// The WGSL source; its entry point is `count`.
    #[must_use]
    pub fn source(self) -> String {
        self.assembled(true)
    }

    /// The source without optimisation barriers, for compilers that are instructed not to fuse or
    /// reorder operations.
    #[must_use]
    pub fn source_without_barriers(self) -> String {
        self.assembled(false)
    }

    fn assembled(self, barriers: bool) -> String {
        let mut source = shared_constants(self.mode, barriers);
        source.push_str(&self.constants());
        source.push_str(wgsl!("scores.wgsl"));
        source.push_str(wgsl!("../float.wgsl"));
        source.push_str(wgsl!("../random/chacha8.wgsl"));
        source.push_str(wgsl!("../random/normal.wgsl"));
        source.push_str(wgsl!("math.wgsl"));
        source.push_str(wgsl!("sums.wgsl"));
        source.push_str(wgsl!("slots.wgsl"));
        source.push_str(match self.method {
            ScoringMethod::Fixed => wgsl!("fixed.wgsl"),
            ScoringMethod::Moving => wgsl!("moving.wgsl"),
            _ => wgsl!("steps.wgsl"),
        });
        source
    }

    /// Constants that the WGSL files share with their twins.
    fn constants(self) -> String {
        let mut text = String::new();
        let draws_inclusions =
            matches!(self.method, ScoringMethod::Poisson | ScoringMethod::FixedSize);
        for (name, value) in [
            ("TWO_SUMS", self.two_sums),
            ("WEIGHTED", self.weighted),
            ("LINEAR", self.method == ScoringMethod::Linear),
            ("FIXED_SIZE", self.method == ScoringMethod::FixedSize),
            ("ALLOCATED", self.method == ScoringMethod::SeveralSlots),
            ("DRAWS_INCLUSIONS", draws_inclusions),
        ] {
            let _ = writeln!(text, "const {name}: bool = {value};");
        }
        for (name, value) in [("WORKGROUP", WORKGROUP), ("STATE_VALUES", STATE_VALUES)] {
            let _ = writeln!(text, "const {name}: u32 = {value}u;");
        }
        let _ = writeln!(text, "const LARGE: f32 = {:?}f;", f64::from(LARGE));
        text
    }
}

/// Constants that the WGSL files of normals and elementary functions share with their twins.
pub(crate) fn shared_constants(mode: FloatMode, barriers: bool) -> String {
    let mut text = String::new();
    for (name, value) in [("EXACT", mode == FloatMode::Exact), ("BARRIERS", barriers)] {
        let _ = writeln!(text, "const {name}: bool = {value};");
    }
    for (name, value) in [("DEEP", DEEP), ("SQRT_HALF_BITS", SQRT_HALF_BITS)] {
        let _ = writeln!(text, "const {name}: u32 = {value}u;");
    }
    let ln_2 = std::f32::consts::LN_2;
    let single = [("MINUS_2_LN_2", -2.0 * ln_2), ("LN_OF_2", ln_2), ("ROUNDER", ROUNDER)];
    // Printed as f64: exact, and avoids a second float formatter in web bundles.
    for (name, value) in single.into_iter().chain([("WHOLE", WHOLE)]) {
        let value = f64::from(value);
        let _ = writeln!(text, "const {name}: f32 = {value:?}f;");
    }
    for (name, values) in
        [("RADIUS", &RADIUS[..]), ("SIN", &SIN), ("COS", &COS), ("EXP2", &EXP2), ("LN", &LN)]
    {
        for (i, &value) in values.iter().enumerate() {
            let value = f64::from(value);
            let _ = writeln!(text, "const {name}_{i}: f32 = {value:?}f;");
        }
    }
    text
}

/// The score kernel of a plan for a GPU.
#[derive(Debug, Clone)]
pub struct Program {
    variant: Variant,
    params: Fields,
    scoring: Fields,
    weights: Vec<f32>,
    thresholds: Vec<u32>,
    epochs: u32,
    entries: u32,
}

/// A range of blocks of random words for a range of observations.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece<'a> {
    /// The first observation.
    pub first: u64,
    /// Number of observations of each world.
    pub observations: u32,
    /// Blocks of 16 words; at most 2³² − 1.
    pub blocks: Range<u64>,
    /// Histogram bins; `None` to record scores.
    pub bins: Option<&'a ScoreBins>,
}

impl Program {
    pub(super) fn new(
        distribution: &ScoreDistribution,
        setup: &Setup,
        seed: u64,
        purposes: [u32; 2],
        mode: FloatMode,
    ) -> Self {
        let (method, (two_sums, weighted), scoring, weights) = match &setup.scoring {
            Scoring::Fixed(s) => (ScoringMethod::Fixed, s.shape(), s.fields(), s.weights()),
            Scoring::Moving(s) => (ScoringMethod::Moving, s.shape(), s.fields(), s.weights()),
            Scoring::Linear(s) => (ScoringMethod::Linear, (false, false), s.fields(), &[][..]),
            Scoring::Poisson(s) => (ScoringMethod::Poisson, (false, false), s.fields(), &[][..]),
            Scoring::FixedSize(s) => {
                (ScoringMethod::FixedSize, (false, false), s.fields(), &[][..])
            }
            Scoring::Allocated(s) => {
                (ScoringMethod::SeveralSlots, (false, false), s.fields(), &[][..])
            }
        };
        let thresholds = setup.slots.as_ref().map_or(Vec::new(), SlotTable::reachable);
        let units_per_nat = (1.0 / setup.unit) as f32;
        let param_fields = vec![
            ("seed_low", seed as u32),
            ("seed_high", (seed >> 32) as u32),
            ("noise_purpose", purposes[0]),
            ("slots_purpose", purposes[1]),
            ("entries", distribution.entries),
            ("thresholds", thresholds.len() as u32),
            ("units_per_nat", units_per_nat.to_bits()),
            ("zero", 0),
        ];
        Program {
            variant: Variant { method, two_sums, weighted, mode },
            params: param_fields,
            scoring,
            weights: weights.to_vec(),
            thresholds,
            epochs: distribution.epochs,
            entries: distribution.entries,
        }
    }

    /// Variant of the source code.
    #[must_use]
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The 4-byte fields of the uniforms `params` and `scoring`, by name and in order.
    #[must_use]
    pub fn uniforms(&self) -> [&[(&'static str, u32)]; 2] {
        [&self.params, &self.scoring]
    }

    /// Contents of the buffer `weights`; empty for uniform slots.
    #[must_use]
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Contents of the buffer `thresholds`; empty for uniform slots.
    #[must_use]
    pub fn thresholds(&self) -> &[u32] {
        &self.thresholds
    }

    /// Blocks of 16 words per observation: ⌈epochs·entries/16⌉.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.words().div_ceil(ROWS as u64)
    }

    fn words(&self) -> u64 {
        u64::from(self.epochs) * u64::from(self.entries)
    }

    /// Maximum number of loop iterations per block: some drivers silently terminate a loop after
    /// 65,536 iterations of all nested loops.
    #[must_use]
    pub fn iterations_per_block(&self) -> u32 {
        let segments = (ROWS as u32).div_ceil(self.entries) + 1;
        let search = u32::BITS - (self.thresholds.len() as u32).leading_zeros();
        1 + segments * (1 + if self.thresholds.is_empty() { 0 } else { search + 1 })
    }

    /// Fields of the uniform `dispatch` for a piece.
    ///
    /// `piece.blocks` must be within 0..[`blocks`](Self::blocks). State is preserved between
    /// consecutive pieces of the same observations.
    #[must_use]
    pub fn dispatch(&self, piece: &Piece<'_>) -> Vec<(&'static str, u32)> {
        let Range { start, end } = piece.blocks;
        let row = ROWS as u64;
        let entries = u64::from(self.entries);
        let word = start * row;
        let (epoch, entry) = (word / entries, word % entries);
        let segments = if entry == 0 { 0 } else { start - epoch * entries / row };
        let last_rows = (self.words() - (end - 1).min(self.blocks() - 1) * row).min(row);
        let (origin, shift, bins) =
            piece.bins.map_or((0, 0, 2), |bins| (bins.origin(), bins.shift(), bins.len()));
        vec![
            ("first_low", piece.first as u32),
            ("first_high", (piece.first >> 32) as u32),
            ("observations", piece.observations),
            ("block_low", start as u32),
            ("block_high", (start >> 32) as u32),
            ("blocks", (end - start) as u32),
            ("last_rows", last_rows as u32),
            ("epoch", epoch as u32),
            ("entry", entry as u32),
            ("segments", segments as u32),
            ("begins", u32::from(start == 0)),
            ("ends", u32::from(end == self.blocks())),
            ("records", u32::from(piece.bins.is_none())),
            ("origin_low", origin as u32),
            ("origin_high", (origin >> 32) as u32),
            ("shift", shift),
            ("bins", bins as u32),
        ]
    }
}
