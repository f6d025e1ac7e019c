//! A kernel of a training: one source, and the workgroups that it takes.

use std::fmt::Write;

use crate::bgm::shared_constants;
use crate::float::FloatMode;
use crate::wgsl::wgsl;

/// Invocations of a workgroup.
pub(super) const WORKGROUP: u32 = 64;

/// The most workgroups along a side of a grid.
const MOST_GROUPS: u64 = 65_535;

/// One dispatch for all models of a wave.
///
/// # Guarantee
/// Each source is valid without optional capabilities and becomes SPIR-V, HLSL and MSL
/// (`shaders/tests/wgsl/train.rs::every_kernel_of_a_training_is_valid_and_translates`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    name: String,
    source: String,
    groups: [u32; 2],
    operations: u64,
}

impl Kernel {
    /// The entry point.
    pub const ENTRY: &str = "run";

    /// A short name, for labels and errors.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The WGSL source.
    #[must_use]
    pub fn source(&self) -> String {
        self.source.clone()
    }

    /// Workgroups of a model along x and y; along z there is one model each, at most 65,535.
    #[must_use]
    pub fn groups(&self) -> [u32; 2] {
        self.groups
    }

    /// Floating-point operations of a model, about: what the size of a dispatch is planned by.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.operations
    }
}

/// A kernel as it is put together.
#[derive(Debug)]
pub(super) struct Draft {
    name: String,
    source: String,
    groups: u64,
}

impl Draft {
    /// A kernel of `groups` workgroups a model; the source finds its own by `place`.
    pub(super) fn new(name: &str, groups: u64) -> Self {
        let source = wgsl!("law.wgsl").to_owned();
        Draft { name: name.to_owned(), source, groups }.constant("WORKGROUP", WORKGROUP)
    }

    pub(super) fn constant(mut self, name: &str, value: u32) -> Self {
        // Writing to a String cannot fail.
        let _ = writeln!(self.source, "const {name}: u32 = {value}u;");
        self
    }

    pub(super) fn constants(self, constants: &[(&str, u32)]) -> Self {
        constants.iter().fold(self, |draft, (name, value)| draft.constant(name, *value))
    }

    pub(super) fn float(mut self, name: &str, value: f32) -> Self {
        let _ = writeln!(self.source, "const {name}: f32 = {:?}f;", f64::from(value));
        self
    }

    pub(super) fn flag(mut self, name: &str, value: bool) -> Self {
        let _ = writeln!(self.source, "const {name}: bool = {value};");
        self
    }

    pub(super) fn part(mut self, text: &str) -> Self {
        self.source.push_str(text);
        self
    }

    /// Random words of a purpose, and normals of them.
    pub(super) fn random(self, purpose: u32) -> Self {
        let normals = wgsl!("../random/normal.wgsl").replace("law.noise_purpose", "PURPOSE");
        self.constant("PURPOSE", purpose)
            .part(&shared_constants(FloatMode::Fast, false))
            .part(wgsl!("../float.wgsl"))
            .part(wgsl!("../random/chacha8.wgsl"))
            .part(&normals)
    }

    /// The kernel, on a grid that has at least these workgroups: at most 65,535² where buffers are
    /// below 2³⁰ words.
    pub(super) fn finish(self, operations: u64) -> Kernel {
        let Draft { name, mut source, groups } = self;
        // many short rows, by which hosts cut
        let columns =
            if groups > MOST_GROUPS { groups.div_ceil(MOST_GROUPS) } else { groups.max(1) };
        let rows = groups.div_ceil(columns).max(1);
        let _ = writeln!(source, "const GROUPS: u32 = {groups}u;");
        let _ = writeln!(source, "const COLUMNS: u32 = {columns}u;");
        Kernel { name, source, groups: [columns as u32, rows as u32], operations }
    }
}
