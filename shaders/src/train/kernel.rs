//! A training kernel: WGSL source and workgroups.

use std::fmt::Write;

use super::numbers::Numbers;
use super::streams::{self, Streams};
use crate::bgm::shared_constants;
use crate::float::FloatMode;
use crate::wgsl::wgsl;

/// Invocations per workgroup.
pub(super) const WORKGROUP: u32 = 64;

/// Maximum number of workgroups along each dimension of a grid.
const MAX_GROUPS: u64 = 65_535;

/// A kernel that is dispatched for all models of a wave.
///
/// # Guarantee
/// Each source is valid without optional capabilities and becomes SPIR-V, HLSL and MSL
/// (`shaders/tests/wgsl/train.rs::every_training_kernel_is_valid_and_translates`).
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

    /// Name for labels and errors.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The WGSL source.
    #[must_use]
    pub fn source(&self) -> String {
        self.source.clone()
    }

    /// Workgroups per model along x and y; z is the model, at most 65,535.
    #[must_use]
    pub fn groups(&self) -> [u32; 2] {
        self.groups
    }

    /// This kernel under another name, with the sums in place of the parameters.
    pub(super) fn with_sums_as_parameters(self, name: &str) -> Self {
        let source = self.source.replace("theta[", "sums[");
        Kernel { name: name.to_owned(), source, ..self }
    }

    /// Approximate floating-point operations per model, used to plan dispatches.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.operations
    }
}

/// Assembles a kernel.
#[derive(Debug)]
pub(super) struct KernelBuilder {
    name: String,
    source: String,
    groups: u64,
}

impl KernelBuilder {
    /// Starts a kernel on such numbers, with `groups` workgroups per model.
    pub(super) fn new(name: &str, groups: u64, numbers: Numbers) -> Self {
        let source = [numbers.source(), wgsl!("params.wgsl")].concat();
        KernelBuilder { name: name.to_owned(), source, groups }.constant("WORKGROUP", WORKGROUP)
    }

    pub(super) fn constant(mut self, name: &str, value: u32) -> Self {
        // Writing to a String cannot fail.
        let _ = writeln!(self.source, "const {name}: u32 = {value}u;");
        self
    }

    pub(super) fn constants(self, constants: &[(&str, u32)]) -> Self {
        constants.iter().fold(self, |builder, (name, value)| builder.constant(name, *value))
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

    /// Adds random words and normals of a purpose.
    pub(super) fn random(self, purpose: u32, streams: Streams) -> Self {
        let normals = wgsl!("../random/normal.wgsl").replace("params.noise_purpose", "PURPOSE");
        self.constant("PURPOSE", purpose)
            .part(&shared_constants(FloatMode::Fast, false))
            .part(wgsl!("../float.wgsl"))
            .flag("IS_UNIT", streams == Streams::Units)
            .part(streams::SOURCE)
            .part(wgsl!("../random/chacha8.wgsl"))
            .part(&normals)
    }

    /// Finishes the kernel, with a grid of at least `groups` workgroups.
    pub(super) fn finish(self, operations: u64) -> Kernel {
        let KernelBuilder { name, mut source, groups } = self;
        // many short rows, at which hosts can split dispatches
        let columns = if groups > MAX_GROUPS { groups.div_ceil(MAX_GROUPS) } else { groups.max(1) };
        let rows = groups.div_ceil(columns).max(1);
        let _ = writeln!(source, "const GROUPS: u32 = {groups}u;");
        let _ = writeln!(source, "const COLUMNS: u32 = {columns}u;");
        Kernel { name, source, groups: [columns as u32, rows as u32], operations }
    }
}
